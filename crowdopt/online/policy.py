"""What a policy is, and how one is found by name: ``main-algorithm:gamma=.3:gold=20``.

What is believed of the workers who have come so far: told, or estimated from gold.

Which tasks a worker gets: the best ones they have room for, by kind of task, never by looking at all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.approximation import ZERO
from crowdopt.core.solution import Solve
from crowdopt.crowd.skills import known_of
from crowdopt.online.arrivals import Arrival, Decision, Entry, Known, Verdict
from crowdopt.online.checked_claims import CheckedAnswers

Estimator: TypeAlias = Callable[[Ints, Ints], Any]


class SeenWorkers:
    """Workers in their order of arrival, the preliminary ones first: skills, or gold tallies that imply them.

    estimate: how gold becomes accuracies, of all who have come: tallies (right, asked), each (types, workers), to
    accuracies; NaN where nothing is known (crowd.skills); told: whether skills are told, and no gold is asked;
    guess: chance of a guess to be right: what is believed where nothing is known.
    """

    def __init__(
        self, types: int, preliminary: int, workers: int, estimate: Estimator, told: bool, guess: float = 0.5
    ) -> None:
        shape = (types, preliminary + workers)
        self.first, self.estimate, self.told = preliminary, estimate, told
        self.count = np.zeros(2, np.int64)  # preliminary workers and workers who have come
        self.guess, self.given = guess, np.full(shape, guess)
        self.right, self.asked = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self._fitted: tuple[tuple[int, int, int], Floats] | None = None  # worked out once per arrival
        self.cost, self.capacity = np.zeros(shape), np.zeros(shape[1], np.int64)

    def welcome(self, arrival: Arrival) -> None:
        """Take note of who is here: price, capacity, and skill where it is told."""
        column = self.column(arrival.number, arrival.preliminary)
        crowd = 0 if arrival.preliminary else 1
        self.count[crowd] = max(self.count[crowd], arrival.number + 1)  # who is welcomed again was counted
        self.cost[:, column], self.capacity[column] = arrival.cost, arrival.capacity
        if arrival.accuracy is not None:
            self.given[:, column] = arrival.accuracy

    def column(self, number: int, preliminary: bool) -> int:
        """Where a worker's figures are."""
        return number if preliminary else self.first + number

    @property
    def came(self) -> Ints:
        """Columns of all who have come."""
        return np.concatenate([np.arange(self.count[0]), self.first + np.arange(self.count[1])])

    def accuracy(self, columns: Ints) -> Floats:
        """Those workers' accuracies as far as they are known now, (types, columns)."""
        if self.told:
            return self.given[:, columns]
        stamp = (int(self.count[0]), int(self.count[1]), int(self.asked.sum()))
        if self._fitted is None or self._fitted[0] != stamp:
            self._fitted = (stamp, self._estimated())
        return self._fitted[1][:, columns]

    def _estimated(self) -> Floats:
        """All columns, from the gold of all workers so far; a guess where nothing is known."""
        came, every = self.came, np.full(self.given.shape, self.guess)
        asked = self.asked[:, came]
        if asked.any():
            estimate = np.asarray(self.estimate(self.right[:, came], asked))
            every[:, came] = np.where(np.isnan(estimate), self.guess, estimate)
        return every

    def amend(self, column: int, right: Ints) -> None:
        """Right gold answers of a worker are so many more, (types,)."""
        self.right[:, column] += right
        self.forget()

    def forget(self) -> None:
        """Tallies have changed: what was worked out of them is out of date."""
        self._fitted = None

    def ranges(self, columns: Ints, classes: int) -> tuple[Floats, Floats]:
        """Where nine of ten skills lie as gold leaves them open (crowd.priors); each (types, columns)."""
        came, low, high = self.came, np.zeros(self.given.shape), np.ones(self.given.shape)
        if self.asked[:, came].any():
            told = known_of(self.right[:, came], self.asked[:, came], classes, growing=True)
            for kind, (known, right, asked) in enumerate(told):
                low[kind, came], high[kind, came] = known.ranges(right, asked)
        return low[:, columns], high[:, columns]


class Visit:
    """A worker's visit, from when they come until nothing more is asked of them; its fields are about them alone."""

    def next(self, rng: np.random.Generator) -> Decision | None:
        """The next thing to ask; called until it is None.

        ``rng`` is of this arrival alone, derived from the seed and the arrival's number.
        """
        raise NotImplementedError

    def learn(self, labels: Ints) -> None:
        """What the last decision brought.

        labels (k,) or (2, types) int: work: a class per task, REFUSED where there is no label. Gold: how many of each
        type were right, and how many were asked.
        """
        raise NotImplementedError

    @property
    def may_return(self) -> bool:
        """Whether a worker for whom there is nothing may be needed when labels that are out have come."""
        return True

    def lapsed(self, tasks: Ints) -> None:
        """Time is over; tasks, as in :class:`Decision`: what of the last one was never handed out.

        It was told before that these are refused: they may be asked again.
        """

    def recall(self, room: int) -> None:
        """Who had been let go may be asked again, for so many labels."""


class BasePolicy:
    """Decides who does what the moment a worker arrives; what is decided cannot be taken back.

    ``start``, ``visit`` and ``answers`` make a policy; all else has a default. A dataclass that inherits this has its
    fields as options. A class of a third party that does not inherit it gets the defaults all the same when it is found
    by name.
    """

    name: ClassVar[str]
    what: ClassVar[str] = ""  # a line for the list of policies
    over_capacity: ClassVar[bool] = False  # whether it may ask for more than a worker's capacity
    # what may change in a campaign that runs: whether a label may be taken back, and targets replaced
    amends: ClassVar[bool] = False
    retargets: ClassVar[bool] = False
    shows_skill: bool = False  # whether arrivals tell it the true accuracies
    # what to take where there are no gold tasks, of a policy that knows skills by them alone; empty: itself
    without_gold: str = ""
    on_average: bool = False  # whether errors are to be small enough in the mean of all tasks, and not of each
    # looks of an expert at finished answers, as a share of its labels, and the price of one in units of a mean label's
    checks: float = 0.0
    look: float = 1.0

    def preliminary(self, workers: int) -> int:
        """How many workers to send for gold before the stream of so many others: none."""
        return 0

    def start(self, known: Known, solve: Solve) -> None:
        """Take note of what is known before the first arrival; ``solve`` is for policies that price by a program."""
        raise NotImplementedError

    def visit(self, arrival: Arrival) -> Visit:
        """A worker is here."""
        raise NotImplementedError

    def hear(self, entry: Entry) -> bool:
        """Something happened beside what was asked; -> of a repair, whether to ask what else is to be repaired."""
        return False

    def wants(self, workers: Ints, room: Ints) -> bool:
        """Whether a worker is asked now, by what the labels that are out are expected to tell.

        workers, room (k,): others at work, and the labels each may still give; none: whoever is here already asks.
        """
        return True

    def close(self, room: Ints) -> Decision | None:
        """What to repair after the last arrival, by the labels that workers could still give, (workers,): nothing."""
        return None

    def answers(self, looks: CheckedAnswers | None = None) -> Verdict:
        """What it makes of all that it heard, and of what an expert saw."""
        return Verdict()


def kinds_of(columns: list[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Tasks of equal entries in all columns are of one kind: kind (tasks,), first task of each (kinds,)."""
    key = np.zeros(columns[0].size, np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        key = np.unique(key * values.size + place.reshape(-1), return_inverse=True)[1].reshape(-1)
    return key, np.unique(key, return_index=True)[1]


def fill(value: Floats, tasks_in: Ints, capacity: Ints) -> Ints:
    """How many tasks of each kind each worker takes: kinds of value >= 0, the best first, up to the capacity.

    This is the Primal Approximation Algorithm (Ho et al. 2013, Algorithm 1) for a batch of workers, and the inner
    maximum of the Lagrangian bound.

    value (workers, kinds): q x - c; tasks_in (kinds,): tasks of each kind; capacity (workers,): the most that each
    worker takes; -> (workers, kinds).
    """
    taken = np.zeros(value.shape, np.int64)
    rows, room, left = np.arange(capacity.size), capacity, value
    for _ in range(tasks_in.size):  # most workers are full after a kind or two
        best = left.argmax(axis=1)
        going = (left[np.arange(rows.size), best] >= -ZERO) & (room > 0)
        if not going.all():
            rows, room, left, best = rows[going], room[going], left[going], best[going]
        count = np.minimum(room, tasks_in[best])
        taken[rows, best] = count
        # who has room left goes on to their next best kind; the others leave the arrays
        more = room > count
        rows, room, left, best = rows[more], (room - count)[more], left[more].copy(), best[more]
        if rows.size == 0:
            break
        left[np.arange(rows.size), best] = -np.inf
    return taken
