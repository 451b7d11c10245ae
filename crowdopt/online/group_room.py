"""How many more labels of each group a task may have, while workers come: what ``max_per_task`` leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Ints
from crowdopt.crowd.group_limits import membership, task_limits
from crowdopt.crowd.instance import AssignmentInstance


class GroupRoom:
    """Labels of each group that tasks may still have.

    instance: its groups' ``max_per_task``; labels already in count.
    """

    def __init__(self, instance: AssignmentInstance) -> None:
        limited, _, most = task_limits(instance)
        self.member = membership(instance)[limited]
        self.left = most

    def full(self, worker: int) -> Bools:
        """Tasks that can have no more of the worker's groups; -> (tasks,)."""
        return np.any(self.left[self.member[:, worker]] <= 0, axis=0)

    def take(self, tasks: NDArray[np.integer], workers: Ints | int) -> None:
        """Labels that came; tasks (k,); workers int or (k,) int: who gave each."""
        if self.left.shape[0]:
            each = np.broadcast_to(workers, np.shape(tasks))
            for left, member in zip(self.left, self.member, strict=True):
                np.subtract.at(left, tasks[member[each]], 1)
