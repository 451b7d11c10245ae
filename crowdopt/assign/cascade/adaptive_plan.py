"""An adaptive plan: what to do after which votes, what that costs and errs with, and the multipliers that prove it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from crowdopt.arrays import Floats, Ints, places
from crowdopt.core.solution import PROVEN, Status, relative_gap
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import ANSWER, ASK, OrderShare, Votes
from crowdopt.errors import InputError
from crowdopt.notebooks import InNotebooks

Place = tuple[int, int, Votes]  # kind, rounds that are over, votes
GOLDEN = 0.6180339887498949  # multiples of it, modulo 1, fill [0, 1) evenly however many there are


@dataclass(frozen=True)
class PolicyRow:
    """What a share of the tasks of a kind with these votes does next."""

    kind: int
    round: int  # rounds that are over; 0 throughout where votes come one by one
    votes: Votes
    action: str  # ASK, ANSWER or EXPERT
    what: tuple[int, ...]  # votes to ask of each asker; the class; nothing
    share: float
    tasks: float  # expected


@dataclass(frozen=True)
class Askers:
    """Kinds of tasks and askers of a policy: ids, and whom each stands for."""

    kinds: tuple[str, ...]
    kind: Ints  # (tasks,)
    names: tuple[str, ...]
    workers: tuple[Ints, ...]  # of each asker


@dataclass(frozen=True, eq=False)
class PolicyProof:
    """Multipliers: mu of each error row, w <= 0 of each asker's capacity, and of money."""

    error: Floats  # (kinds,), or all equal where the mean error is promised
    capacity: Floats  # (askers,)
    budget: float = 0.0
    limits: tuple[tuple[str, str, float], ...] = ()  # linear limits on labels: which, whose, multiplier <= 0
    classes: tuple[float, ...] = ()  # nu >= 0 of limits by true class, 0 where there is none

    @property
    def of_limits(self) -> Floats:
        """Multipliers of the linear limits, (rows,)."""
        return np.array([dual for *_, dual in self.limits], np.float64)


@dataclass(frozen=True, eq=False)
class AdaptivePlan(InNotebooks):
    """The cheapest policy found, its expected figures, and a bound that no adaptive plan goes below.

    ``rows`` is the policy, ``pairs`` (k, 2) the first round: task and worker. Figures are expectations before any vote:
    ``loads`` (askers,), ``errors`` and ``to_expert`` (kinds,), shares of the tasks of a kind. Where many workers differ
    in skill ``orders`` is the policy in place of ``rows``, and ``order_of`` (tasks,) the order dealt to each task.
    """

    instance: AssignmentInstance
    status: Status
    askers: Askers
    rows: tuple[PolicyRow, ...]
    objective: float | None
    bound: float
    proof_of: PolicyProof | None
    loads: Floats
    errors: Floats
    to_expert: Floats
    pairs: Ints | None
    rounds: int | None = None
    expert: float | None = None
    times: float = 1.0  # of all targets, within which errors are: more than 1 where the targets are out of reach
    seed: int = 0
    seconds: float = 0.0
    started: str = field(default="", repr=False)
    interrupted: bool = field(default=False, repr=False)
    note: str = ""
    orders: tuple[OrderShare, ...] = ()
    order_of: Ints | None = None
    given_votes: bool = False  # whether each answer's error given its votes is within its target
    class_error: tuple[float, ...] = ()  # by true class: the share that may be answered otherwise
    missed: tuple[float, ...] = ()  # and the share that is expected to be
    each_task: bool = False  # whether whole tasks get sets each of which keeps the target
    step: float | None = None  # of log-odds between the beliefs at which the bound's prices stand
    _arrivals: dict[Place, int] = field(default_factory=dict, repr=False)

    @property
    def found(self) -> bool:
        """Whether there is a plan that keeps every target."""
        return self.objective is not None and self.times == 1

    @property
    def gap(self) -> float:
        """``objective / bound - 1``: how far the plan may be above the cheapest adaptive one."""
        return relative_gap(self.objective, self.bound)

    @property
    def proof(self) -> str:
        """``certificate`` where multipliers prove the bound, else ``none``."""
        return "none" if self.proof_of is None else "certificate"

    @property
    def proven(self) -> bool:
        """Whether no adaptive plan costs less."""
        return self.found and abs(self.gap) <= PROVEN

    @property
    def calls(self) -> float:
        """Labels that the plan expects to ask for."""
        return float(self.loads.sum())

    @cached_property
    def _rows_at(self) -> dict[Place, list[PolicyRow]]:
        return by_place(self.rows)

    def next(
        self, votes: Mapping[str, str] | None = None, *, task: str | None = None, round: int = 0
    ) -> tuple[str, tuple[str, ...]]:
        """What to do with a task of these votes: ``("ask", workers)``, ``("answer", (class,))`` or ``("expert", ())``.

        Where the policy mixes actions, a lot decides: arrivals in a state take lots in turn that fill [0, 1) evenly,
        from an offset that the plan's seed gives, so shares are kept as closely as whole tasks allow.

        Parameters
        ----------
        votes : mapping of str to str, optional
            The label that each worker gave; none at first.
        task : str, optional
            Id of the task; not needed where all tasks are of one kind.
        round : int
            How many rounds are over, in a plan with rounds.

        Returns
        -------
        (str, tuple of str)
            The action, and whom to ask or which class.

        Raises
        ------
        InputError
            If a worker, a label or the task is unknown, or the plan never comes to such votes.
        """
        had, labels, kind = self._votes_of(votes or {}), class_labels(self.instance), 0
        if self.order_of is not None:
            number = self._number_of(task, "each task of this plan has an order of its own")
            turn, what = self.orders[self.order_of[number]].order.turn({asker: label for asker, label, _ in had})
            if turn == ASK:
                return turn, (self.instance.worker_id(int(self.askers.workers[what][0])),)
            return turn, (labels[what],) if turn == ANSWER else ()
        if task is not None or len(self.askers.kinds) > 1:
            kind = int(self.askers.kind[self._number_of(task, "tasks of this plan are of several kinds")])
        rows = self._rows_at.get((kind, round, had))
        if rows is None:
            raise InputError("the plan never comes to these votes; solve again with them in collected.csv")
        before = self._arrivals[kind, round, had] = self._arrivals.get((kind, round, had), -1) + 1
        offset = np.random.default_rng([self.seed, kind, round, *(number for vote in had for number in vote)]).random()
        row, chosen = row_at(rows, (offset + before * GOLDEN) % 1.0), list[str]()
        if row.action == ANSWER:
            return row.action, (labels[row.what[0]],)
        for asker, number in enumerate(row.what if row.action == ASK else ()):
            free = [self.instance.worker_id(j) for j in self.askers.workers[asker].tolist()]
            chosen += [worker for worker in free if worker not in (votes or {})][:number]
        return row.action, tuple(chosen)

    def _number_of(self, task: str | None, why: str) -> int:
        if task is None:
            raise InputError(f"{why}; say which task it is")
        number = self.instance.task_places.get(task)
        if number is None:
            raise InputError(f"there is no task {task!r} in this plan")
        return number

    def _votes_of(self, votes: Mapping[str, str]) -> Votes:
        asker = {self.instance.worker_id(j): g for g, some in enumerate(self.askers.workers) for j in some.tolist()}
        classes, count = places(class_labels(self.instance)), Counter[tuple[int, int]]()
        for worker, label in votes.items():
            if worker not in asker:
                raise InputError(f"there is no worker {worker!r} in this plan")
            if str(label) not in classes:
                raise InputError(f"the label {str(label)!r} is no class of this plan; they are {', '.join(classes)}")
            count[asker[worker], classes[str(label)]] += 1
        return tuple((g, k, n) for (g, k), n in sorted(count.items()))


def by_place(rows: Sequence[PolicyRow]) -> dict[Place, list[PolicyRow]]:
    """The rows of each kind, round and votes."""
    found: dict[Place, list[PolicyRow]] = {}
    for row in rows:
        found.setdefault((row.kind, row.round, row.votes), []).append(row)
    return found


def row_at(rows: Sequence[PolicyRow], lot: float) -> PolicyRow:
    """The row whose share of the tasks a lot in [0, 1) falls in."""
    return rows[int(_at([row.share for row in rows], np.array([lot]))[0])]


def dealt(shares: Sequence[float], tasks: Ints, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Each of these tasks and the place among shares that it falls to, once they are shuffled; up to one task."""
    lots = (rng.permutation(tasks.size) + rng.random()) / max(1, tasks.size)
    return list(zip(tasks.tolist(), _at(shares, lots).tolist(), strict=True))


def _at(shares: Sequence[float], lots: Floats) -> Ints:
    heads = np.cumsum(shares)
    return np.minimum(np.searchsorted(heads / heads[-1], lots, side="right"), len(heads) - 1)


def class_labels(instance: AssignmentInstance) -> tuple[str, ...]:
    """What labels call the classes."""
    return tuple(instance.class_names or (str(k) for k in range(int(instance.classes))))
