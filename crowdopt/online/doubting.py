"""The common ground of policies that look at answers: the chances of each task's classes by the one-coin model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.online.arrivals import Known
from crowdopt.online.covering import Covering, Ids

KEEP = 1e-6  # accuracies are kept this far from 0 and 1


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
        right: Floats = np.clip(self.seen.accuracy(column)[self.known.task_type[tasks], 0], KEEP, 1 - KEEP)
        return right

    def heed(self, tasks: Ids, labels: Ints) -> None:
        """Multiply each task's posterior by its label's likelihood."""
        right = self.right(tasks)
        self.log_likelihood[tasks, labels] += np.log(right) - np.log((1 - right) / (self.known.classes - 1))
