"""What is believed of the workers who have come so far: told, or estimated from gold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.resumable import Arrays
from crowdopt.crowd.skills import known_of
from crowdopt.online.arrivals import Arrival

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
