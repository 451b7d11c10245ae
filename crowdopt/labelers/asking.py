"""Running a policy of asking over a stream of tasks: one question at a time.

Votes as they are counted: by label, by weight, within a tolerance, ties by a coin that belongs to the task.

What a policy of asking is, and how one is found by name: ``ls-ol:g1=10:g2=.1``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import REPEAT
from crowdopt.labelers import theorems
from crowdopt.labelers.arrivals import KINDS, Ask, KnownLabelers, TaskArrival, TaskStream

ROUNDING = 1e-12  # of the sum of |weights|: a difference below it is none


def voted(labels: Ints, weight: Floats | None, tolerance: float, classes: int, coin: Floats) -> Ints:
    """``argmax_k sum of the weights of the labels for k``; all within the tolerance of the most are tied.

    labels (tasks, workers): -1 where there is none; weight (workers,): None: one each; tolerance: in the unit of the
    weights; coin (tasks,): in [0, 1): picks one of those tied; alone it answers a task without labels; -> (tasks,):
    class of each task.
    """
    return picked(tallied_votes(labels, weight, classes), tolerance, coin)


def tallied_votes(labels: Ints, weight: Floats | None, classes: int) -> Floats:
    """Sums of weights (workers,), or of ones, by class; labels (tasks, workers), -1 for none -> (tasks, classes)."""
    score = np.empty((len(labels), classes))
    for k in range(classes):
        says = labels == k
        score[:, k] = says.sum(axis=1) if weight is None else row_sums(says * weight)
    return score


def row_sums(table: Floats) -> Floats:
    """Sums along rows, left to right: the same bytes for a row alone and among others, unlike a matrix product."""
    if table.shape[1] == 0:
        return np.zeros(len(table))
    return np.cumsum(table, axis=1)[:, -1]


def picked(score: Floats, tolerance: float, coin: Floats) -> Ints:
    """The class of the largest sum, a fair one of those within the tolerance of it.

    score (tasks, classes): sums of weights; tolerance: in the unit of the weights; coin (tasks,): in [0, 1);
    -> (tasks,): class of each task.
    """
    near = tolerance + ROUNDING * (1 + np.abs(score).sum(axis=1, keepdims=True))
    best = score >= score.max(axis=1, keepdims=True) - near
    if (ties := best.sum(axis=1)).max() == 1:
        return best.argmax(axis=1)
    place = (coin * ties).astype(np.int64)
    return ((np.cumsum(best, axis=1) > place[:, None]) & best).argmax(axis=1)


Chance: TypeAlias = Callable[[], np.random.Generator]


class BaseLabelerPolicy:
    """Decides whom to ask the moment a task arrives; it sees labels, never the truth.

    ``start``, ``decide`` and ``learn`` make a policy; all else has a default. A dataclass that inherits this has its
    fields as options. A class of a third party that does not inherit it gets the defaults all the same when it is found
    by name.
    """

    name: ClassVar[str]
    what: ClassVar[str] = ""  # a line for the list of policies
    shows_skill: ClassVar[bool] = False  # whether arrivals tell it the true accuracies
    begins: ClassVar[bool] = False  # whether it takes the initial tester, number 0

    def start(self, known: KnownLabelers) -> None:
        """Take note of what is known before anything arrives."""
        raise NotImplementedError

    def decide(self, arrival: TaskArrival, chance: Chance) -> Ask:
        """Whom to ask, and for how many arrivals if nothing is learnt; chance is the same at every call."""
        raise NotImplementedError

    def learn(self, arrival: TaskArrival, ask: Ask, labels: Ints, votes: Ints, chance: Chance) -> None:
        """What a question brought; others may have been decided since.

        arrival, ask: as decided; fewer tasks may have been asked about; labels (tasks, workers): -1: none; votes
        (tasks,): what each vote says.
        """
        raise NotImplementedError

    def chosen(self, arrival: TaskArrival) -> Ask | None:
        """Whom it would ask now to answer such a task as well as it can; None: whom it asked last."""
        return None

    def skills(self) -> Floats | None:
        """What is believed of the labelers, (cells, labelers); None: nothing."""
        return None

    def notes(self) -> list[str]:
        """What a user should know about how it did, or will do: sentences."""
        return []


@dataclass
class Fixed(BaseLabelerPolicy):
    """What comparators share: no state, no exploration."""

    def start(self, known: KnownLabelers) -> None:
        """Take note of the labelers."""
        self.known = known

    def rest(self, arrival: TaskArrival) -> Ints:
        """The task and all after it where every task is of one kind, else the task alone."""
        last = self.known.horizon + 1 if self.known.kinds == 1 else arrival.number + 1
        return np.arange(arrival.number, last)

    def decide(self, arrival: TaskArrival, chance: Chance) -> Ask:
        """Ask the chosen set; never explore."""
        return self.chosen(arrival)

    def chosen(self, arrival: TaskArrival) -> Ask:
        """The set to ask about a task."""
        raise NotImplementedError

    def learn(self, arrival: TaskArrival, ask: Ask, labels: Ints, votes: Ints, chance: Chance) -> None:
        """Nothing is learnt."""


GUESS = -1  # the place of a set where a guess was the answer


@dataclass(frozen=True, eq=False)
class AskingRecord:
    """A policy's run over a stream; index t is the task's number, 0 the initial tester."""

    stream: TaskStream
    policy: BaseLabelerPolicy
    kind: Ints  # (T + 1,): place in KINDS: work, tester, repeat
    place: Ints  # (T + 1,): of the set that answered in ``sets``; GUESS: a random answer
    sets: list[Ask]  # every set that was asked, with its weights, once
    answer: Ints  # (T + 1,)
    # labels that were asked for and had at the step, and what they cost
    labels: Ints  # (T + 1,)
    cost: Floats  # (T + 1,)
    skills: Floats | None  # (cells, labelers): what the policy believes in the end; None: nothing
    notes: list[str]
    seconds: float


def known_of(stream: TaskStream) -> KnownLabelers:
    """What a policy is told beforehand; the theorems' constants where there is one kind of task."""
    people = stream.labelers
    presumed = (float("nan"), float("nan"))
    if people.kinds == 1 and people.classes == 2:
        presumed = theorems.presumed(people.accuracy[0])
    facts = (people.count, people.classes, stream.horizon, people.kinds, people.cost)
    return KnownLabelers(*facts, not stream.recorded, *presumed, people.names)


class LabelerReplay:
    """A run in progress.

    Where a policy's question covers many arrivals, their labels are looked up and their votes counted at once.

    seed: of the policy's own chance; each arrival's generator comes from (seed, arrival number).
    """

    def __init__(self, policy: BaseLabelerPolicy, stream: TaskStream, seed: int) -> None:
        self.policy, self.stream, self.seed = policy, stream, seed
        policy.start(known_of(stream))
        count = stream.horizon + 1
        self.next = 0 if policy.begins else 1
        self.kind, self.place = np.zeros(count, np.int64), np.full(count, GUESS)
        self.answer = self._guess(np.arange(count))
        self.labels, self.cost = np.zeros(count, np.int64), np.zeros(count)
        self.repeats = np.zeros(count, np.int64)  # rounds of each tester beyond the first
        self.sets: list[Ask] = []
        self._places: dict[tuple[bytes, bytes, float], int] = {}
        self.seconds = 0.0

    def advance(self, arrivals: int | None = None) -> LabelerReplay:
        """Play until so many tasks have come; default: all."""
        last = self.stream.horizon if arrivals is None else arrivals
        started = perf_counter()
        while self.next <= last:
            self._serve(self.next, last)
        self.seconds += perf_counter() - started
        return self

    def finish(self) -> AskingRecord:
        """Play to the end and sum up."""
        self.advance()
        run = (self.kind, self.place, self.sets, self.answer, self.labels, self.cost)
        return AskingRecord(self.stream, self.policy, *run, self.policy.skills(), self.policy.notes(), self.seconds)

    def _serve(self, number: int, last: int) -> None:
        arrival = self.stream.arrival(number, self.policy.shows_skill)
        chance = self._chance(number)
        ask = self.policy.decide(arrival, chance)
        tasks = ask.tasks if ask.kind == REPEAT else ask.tasks[: last + 1 - number]
        check(ask, tasks, number, self.stream, self.policy.name)
        if ask.kind == REPEAT:
            labels, coin = self._again(int(tasks[0]), ask.workers)
        else:
            labels, coin = self.stream.label[number : number + tasks.size][:, ask.workers], self.stream.coin[tasks]
        votes = voted(labels, ask.weight, ask.tolerance, self.stream.labelers.classes, coin)
        here = slice(number, number + (1 if ask.kind == REPEAT else tasks.size))
        self._note(ask, here, labels, votes)
        self.policy.learn(arrival, ask, labels, votes, chance)
        self.next = here.stop

    def _again(self, task: int, workers: Ints) -> tuple[Ints, Floats]:
        """Labels of a tester's next round, and the coin of that round's vote."""
        self.repeats[task] += 1
        labels, coin = self.stream.repeated(task, int(self.repeats[task]))
        return labels[None, workers], np.array([coin])

    def _note(self, ask: Ask, here: slice, labels: Ints, votes: Ints) -> None:
        had = labels >= 0
        self.kind[here] = KINDS.index(ask.kind)
        self.labels[here], self.cost[here] = had.sum(axis=1), row_sums(had * self.stream.labelers.cost[ask.workers])
        if ask.kind != REPEAT:
            self.answer[here] = votes
            self.place[here] = self._place_of(ask)

    def _place_of(self, ask: Ask) -> int:
        weight = b"" if ask.weight is None else ask.weight.tobytes()
        key = (ask.workers.tobytes(), weight, ask.tolerance)
        if key not in self._places:
            self._places[key] = len(self.sets)
            self.sets.append(ask)
        return self._places[key]

    def _guess(self, tasks: Ints) -> Ints:
        return (self.stream.coin[tasks] * self.stream.labelers.classes).astype(np.int64)

    def _chance(self, number: int) -> Chance:
        kept: list[np.random.Generator] = []

        def chance() -> np.random.Generator:
            if not kept:
                kept.append(np.random.default_rng([self.seed, number]))
            return kept[0]

        return chance


def check(ask: Ask, tasks: NDArray[np.integer], number: int, stream: TaskStream, name: str) -> None:
    """A question that cannot be asked is a defect of the policy; it is said, not repaired."""
    wrong = _wrong_workers(ask, stream.labelers.count) or _wrong_tasks(ask, tasks, number, stream)
    if wrong is not None:
        raise RuntimeError(f"policy {name} {wrong} (arrival {number})")


def _wrong_tasks(ask: Ask, tasks: NDArray[np.integer], number: int, stream: TaskStream) -> str | None:
    if ask.kind != REPEAT:
        are_next = tasks.size and tasks[0] == number and (np.diff(tasks) == 1).all()
        return None if are_next else "names other tasks than the one that is here and those after it"
    may_be = tasks.size == 1 and 0 <= tasks[0] < number and not stream.recorded
    return None if may_be else "repeats what cannot be repeated"


def _wrong_workers(ask: Ask, count: int) -> str | None:
    """What is wrong with whom a question asks, or with their weights; count: of the labelers there are."""
    workers = ask.workers
    if workers.size and (workers.min() < 0 or workers.max() >= count or np.bincount(workers).max() > 1):
        return "asks a labeler who does not exist, or twice at once"
    if ask.weight is not None and not (ask.weight.shape == workers.shape and np.isfinite(ask.weight).all()):
        return "weighs votes by what is no number for each"
    return None


def replay(policy: BaseLabelerPolicy, stream: TaskStream, seed: int) -> AskingRecord:
    """Run a fresh policy over the whole stream."""
    return LabelerReplay(policy, stream, seed).finish()
