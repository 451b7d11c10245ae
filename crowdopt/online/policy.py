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
from crowdopt.core.clock import Arrays
from crowdopt.core.solution import Solve
from crowdopt.crowd.skills import known_of
from crowdopt.online.arrivals import Arrival, Decision, Known

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

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is known of workers, as arrays."""
        names = ("count", "given", "right", "asked", "cost", "capacity")
        return {f"seen.{name}": getattr(self, name).copy() for name in names}

    def restore(self, arrays: Arrays) -> None:
        """Take up what :meth:`arrays` gave."""
        self._fitted = None
        for name in ("count", "given", "right", "asked", "cost", "capacity"):
            setattr(self, name, np.array(arrays[f"seen.{name}"]))


Ids: TypeAlias = NDArray[np.integer]


class BasePolicy:
    """Decides who does what the moment a worker arrives; what is decided cannot be taken back.

    Five methods: ``start``, ``decide``, ``learn``, ``snapshot`` and ``restore``; a default for everything else that a
    replay asks. A policy owns its arrays; between two arrivals all of its state is in ``snapshot``. A dataclass that
    inherits this has its fields as options. A class of a third party that does not inherit it gets the defaults all the
    same when it is found by name.
    """

    name: ClassVar[str]
    what: ClassVar[str] = ""  # a line for the list of policies
    over_capacity: ClassVar[bool] = False  # whether it may ask for more than a worker's capacity
    # attributes that are about the worker who is here and no other, and in no snapshot: a campaign that
    # runs takes them off and puts them back (crowdopt.serving). None: not known, so one worker is served after another
    of_one_arrival: ClassVar[tuple[str, ...] | None] = None
    shared: ClassVar[tuple[str, ...]] = ()  # parts of the policy that those attributes refer to
    # what may change in a campaign that runs: whether a label may be taken back, and targets replaced
    amends: ClassVar[bool] = False
    retargets: ClassVar[bool] = False

    @property
    def shows_skill(self) -> bool:
        """Whether arrivals tell it the true accuracies: they do not."""
        return False

    @property
    def without_gold(self) -> str:
        """What to take where there are no gold tasks, of a policy that knows skills by them alone; empty: itself."""
        return ""

    def preliminary(self, workers: int) -> int:
        """How many workers to send for gold before the stream of so many others: none."""
        return 0

    def start(self, known: Known, solve: Solve) -> None:
        """Take note of what is known before the first arrival; ``solve`` is for policies that price by a program."""
        raise NotImplementedError

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """The next thing to ask of the worker here; called until it is None.

        ``rng`` is of this arrival alone, derived from the seed and the arrival's number.
        """
        raise NotImplementedError

    def learn(self, labels: Ints) -> None:
        """What the last decision brought.

        labels (k,) or (2, types) int: work: a class per task, REFUSED where there is no label. Gold: how many of each
        type were right, and how many were asked.
        """
        raise NotImplementedError

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Everything that differs from a freshly started one."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot, after ``start`` with the same knowledge."""
        raise NotImplementedError

    def expect(self, tasks: Ints, workers: Ints) -> bool:
        """Labels that are out now, each (k,), by number of arrival: they count by what each is expected to tell.

        They count for the decisions that follow, until the next call. False: with them all is done, and a worker who
        comes now waits.
        """
        return True

    def welcomes(self, workers: Ints, room: Ints) -> bool:
        """Whether a new worker begins now; workers, room (k,): arrivals at work and the labels each may still give."""
        return True

    @property
    def may_return(self) -> bool:
        """Whether the worker here, for whom there is nothing, may be needed when labels that are out have come."""
        return True

    def overhear(self, worker: int, task: int, label: int) -> None:
        """A label came that was given up and told as refused; worker: number of arrival."""

    def lapsed(self, tasks: Ints) -> None:
        """Time is over of the worker here; tasks, as in :class:`Decision`: what of the last one was never handed out.

        It was told before that these are refused: they may be asked again.
        """

    def amend(self, worker: int, task: int, label: int) -> None:
        """A label that was learned is another one, of a policy that ``amends``; worker: number of arrival."""

    def amend_gold(self, worker: int, right: Ints) -> None:
        """A gold answer that was learned is another one; right (types,): by how much the worker's tally changes."""

    def retarget(self, known: Known) -> None:
        """Needs and errors to reach are others from now on, of a policy that ``retargets``."""

    def recall(self, room: int) -> None:
        """The worker here, who had been let go, may be asked again, for so many labels."""

    def skill_ranges(self) -> tuple[Floats, Floats] | None:
        """Ends of an interval that holds each skill with a chance of .9, each (types, workers); None: not known."""
        return None

    def close(self, room: Ints) -> Decision | None:
        """What to repair after the last arrival, by the labels that workers could still give, (workers,): nothing."""
        return None

    def mended(self, tasks: Ints, workers: Ints, labels: Ints) -> bool:
        """What the repair brought, each (k,); True to be asked once more what to repair: a repair is planned once."""
        return False

    def inspect(self, labels: int, rng: np.random.Generator) -> Ids | None:
        """Tasks whose answers an expert is to look at in the end, after so many labels: none."""
        return None

    def inspected(self, tasks: Ids, truth: Ints) -> None:
        """True classes of those that the expert could tell, each (k,): noted by a policy that asks for them."""

    def vouched(self, task: int, truth: int, before: int) -> None:
        """The same in a campaign that runs: labels of the task count as gold; before: the class told before, or -1."""

    @property
    def on_average(self) -> bool:
        """Whether errors are to be small enough in the mean of all tasks, and not of each."""
        return False

    @property
    def look(self) -> float:
        """Price of such a look, in units of what a label cost on average."""
        return 1.0

    def skills(self) -> Floats | None:
        """What is believed of the workers so far, (types, workers), by which votes are weighted; None: nothing."""
        return None

    def prices(self) -> Floats | None:
        """x_i, the price of a unit of evidence, (tasks,); None: it has none."""
        return None

    def answers(self) -> str:
        """How labels become answers: ``majority``, ``weighted``, ``own``, or a method of crowdopt.answers."""
        return "majority"

    def decided(self) -> Ints | None:
        """Where answers are its ``own``: a class per task, (tasks,), -1 where it knows none; None for any other."""
        return None

    def claims(self) -> Floats | None:
        """Chance that each task's answer is wrong, as the policy believes, (tasks,); None: it claims nothing."""
        return None

    def notes(self) -> list[str]:
        """What a user should know about how it did: sentences."""
        return []


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
