"""What labels of known accuracies say of each task: votes for each class, if the task is easy and if it is hard."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.resumable import Arrays
from crowdopt.crowd.law import LARGEST, NONE, Difficulty
from crowdopt.crowd.rules import log_odds

Ids: TypeAlias = NDArray[np.integer]

SUMS, FOUND = ("easy", "hard", "lean"), ("level", "answer", "chance")


class VoteArrays(NamedTuple):
    """What labels say of tasks, for compiled loops.

    ``easy`` and ``hard`` are (tasks, classes): votes for each class, less those of the others, if the task is easy or
    hard. ``lean`` is (tasks,): what labels add to the log odds that it is easy. ``level``, ``answer`` and ``chance``
    are (tasks,) and follow from these. ``share`` is h, ``left`` is s.
    """

    easy: Floats
    hard: Floats
    lean: Floats
    level: Floats
    answer: Ints
    chance: Floats
    share: float
    left: float


class TaskVotes:
    """Votes on each task, and what follows from them: the posterior over K classes, and over easy and hard.

    ``level`` is that of crowdopt.online.beliefs.grid, ``answer`` the likeliest class, -1 where nothing is known, and
    ``chance`` that of being hard: each (tasks,). Wrong answers are uniform over the other classes.
    """

    def __init__(self, tasks: int, classes: int) -> None:
        self.classes = classes
        self.easy, self.hard, self.lean = np.zeros((tasks, classes)), np.zeros((tasks, classes)), np.zeros(tasks)
        self.level, self.answer, self.chance = np.zeros(tasks), np.full(tasks, -1), np.zeros(tasks)

    def arrays_for(self, difficulty: Difficulty) -> VoteArrays:
        """The arrays themselves, for compiled loops that write them, and how hard tasks are."""
        # no worker of skill 1 can be wrong more often than always, which bounds s from below
        left = max(difficulty.left, -LARGEST / (self.classes - 1))
        sums = self.easy, self.hard, self.lean
        return VoteArrays(*sums, self.level, self.answer, self.chance, float(difficulty.share), float(left))

    def add(self, tasks: Ids, labels: Ints, weight: Floats, difficulty: Difficulty) -> None:
        """Labels with the weights of their votes on easy tasks, each (k,); levels wait for :meth:`settle`."""
        from crowdopt.online.beliefs.vote_sum_kernels import recount

        recount(tasks, labels, np.zeros(weight.size), weight, self.arrays_for(difficulty))

    def clear(self) -> None:
        """Forget all labels."""
        for sums in (self.easy, self.hard, self.lean):
            sums[:] = 0.0

    def settle(self, tasks: Ids, difficulty: Difficulty) -> None:
        """Level, answer and chance of being hard of some tasks, (k,), anew."""
        from crowdopt.online.beliefs.vote_sum_kernels import settle

        settle(tasks, self.arrays_for(difficulty))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All there is to keep."""
        return {name: getattr(self, name).copy() for name in (*SUMS, *FOUND)}

    def restore(self, arrays: Arrays) -> None:
        """Take up what :meth:`arrays` gave."""
        for name in (*SUMS, *FOUND):
            setattr(self, name, np.array(arrays[name]))


def vote_weight(accuracy: Floats, classes: int, difficulty: Difficulty = NONE) -> Floats:
    """``ln((K - 1) p / (1 - p))``, p on easy tasks, kept off 0 and 1, of workers of mean accuracies (k,)."""
    if difficulty.share:
        edge = difficulty.easy * (classes * accuracy - 1) / (classes - 1)
        accuracy = (1 + (classes - 1) * np.clip(edge, -LARGEST / (classes - 1), LARGEST)) / classes
    return log_odds(accuracy, classes)
