"""The common ground of policies that cover needs: kinds of tasks, gold, coverage so far, picking by value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.answers import FROM_LABELS
from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.approximation import ZERO, best_of, top_up
from crowdopt.core.clock import Arrays
from crowdopt.core.solution import Solve
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.labels import GOLD, REFUSED, REPAIR, WORK
from crowdopt.crowd.law import clipped
from crowdopt.crowd.skills import ESTIMATORS, estimator
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Decision, Known
from crowdopt.online.policy import BasePolicy, Estimator, SeenWorkers, kinds_of

Ids: TypeAlias = NDArray[np.integer]

TIES = ("least-covered", "random")
ANSWERS = ("weighted", *FROM_LABELS)
HERE = (
    *("_number", "_arrival", "_met", "_spare", "_left", "_owed", "_offered", "_given"),
    *("by_type", "evidence", "cost"),
)


@dataclass
class Covering(BasePolicy):
    """Gives each worker the tasks that ``value`` likes best. A policy of one's own overrides ``value`` and no more."""

    gold: int = 0  # gold tasks of each type that every worker does first; 0: skills are told
    estimate: str = "averaged"  # how gold becomes accuracies: ``plug-in``, ``unbiased`` or ``averaged``
    stop: bool = True  # whether a task that is covered gets no more labels
    ties: str = "least-covered"  # who comes first between equal values: ``least-covered`` or ``random``
    # whether to cover what is short at the end with those who have capacity left, where they can be called back
    repair: bool = False
    aggregate: str = "weighted"  # how labels become answers: ``weighted`` by the rule, or a method of crowdopt.answers

    name: ClassVar[str] = "covering"
    state: ClassVar[tuple[str, ...]] = ()  # arrays that a policy of one's own adds to the snapshot
    of_one_arrival: ClassVar[tuple[str, ...] | None] = HERE
    amends: ClassVar[bool] = True  # what a label says is nothing to a policy that covers

    def __post_init__(self) -> None:
        for option, allowed in (("estimate", tuple(ESTIMATORS)), ("ties", TIES), ("aggregate", ANSWERS)):
            if getattr(self, option) not in allowed:
                raise InputError(f"policy {self.name}: option {option} is one of {', '.join(allowed)}")
        if self.gold < 0:
            raise InputError(f"policy {self.name}: gold must be at least 0, not {self.gold}")

    # -- what a policy of one's own changes -----------------------------------------------------------------------

    def value(self) -> Floats:
        """What each kind of task, (kinds,), or each task, (tasks,), is worth to give to the worker who is here.

        At hand: ``self.evidence`` and ``self.cost`` of the worker's labels per kind, ``self.covered`` and ``self.need``
        per task, ``self.seen`` for all workers so far. Below 0: not to be given. Unless said 0, so that ties decide.
        """
        return np.zeros(self.tasks_in.size)

    def meet(self, arrival: Arrival) -> None:
        """A worker whose skill is now as well known as it gets before work begins."""

    def after(self, tasks: Ids) -> None:
        """Labels of these tasks have come from the worker who is here."""

    def estimator(self, known: Known) -> Estimator:
        """How gold becomes accuracies."""
        return estimator(self.estimate, known.classes, growing=True)

    # -- the protocol ---------------------------------------------------------------------------------------------

    @property
    def shows_skill(self) -> bool:
        """Skills are told where no gold is asked."""
        return self.gold == 0

    @property
    def without_gold(self) -> str:
        """Skills are told then."""
        return f"{self.name}:gold=0" if self.gold else ""

    def start(self, known: Known, solve: Solve) -> None:
        """Group the tasks into kinds; nothing is covered yet."""
        self.solve = solve
        self._group(known)
        self.covered = np.zeros(known.n_tasks)
        self.open = known.need > COVERAGE
        sent = self.preliminary(known.workers)
        told, guess = self.shows_skill, 1 / known.classes
        self.seen = SeenWorkers(known.types, sent, known.workers, self.estimator(known), told, guess)
        self.done: list[tuple[int, Ids]] = []
        self._number: tuple[bool, int] | None = None
        self._met, self._spare, self._left = False, False, 0
        self._owed = np.zeros(known.types, np.int64)  # gold that is to be asked of the worker who is here
        self._offered: list[Ids] = []
        self.hoped = np.zeros(known.n_tasks)  # what labels that are out are expected to add to ``covered``

    def kind_columns(self, known: Known) -> list[NDArray[Any]]:
        """What tasks of one kind have in common."""
        return [known.task_type, known.need]

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """Gold first, then the most valuable tasks, until the worker is full or nothing is worth it."""
        if self._number != (arrival.preliminary, arrival.number):
            self._welcome(arrival)
            self._owed = np.full(self.known.types, self.gold)
        if self._owed.any():
            asked, self._owed = self._owed, np.zeros_like(self._owed)
            return Decision(GOLD, asked)
        if not self._met:
            self._acquaint(arrival)
        if arrival.preliminary or self._left <= 0 or self._spare:
            return None
        tasks = self._given = self._pick(arrival, rng)
        # there is room for more, but nothing else is worth it; what waits for labels that are out may yet be
        self._spare = tasks.size < self.stint and not self.hoped.any()
        return Decision(WORK, tasks) if tasks.size else None

    def learn(self, labels: Ints) -> None:
        """Gold counts for the worker; work adds evidence, as far as it was not refused."""
        if not self._met:
            column = self.seen.column(self._number[1], self._number[0]) if self._number else 0
            self.seen.right[:, column] += labels[0]
            self.seen.asked[:, column] += labels[1]
            return
        got = labels != REFUSED
        tasks = self._given if got.all() else self._given[got]
        self._left -= tasks.size
        if tasks.size < self._given.size:
            self._offered.append(self._given)
        if self.tracks:
            self._cover(tasks)
        if self.repair:
            self.done.append((self._arrival.number, tasks))
        self.after(tasks)

    def expect(self, tasks: Ints, workers: Ints) -> bool:
        """Each label that is out is expected to bring its worker's evidence."""
        worth = self._worth(self.seen.accuracy(self.seen.first + workers))
        each = worth[self.known.task_type[tasks], np.arange(tasks.size)]
        self.hoped = np.bincount(tasks, each, self.known.n_tasks).astype(np.float64)
        return not (self.stop and self.open.any() and not self._wanting.any())

    def welcomes(self, workers: Ints, room: Ints) -> bool:
        """Whether of some type more is missing than those bring who are at work, each in the type they do best."""
        if not (self.stop and workers.size):
            return True
        kind, types, places = self.known.task_type, self.known.types, np.arange(workers.size)
        open_tasks = np.bincount(kind[self.open], minlength=types)
        lacks = np.bincount(
            kind, np.where(self.open, np.maximum(0.0, self.need - self.covered - self.hoped), 0.0), types
        )
        bring = self._worth(self.seen.accuracy(self.seen.first + workers)) * np.minimum(room, open_tasks[:, None])
        best = np.argmax(bring, axis=0)
        return bool((np.bincount(best, bring[best, places], types) < lacks).any())

    def overhear(self, worker: int, task: int, label: int) -> None:
        """It adds its worker's evidence."""
        if self.tracks:
            accuracy = self.seen.accuracy(np.array([self.seen.first + worker]))
            self.covered[task] += self._worth(accuracy)[self.known.task_type[task], 0]
            self.open[task] = self.covered[task] < self.need[task] - COVERAGE
        if self.repair:
            self.done.append((worker, np.array([task])))

    def lapsed(self, tasks: Ints) -> None:
        """They may be given again; a worker of the stream is owed the gold."""
        if not self._met:
            self._owed = np.zeros_like(tasks) if self._arrival.preliminary else tasks
            return
        self._spare = False
        self._offered = [given[~np.isin(given, tasks)] for given in self._offered]

    def amend_gold(self, worker: int, right: Ints) -> None:
        """Skills follow from the tally as it is now."""
        self.seen.amend(self.seen.column(worker, False), right)

    def retarget(self, known: Known) -> None:
        """Tasks are grouped anew; those that lack evidence are open."""
        self._group(known)
        self.open = self.covered < self.need - COVERAGE

    def recall(self, room: int) -> None:
        """There may be something for them again, of kinds that may be others."""
        self._left, self._spare = room, False
        if self._met:
            self._price_labels(self._arrival)

    @property
    def _wanting(self) -> Bools:
        """Tasks that are open, and will be when all labels that are out are in, as far as can be expected; (tasks,)."""
        return self.open & ((self.hoped <= 0) | (self.covered + self.hoped < self.need - COVERAGE))

    def close(self, room: Ints) -> Decision | None:
        """With the option ``repair``: cheapest labels for what is short, from those with room."""
        if not self.repair:
            return None
        columns = self.seen.first + np.arange(self.known.workers)
        evidence = self._worth(self.seen.accuracy(columns))
        cost = self.seen.cost[:, columns]
        return repair(self.known, evidence, cost, self.covered, self.done, room)

    def skills(self) -> Floats:
        """What is told, or what gold has shown so far."""
        return self.seen.accuracy(self.seen.first + np.arange(self.known.workers))

    def skill_ranges(self) -> tuple[Floats, Floats] | None:
        """By gold alone; None where skills are told."""
        columns = self.seen.first + np.arange(self.known.workers)
        return None if self.shows_skill else self.seen.ranges(columns, self.known.classes)

    def answers(self) -> str:
        """How answers are made of the labels: the option ``aggregate``."""
        return self.aggregate

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Coverage, workers seen, what was done, and what the policy adds by ``state``."""
        own = {name: np.array(getattr(self, name)) for name in ("covered", "open", *self.state)}
        sizes = [len(tasks) for _, tasks in self.done]
        return {
            **own,
            **self.seen.arrays(),
            "done.worker": np.repeat([worker for worker, _ in self.done], sizes).astype(np.int64),
            "done.task": np.concatenate([np.zeros(0, np.int64), *(tasks for _, tasks in self.done)]),
        }

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot."""
        for name in ("covered", "open", *self.state):
            setattr(self, name, np.array(arrays[name]))
        self.seen.restore(arrays)
        order = np.argsort(arrays["done.worker"], kind="stable")  # workers who were here at once took turns
        workers, starts = np.unique(arrays["done.worker"][order], return_index=True)
        parts = np.split(np.array(arrays["done.task"])[order], starts[1:]) if workers.size else []
        self.done = list(zip(workers.tolist(), parts, strict=True))

    @property
    def stint(self) -> int:
        """Tasks that the worker who is here may be given at once."""
        return self._left

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def tracks(self) -> bool:
        """Whether anything depends on how far tasks are covered."""
        return self.stop or self.repair or self.ties == "least-covered"

    def _group(self, known: Known) -> None:
        """Tasks by kind."""
        self.known, self.need = known, known.need
        self.kind, first = kinds_of(self.kind_columns(known))
        self.kind_type, self.kind_need = known.task_type[first], known.need[first]
        self.tasks_in = np.bincount(self.kind)

    def _welcome(self, arrival: Arrival) -> None:
        self._number, self._arrival, self._met = (arrival.preliminary, arrival.number), arrival, False
        self._left, self._spare, self._offered = arrival.capacity, False, []
        self._owed = np.zeros_like(self._owed)
        self.seen.welcome(arrival)

    def _acquaint(self, arrival: Arrival) -> None:
        column = self.seen.column(arrival.number, arrival.preliminary)
        self.by_type = self._worth(self.seen.accuracy(np.array([column])))[:, 0]
        self._price_labels(arrival)
        self._met = True
        self.meet(arrival)

    def _price_labels(self, arrival: Arrival) -> None:
        self.evidence, self.cost = self.by_type[self.kind_type], arrival.cost[self.kind_type]

    def _worth(self, accuracy: Floats) -> Floats:
        return self.known.the_rule.evidence(accuracy, self.known.classes)

    def _pick(self, arrival: Arrival, rng: np.random.Generator) -> Ids:
        value = self.value()
        each = value if value.size == self.kind.size else value[self.kind]
        wanted = each >= -ZERO
        wanted &= self._wanting if self.stop else self.need > COVERAGE
        for tasks in (arrival.barred, *self._offered):
            wanted[tasks] = False
        candidates = np.flatnonzero(wanted)
        if candidates.size <= self.stint:
            return candidates
        if self.ties == "least-covered":
            ties = self.covered[candidates] + self.hoped[candidates] - self.need[candidates]
        else:
            ties = rng.random(candidates.size)
        return best_of(each[candidates], ties, candidates, self.stint)

    def _cover(self, tasks: Ids) -> None:
        self.covered[tasks] += self.by_type[self.known.task_type[tasks]]
        self.open[tasks] = self.covered[tasks] < self.need[tasks] - COVERAGE


@dataclass
class PricedCovering(Covering):
    """Tasks with ``q x - c >= 0`` for prices x of their kinds; a policy of one's own sets ``price`` (kinds,)."""

    def start(self, known: Known, solve: Solve) -> None:
        """No prices yet."""
        super().start(known, solve)
        self.price = np.zeros(self.tasks_in.size)

    def value(self) -> Floats:
        """``q x - c`` of a label, by kind of task."""
        return self.evidence * self.price - self.cost


@dataclass
class AsPrinted(PricedCovering):
    """Ho et al. 2013, Algorithm 1, as printed: it does not stop at a covered task, and ties break at random."""

    estimate: str = "plug-in"
    stop: bool = False
    ties: str = "random"

    def notes(self) -> list[str]:
        """By which evidence and needs it goes, where these are not the paper's."""
        printed = f"evidence and needs are by rule {self.known.rule}; printed are rule hoeffding's"
        return [] if self.known.rule == "hoeffding" else [f"{printed}, (2p - 1)^2 and 2 ln(1/epsilon)"]


def repair(
    known: Known,
    evidence: Floats,
    cost: Floats,
    covered: Floats,
    done: list[tuple[int, Ids]],
    room: Ints,
) -> Decision | None:
    """Cheapest evidence first for each short task, the shortest tasks first; the last label is the cheapest that does.

    evidence, cost (types, workers): as believed; covered (tasks,): evidence so far; done list of (worker, tasks): pairs
    that are taken; room (workers,): what each could still do; -> None where nothing is short, or no worker can
    help.
    """
    lack = known.need - covered
    short = np.flatnonzero(lack > COVERAGE)
    taken = _taken(known.n_tasks, short, done)
    tasks, workers = top_up(lack, short, known.task_type, evidence, cost, taken, room.copy())
    return Decision(REPAIR, tasks, workers) if tasks.size else None


def _taken(tasks: int, short: Ints, done: list[tuple[int, Ids]]) -> dict[int, list[int]]:
    is_short = np.zeros(tasks, bool)
    is_short[short] = True
    taken: dict[int, list[int]] = {task: [] for task in short.tolist()}
    for worker, given in done:
        for task in given[is_short[given]].tolist():
            taken[task].append(worker)
    return taken


@dataclass
class Doubting(Covering):
    """Keeps ``ln P(labels | class)`` of each task, (tasks, classes)."""

    amends: ClassVar[bool] = False  # what a label told is not kept apart
    state: ClassVar[tuple[str, ...]] = ("log_likelihood",)

    def start(self, known: Known, solve: Solve) -> None:
        """Every class is equally likely."""
        super().start(known, solve)
        self.log_likelihood = np.zeros((known.n_tasks, known.classes))

    def posterior(self, tasks: Ids) -> Floats:
        """Chance of each class, (tasks, classes)."""
        score = self.log_likelihood[tasks]
        chance: Floats = np.exp(score - score.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        return chance

    def right(self, tasks: Ids) -> Floats:
        """Chance that the worker who is here is right on each of the tasks, (tasks,)."""
        column = np.array([self.seen.column(self._arrival.number, False)])
        return clipped(self.seen.accuracy(column)[self.known.task_type[tasks], 0])

    def heed(self, tasks: Ids, labels: Ints) -> None:
        """Multiply each task's posterior by its label's likelihood."""
        right = self.right(tasks)
        self.log_likelihood[tasks, labels] += np.log(right) - np.log((1 - right) / (self.known.classes - 1))
