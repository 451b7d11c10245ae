"""Tasks and workers where every worker's skill is told: what labels say of tasks, and who has come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.resumable import Arrays
from crowdopt.crowd.votes.evidence import CLIP
from crowdopt.online.beliefs.grid import error_at_level


class ToldSkills:
    """Log odds of tasks of two classes by labels of known accuracy.

    kind (tasks,): tau(i); types, workers: how many there are of each.
    """

    def __init__(self, kind: Ints, types: int, workers: int) -> None:
        self.kind, self.odds = kind, np.zeros(kind.size)  # L_i, log odds of class 1
        self.accuracy = np.full((workers, types), 0.5)
        self.came, self.count = np.zeros(1, np.int64), np.zeros(1, np.int64)

    @property
    def labels(self) -> int:
        """How many labels came so far."""
        return int(self.count[0])

    @property
    def level(self) -> Floats:
        """|log odds| of each task, (tasks,)."""
        return np.abs(self.odds)

    @property
    def answer(self) -> Ints:
        """The likelier class of each task; -1 where nothing is known."""
        return np.where(self.odds == 0, -1, (self.odds > 0).astype(np.int64))

    def error(self) -> Floats:
        """Posterior chance that the likelier class is wrong, (tasks,)."""
        return error_at_level(self.level)

    def welcome(self, accuracy: Floats) -> None:
        """The next worker is here; accuracy (types,): how often they are right."""
        self.accuracy[self.came[0]] = accuracy
        self.came += 1

    def skill(self) -> Floats:
        """Of all who came, (workers, types)."""
        return self.accuracy[: self.came[0]]

    def hear(self, tasks: NDArray[np.integer], labels: Ints) -> None:
        """Labels of the worker who is here, a class each."""
        right = np.clip(self.accuracy[self.came[0] - 1, self.kind[tasks]], CLIP, 1 - CLIP)
        self.odds[tasks] += (2.0 * labels - 1) * np.log(right / (1 - right))
        self.count += tasks.size

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All there is to keep."""
        own = {"accuracy": self.accuracy, "came": self.came, "count": self.count, "odds": self.odds}
        return {name: array.copy() for name, array in own.items()}

    def restore(self, arrays: Arrays) -> None:
        """Take up what :meth:`arrays` gave."""
        self.accuracy, self.came = np.array(arrays["accuracy"]), np.array(arrays["came"])
        self.count, self.odds = np.array(arrays["count"]), np.array(arrays["odds"])
