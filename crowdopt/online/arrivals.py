"""What happens when workers arrive one by one: what is known beforehand, an arrival, a decision, the stream itself.

Everything that was asked and what came of it, while a run goes on and when it is over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.labels import CHECK, EXPLORATION, GOLD, REFUSED, REPAIR, WORK
from crowdopt.crowd.linear_rule import policies_rule
from crowdopt.crowd.rules import Rule, rule_named
from crowdopt.errors import InputError
from crowdopt.notebooks import InNotebooks


@dataclass(frozen=True, eq=False)
class Known:
    """What a policy knows before the first arrival: the tasks, and how many workers will come. No worker's skill."""

    task_type: Ints  # (tasks,): tau(i)
    need: Floats  # (tasks,): C_i, the evidence that is still missing
    epsilon: Floats  # (tasks,): the error target behind it
    # T, and m, the number of workers to come (beside those who only do gold beforehand)
    types: int
    workers: int
    rule: str = "bhattacharyya"
    classes: int = 2
    # x_i, where they are given (the clairvoyant prices of the offline optimum, say); one policy uses them
    prices: Floats | None = None  # (tasks,)

    @property
    def n_tasks(self) -> int:
        """Tasks, n."""
        return self.task_type.size

    @property
    def the_rule(self) -> Rule:
        """The evidence rule itself."""
        return rule_named(self.rule, self.classes)


@dataclass(frozen=True, eq=False)
class Arrival:
    """A worker who is here now and takes up to ``capacity`` tasks."""

    number: int  # place in the stream, from 0; the preliminary workers have numbers of their own, also from 0
    capacity: int  # M_j
    cost: Floats  # (types,): c, what a label of each type is paid
    # p, where the policy is one that is told skills; None for one that has to find out
    accuracy: Floats | None  # (types,)
    barred: Ints  # (k,): tasks that the worker must not have
    # whether the worker came before the stream, to do gold tasks only (Ho et al. 2013, Section 5)
    preliminary: bool = False
    # gold tasks of each type that the worker has been asked so far: the next ones are others. None: none
    gold_done: Ints | None = None  # (types,)


@dataclass(frozen=True, eq=False)
class Decision:
    """What is asked now: ``gold`` tasks of each type, or ``work`` on tasks; a ``repair`` names its workers too."""

    kind: str
    # for ``gold`` the number of gold tasks of each type, (types,); otherwise tasks, each once
    tasks: NDArray[np.integer]  # (k,)
    workers: Ints | None = None  # (k,): number of the arrival that does each; None: the one who is here


# -- what a policy hears beside what it asked -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Out:
    """Labels that are out now: until the next word they count by what each is expected to tell."""

    tasks: Ints  # (k,)
    workers: Ints  # (k,): by number of arrival, here and below


@dataclass(frozen=True, eq=False)
class Late:
    """A label that was given up and told as refused has come."""

    worker: int
    task: int
    label: int


@dataclass(frozen=True, eq=False)
class Corrected(Late):
    """A label that was learned is another one; of a policy that ``amends``."""


@dataclass(frozen=True, eq=False)
class CorrectedGold:
    """Gold answers of a worker that were learned are others: so many more are right, (types,)."""

    worker: int
    right: Ints


@dataclass(frozen=True, eq=False)
class Vouched:
    """One who knows has told a task's class: its labels count as gold. before: the class told before, or -1."""

    task: int
    truth: int
    before: int


@dataclass(frozen=True, eq=False)
class Target:
    """Needs and errors to reach are others from now on; of a policy that ``retargets``."""

    known: Known


@dataclass(frozen=True, eq=False)
class Mended:
    """What a repair brought, each (k,); REFUSED where nothing came."""

    tasks: Ints
    workers: Ints
    labels: Ints


Entry: TypeAlias = Out | Late | Corrected | CorrectedGold | Vouched | Target | Mended


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a policy makes of all that it heard."""

    how: str = "majority"  # how labels become answers: ``majority``, ``weighted``, ``own``, or of crowdopt.answers
    decided: Ints | None = None  # (tasks,): where answers are its ``own``: a class, -1 where it knows none
    claims: Floats | None = None  # (tasks,): chance that each answer is wrong, as it believes
    # what is believed of the workers so far, by which votes are weighted, and where nine of ten skills lie
    skills: Floats | None = None  # (types, workers)
    ranges: tuple[Floats, Floats] | None = None
    prices: Floats | None = None  # (tasks,): x_i, the price of a unit of evidence
    notes: list[str] = field(default_factory=list)  # what a user should know about how it did


class Crowd(Protocol):
    """Where labels come from. Asked for the same pair it gives the same label, whichever policy asks and whenever."""

    def gold(self, arrival: Arrival, counts: Ints) -> tuple[Ints, Ints]:
        """Gold tasks of each type right and done, (types,); a worker's k-th has one outcome, however they are asked."""
        ...

    def label(self, worker: int, tasks: NDArray[np.integer]) -> Ints:
        """The worker's labels, shape (tasks,); REFUSED where there is none to be had."""
        ...


@dataclass(frozen=True, eq=False)
class Stream:
    """Workers in their order of arrival, and a crowd that answers for them.

    Policies go by needs, and so by a rule whose sums decide: an instance under another rule stays beside as
    ``promised``, and the one that policies are shown is of the linear rule (crowdopt.crowd.linear_rule.policies_rule).
    """

    instance: AssignmentInstance  # with its workers in the order of arrival; its accuracies are the true ones
    crowd: Crowd
    truth: Ints  # (tasks,): true classes, -1 where unknown; judged by, and shown to an expert who looks at answers
    preliminary: AssignmentInstance | None = None  # workers who may be asked gold before the stream, in their order
    prices: Floats | None = None  # (tasks,): clairvoyant prices, for the policy that uses them
    # the instance under the rule whose promise was stated; None where that is the one policies go by
    promised: AssignmentInstance | None = None

    def __post_init__(self) -> None:
        _check_supported(self.instance)
        shown = policies_rule(self.instance)
        if shown is not self.instance:
            object.__setattr__(self, "promised", self.instance)
            object.__setattr__(self, "instance", shown)

    @property
    def epsilon(self) -> Floats:
        """The error targets that were stated, (tasks,)."""
        return self.instance.epsilon if self.promised is None else self.promised.epsilon

    @property
    def known(self) -> Known:
        """What is known before the first worker arrives."""
        instance = self.instance
        return Known(
            instance.task_type,
            instance.residual_need,
            self.epsilon,
            instance.n_types,
            instance.n_workers,
            instance.rule,
            instance.classes,
            self.prices,
        )

    def arrival(self, number: int, shows_skill: bool, preliminary: bool = False) -> Arrival:
        """The worker at a place of the stream."""
        pool = self.instance if not preliminary else self.preliminary
        if pool is None or number >= pool.n_workers:
            raise InputError(f"preliminary worker {number} is asked for, but this stream has none to send")
        skill = pool.accuracy[:, number] if shows_skill else None
        barred = self._barred[number] if not preliminary else np.zeros(0, np.int64)
        return Arrival(number, int(pool.capacity[number]), pool.cost[:, number], skill, barred, preliminary)

    @cached_property
    def _barred(self) -> list[Ints]:
        pairs = self.instance.barred[np.argsort(self.instance.barred[:, 1], kind="stable")]
        cuts = np.searchsorted(pairs[:, 1], np.arange(1, self.instance.n_workers))
        return np.split(pairs[:, 0], cuts)


def _check_supported(instance: AssignmentInstance) -> None:
    limits = {
        "fewest labels of a group per task": any(group.min_per_task > 0 for group in instance.groups),
        "a group's share of all labels": any(group.has_share_limits for group in instance.groups),
        "several labels of workers who err together for a task": bool((instance.dependence > 1).any()),
        "own rows": instance.own_rows is not None,
        "fixed pairs": instance.fixed.size > 0,
        "fewest labels per task": bool((instance.min_labels > 0).any()),
        "most labels per task": bool((instance.max_labels < UNLIMITED).any()),
        "least loads": bool((instance.min_load > 0).any()),
        "a budget": instance.budget is not None,
    }
    for name, given in limits.items():
        if given:
            raise InputError(f"online policies do not know {name}; take that out of the campaign to compare them")


KINDS = (GOLD, EXPLORATION, WORK, REPAIR, CHECK)


class Ledger:
    """Labels, costs and refusals by kind, in the order in which they happened."""

    def __init__(self, workers: int) -> None:
        self.tasks: list[NDArray[Any]] = []
        self.workers: list[NDArray[Any]] = []
        self.labels: list[NDArray[Any]] = []
        self.count, self.cost = np.zeros(len(KINDS), np.int64), np.zeros(len(KINDS))
        self.refused, self.load = 0, np.zeros(workers, np.int64)

    def gold(self, arrival: Arrival, asked: Ints) -> None:
        """Gold labels are paid like any other."""
        kind = KINDS.index(EXPLORATION if arrival.preliminary else GOLD)
        self.count[kind] += asked.sum()
        self.cost[kind] += float((arrival.cost * asked).sum())

    def work(self, kind: str, tasks: NDArray[Any], workers: Ints | int, labels: Ints, price: Floats) -> None:
        """Labels that were had; refused ones cost nothing.

        kind: ``work`` or ``repair``; tasks (k,); workers (k,) int, or int: who gave each label, by number of arrival;
        labels (k,): REFUSED where there is none; price (k,).
        """
        got = labels != REFUSED
        each = np.broadcast_to(np.asarray(workers), tasks.shape)
        place = KINDS.index(kind)
        self.refused += tasks.size - int(np.count_nonzero(got))
        self.tasks.append(tasks[got].astype(np.int64))
        self.workers.append(each[got].astype(np.int64))
        self.labels.append(labels[got])
        self.count[place] += np.count_nonzero(got)
        self.cost[place] += float(price[got].sum())
        self.load += np.bincount(each[got], minlength=self.load.size)

    def check(self, looks: int, price: float) -> None:
        """Looks of an expert, each at so many times what a label cost on average."""
        middling = float(self.cost.sum()) / max(1, int(self.count.sum()))
        self.count[KINDS.index(CHECK)] += looks
        self.cost[KINDS.index(CHECK)] += looks * price * middling

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All labels, with what they count and cost by kind."""
        parts = {"task": self.tasks, "worker": self.workers, "label": self.labels}
        joined = {name: np.concatenate([np.zeros(0, np.int64), *each]) for name, each in parts.items()}
        return joined | {"count": self.count, "cost": self.cost}


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Verdict, InNotebooks):
    """A policy's run over a stream, and what the policy makes of it.

    Parameters
    ----------
    stream : Stream
    task, worker, label : (k,) int
        Labels of work and repair, in the order in which they were given; workers by number of arrival.
    labels, cost : dict
        By kind: gold, exploration (gold of preliminary workers), work, repair, check (looks of an expert).
    refused : int
        Labels asked for that could not be had.
    over_capacity : int
        Labels beyond workers' capacities, by a policy that does not keep them.
    seconds : (arrivals,) float
        Time spent deciding and learning, per arrival of the stream.
    """

    stream: Stream
    skills: Floats
    policy: str
    task: Ints
    worker: Ints
    label: Ints
    labels: dict[str, int]
    cost: dict[str, float]
    refused: int
    over_capacity: int
    seconds: Floats
    seed: int
    iterations: int | None = None

    @classmethod
    def of(cls, verdict: Verdict, stream: Stream, **what: Any) -> Run:
        """With this verdict; where it knows no skills these are even odds."""
        known = np.full(stream.instance.accuracy.shape, 0.5) if verdict.skills is None else verdict.skills
        return cls(**{**vars(verdict), "skills": known}, stream=stream, **what)

    @property
    def total_labels(self) -> int:
        """Labels of every kind."""
        return sum(self.labels.values())

    @property
    def total_cost(self) -> float:
        """What all of them cost."""
        return sum(self.cost.values())

    @cached_property
    def covered(self) -> Floats:
        """Evidence by the true skills, (tasks,)."""
        return self.stream.instance.collected_evidence + self.stream.instance.supply(
            np.column_stack([self.task, self.worker])
        )


def check(decision: Decision, arrival: Arrival, tasks: int, room: int, name: str) -> None:
    """A decision that no worker could carry out is a defect of the policy; it is said, not repaired."""
    asked = decision.tasks
    wrong = None
    if decision.kind not in (GOLD, WORK):
        wrong = f"asks for {decision.kind!r}; a visit asks for {GOLD!r} or {WORK!r}"
    elif decision.kind == GOLD:
        wrong = "asks a negative number of gold tasks" if (asked < 0).any() else None
    elif asked.size and (asked.min() < 0 or asked.max() >= tasks):
        wrong = "names a task that does not exist"
    elif asked.size > room:
        wrong = f"asks {asked.size} labels of a worker who has room for {room}"
    elif asked.size > 1 and np.bincount(asked).max() > 1:
        wrong = "names a task twice"
    elif arrival.preliminary:
        wrong = "gives work to a preliminary worker"
    elif arrival.barred.size and np.isin(asked, arrival.barred).any():
        wrong = "gives a task to a worker who must not have it"
    if wrong:
        raise RuntimeError(f"policy {name} {wrong} (arrival {arrival.number})")
