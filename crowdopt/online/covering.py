"""The common ground of policies that cover needs: kinds of tasks, gold, coverage so far, picking by value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.answers import FROM_LABELS
from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.assign.approximation import ZERO, best_of, top_up
from crowdopt.core.solution import Solve
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.labels import GOLD, REFUSED, REPAIR, WORK
from crowdopt.crowd.law import clipped
from crowdopt.crowd.skills import ESTIMATORS, estimator
from crowdopt.errors import InputError
from crowdopt.online.arrivals import (
    Arrival,
    Corrected,
    CorrectedGold,
    Decision,
    Entry,
    Known,
    Late,
    Out,
    Target,
    Verdict,
)
from crowdopt.online.checked_claims import CheckedAnswers
from crowdopt.online.policy import BasePolicy, Estimator, SeenWorkers, Visit, kinds_of

Ids: TypeAlias = NDArray[np.integer]

TIES = ("least-covered", "random")
ANSWERS = ("weighted", *FROM_LABELS)
NOTHING: Ids = np.zeros(0, np.int64)


@dataclass(eq=False)
class Here(Visit):
    """A worker who is here: gold first, then what is worth most, until they are full or nothing is worth it."""

    policy: Covering
    arrival: Arrival
    left: int  # labels that they may still give
    owed: Ints  # (types,): gold that is to be asked
    met: bool = False  # whether their skill is as well known as it gets before work begins
    spare: bool = False  # whether nothing else is worth it, though there is room
    given: Ids = field(default_factory=lambda: NOTHING)
    offered: list[Ids] = field(default_factory=list)  # tasks that are not to be given again
    by_type: Floats = field(default_factory=lambda: np.zeros(0))  # evidence of a label
    evidence: Floats = field(default_factory=lambda: np.zeros(0))  # the same by kind of task, (kinds,)
    cost: Floats = field(default_factory=lambda: np.zeros(0))  # (kinds,)

    @property
    def column(self) -> int:
        """Where the worker's figures are."""
        return self.policy.seen.column(self.arrival.number, self.arrival.preliminary)

    def next(self, rng: np.random.Generator) -> Decision | None:
        """Gold that is owed, or tasks."""
        policy = self.policy
        if self.owed.any():
            asked, self.owed = self.owed, np.zeros_like(self.owed)
            return Decision(GOLD, asked)
        if not self.met:
            self.by_type = policy.worth(policy.seen.accuracy(np.array([self.column])))[:, 0]
            self.price_labels()
            self.met = True
            policy.meet(self)
        if self.arrival.preliminary or self.left <= 0 or self.spare:
            return None
        tasks = self.given = policy.pick(self, rng)
        # there is room for more, but nothing else is worth it; what waits for labels that are out may yet be
        self.spare = tasks.size < policy.stint(self) and not policy.hoped.any()
        return Decision(WORK, tasks) if tasks.size else None

    def learn(self, labels: Ints) -> None:
        """Gold counts for the worker; work adds evidence, as far as it was not refused."""
        policy = self.policy
        if not self.met:
            policy.seen.right[:, self.column] += labels[0]
            policy.seen.asked[:, self.column] += labels[1]
            return
        got = labels != REFUSED
        tasks = self.given if got.all() else self.given[got]
        self.left -= tasks.size
        if tasks.size < self.given.size:
            self.offered.append(self.given)
        policy.came(self, tasks, labels[got])

    def lapsed(self, tasks: Ints) -> None:
        """They may be given again; a worker of the stream is owed the gold."""
        if not self.met:
            self.owed = np.zeros_like(tasks) if self.arrival.preliminary else tasks
            return
        self.spare = False
        self.offered = [given[~np.isin(given, tasks)] for given in self.offered]

    def recall(self, room: int) -> None:
        """There may be something for them again, of kinds that may be others."""
        self.left, self.spare = room, False
        if self.met:
            self.price_labels()

    def price_labels(self) -> None:
        """Evidence and cost of a label by kind of task, as kinds are now."""
        kinds = self.policy.kind_type
        self.evidence, self.cost = self.by_type[kinds], self.arrival.cost[kinds]


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
    amends: ClassVar[bool] = True  # what a label says is nothing to a policy that covers

    def __post_init__(self) -> None:
        for option, allowed in (("estimate", tuple(ESTIMATORS)), ("ties", TIES), ("aggregate", ANSWERS)):
            if getattr(self, option) not in allowed:
                raise InputError(f"policy {self.name}: option {option} is one of {', '.join(allowed)}")
        if self.gold < 0:
            raise InputError(f"policy {self.name}: gold must be at least 0, not {self.gold}")

    # -- what a policy of one's own changes -----------------------------------------------------------------------

    def value(self, here: Here) -> Floats:
        """What each kind of task, (kinds,), or each task, (tasks,), is worth to give to the worker who is here.

        At hand: ``here.evidence`` and ``here.cost`` of the worker's labels per kind, ``self.covered`` and ``self.need``
        per task, ``self.seen`` for all workers so far. Below 0: not to be given. Unless said 0, so that ties decide.
        """
        return np.zeros(self.tasks_in.size)

    def meet(self, here: Here) -> None:
        """A worker whose skill is now as well known as it gets before work begins."""

    def came(self, here: Here, tasks: Ids, labels: Ints) -> None:
        """Labels have come from the worker who is here, each (k,)."""
        self.cover(here.by_type, tasks)
        self.keep(here.arrival.number, tasks)

    def stint(self, here: Here) -> int:
        """Tasks that the worker who is here may be given at once."""
        return here.left

    def estimator(self, known: Known) -> Estimator:
        """How gold becomes accuracies."""
        return estimator(self.estimate, known.classes, growing=True)

    def kind_columns(self, known: Known) -> list[NDArray[Any]]:
        """What tasks of one kind have in common."""
        return [known.task_type, known.need]

    def worth(self, accuracy: Floats) -> Floats:
        """Evidence of labels of these accuracies."""
        return self.known.the_rule.evidence(accuracy, self.known.classes)

    # -- the protocol ---------------------------------------------------------------------------------------------

    @property
    def shows_skill(self) -> bool:  # type: ignore[override]
        """Skills are told where no gold is asked."""
        return self.gold == 0

    @property
    def without_gold(self) -> str:  # type: ignore[override]
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
        self.hoped = np.zeros(known.n_tasks)  # what labels that are out are expected to add to ``covered``

    def visit(self, arrival: Arrival) -> Here:
        """Gold first."""
        self.seen.welcome(arrival)
        return Here(self, arrival, arrival.capacity, np.full(self.known.types, self.gold))

    def hear(self, entry: Entry) -> bool:
        """Labels that are out are expected to bring their worker's evidence; late ones bring it."""
        match entry:
            case Out(tasks, workers):
                worth = self.worth(self.seen.accuracy(self.seen.first + workers))
                each = worth[self.known.task_type[tasks], np.arange(tasks.size)]
                self.hoped = np.bincount(tasks, each, self.known.n_tasks).astype(np.float64)
            case Corrected():
                pass
            case Late(worker, task, _):
                accuracy = self.seen.accuracy(np.array([self.seen.first + worker]))
                self.cover(self.worth(accuracy)[:, 0], np.array([task]))
                self.keep(worker, np.array([task]))
            case CorrectedGold(worker, right):
                self.seen.amend(self.seen.column(worker, False), right)
            case Target(known):
                self.retarget(known)
        return False

    def retarget(self, known: Known) -> None:
        """Tasks are grouped anew; those that lack evidence are open."""
        self._group(known)
        self.open = self.covered < self.need - COVERAGE

    def wants(self, workers: Ints, room: Ints) -> bool:
        """Whether more is missing than is out, and than those bring who are at work, each in the type they do best."""
        if self.stop and self.open.any() and not self._wanting.any():
            return False
        if not (self.stop and workers.size):
            return True
        kind, types, places = self.known.task_type, self.known.types, np.arange(workers.size)
        open_tasks = np.bincount(kind[self.open], minlength=types)
        lacks = np.bincount(
            kind, np.where(self.open, np.maximum(0.0, self.need - self.covered - self.hoped), 0.0), types
        )
        bring = self.worth(self.seen.accuracy(self.seen.first + workers)) * np.minimum(room, open_tasks[:, None])
        best = np.argmax(bring, axis=0)
        return bool((np.bincount(best, bring[best, places], types) < lacks).any())

    def close(self, room: Ints) -> Decision | None:
        """With the option ``repair``: cheapest labels for what is short, from those with room."""
        if not self.repair:
            return None
        columns = self.seen.first + np.arange(self.known.workers)
        evidence = self.worth(self.seen.accuracy(columns))
        cost = self.seen.cost[:, columns]
        return repair(self.known, evidence, cost, self.covered, self.done, room)

    def answers(self, looks: CheckedAnswers | None = None) -> Verdict:
        """By the option ``aggregate``; skills are told, or what gold has shown so far."""
        columns = self.seen.first + np.arange(self.known.workers)
        ranges = None if self.shows_skill else self.seen.ranges(columns, self.known.classes)
        return Verdict(self.aggregate, skills=self.skills(), ranges=ranges, prices=self.prices(), notes=self.notes())

    def skills(self) -> Floats:
        """What is told, or what gold has shown so far, (types, workers)."""
        return self.seen.accuracy(self.seen.first + np.arange(self.known.workers))

    def prices(self) -> Floats | None:
        """x_i, the price of a unit of evidence, (tasks,); None: it has none."""
        return None

    def notes(self) -> list[str]:
        """What a user should know about how it did: sentences."""
        return []

    # -- for those that build on it -------------------------------------------------------------------------------

    def keep(self, worker: int, tasks: Ids) -> None:
        """These pairs are not to be repaired."""
        if self.repair:
            self.done.append((worker, tasks))

    def cover(self, by_type: Floats, tasks: Ids) -> None:
        """Tasks have so much more evidence, (types,); nothing where nothing depends on how far they are covered."""
        if self.stop or self.repair or self.ties == "least-covered":
            self.covered[tasks] += by_type[self.known.task_type[tasks]]
            self.open[tasks] = self.covered[tasks] < self.need[tasks] - COVERAGE

    def pick(self, here: Here, rng: np.random.Generator) -> Ids:
        """The tasks that are worth most to give, as many as the worker may be given at once."""
        value = self.value(here)
        each = value if value.size == self.kind.size else value[self.kind]
        wanted = each >= -ZERO
        wanted &= self._wanting if self.stop else self.need > COVERAGE
        for tasks in (here.arrival.barred, *here.offered):
            wanted[tasks] = False
        candidates, most = np.flatnonzero(wanted), self.stint(here)
        if candidates.size <= most:
            return candidates
        if self.ties == "least-covered":
            ties = self.covered[candidates] + self.hoped[candidates] - self.need[candidates]
        else:
            ties = rng.random(candidates.size)
        return best_of(each[candidates], ties, candidates, most)

    @property
    def _wanting(self) -> Bools:
        """Tasks that are open, and will be when all labels that are out are in, as far as can be expected; (tasks,)."""
        return self.open & ((self.hoped <= 0) | (self.covered + self.hoped < self.need - COVERAGE))

    def _group(self, known: Known) -> None:
        """Tasks by kind."""
        self.known, self.need = known, known.need
        self.kind, first = kinds_of(self.kind_columns(known))
        self.kind_type, self.kind_need = known.task_type[first], known.need[first]
        self.tasks_in = np.bincount(self.kind)


@dataclass
class PricedCovering(Covering):
    """Tasks with ``q x - c >= 0`` for prices x of their kinds; a policy of one's own sets ``price`` (kinds,)."""

    def start(self, known: Known, solve: Solve) -> None:
        """No prices yet."""
        super().start(known, solve)
        self.price = np.zeros(self.tasks_in.size)

    def value(self, here: Here) -> Floats:
        """``q x - c`` of a label, by kind of task."""
        return here.evidence * self.price - here.cost


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

    def right(self, here: Here, tasks: Ids) -> Floats:
        """Chance that the worker who is here is right on each of the tasks, (tasks,)."""
        return clipped(self.seen.accuracy(np.array([here.column]))[self.known.task_type[tasks], 0])

    def came(self, here: Here, tasks: Ids, labels: Ints) -> None:
        """Each task's posterior is multiplied by its label's likelihood."""
        right = self.right(here, tasks)
        self.log_likelihood[tasks, labels] += np.log(right) - np.log((1 - right) / (self.known.classes - 1))
        super().came(here, tasks, labels)
