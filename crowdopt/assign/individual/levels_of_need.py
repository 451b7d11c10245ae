"""Needs of the tasks of a row in order: a set that meets one meets all below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.individual.prices.own_tasks import OwnTasks


@dataclass(frozen=True, eq=False)
class LevelsOfNeed:
    """Levels by row and then by need, ascending."""

    tasks: OwnTasks
    row: Ints  # (L,): row of evidence of each level
    need: Floats  # (L,): evidence that serves each of its tasks
    count: Ints  # (L,): how many tasks it has
    order: Ints  # (k,): the tasks, level by level
    first: Ints  # (rows + 1,): where the levels of each row begin

    @classmethod
    def of(cls, tasks: OwnTasks) -> LevelsOfNeed:
        """Each need a level."""
        row = tasks.arrays.row
        order = np.lexsort((tasks.target, row))
        sorted_row, need = row[order], tasks.target[order]
        new = np.append(True, (np.diff(sorted_row) != 0) | (np.diff(need) != 0))
        start = np.flatnonzero(new)
        count = np.diff(np.append(start, order.size))
        first = np.searchsorted(sorted_row[start], np.arange(len(tasks.arrays.worth) + 1))
        return cls(tasks, sorted_row[start], need[start], count, order, first)

    def met(self, row: Ints, have: Floats) -> Ints:
        """The highest level that so much evidence meets, (sets,); -1: none.

        row (sets,): row of each set; have (sets,): its evidence there.
        """
        level = np.full(row.size, -1)
        for r in np.unique(row).tolist():
            some = row == r
            begin, end = self.first[r], self.first[r + 1]
            rank = np.searchsorted(self.need[begin:end], have[some], side="right")
            level[some] = np.where(rank > 0, begin + rank - 1, -1)
        return level
