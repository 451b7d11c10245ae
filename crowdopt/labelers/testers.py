"""The testers: tasks that all labelers label, again and again, and what they say about the labelers."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.labelers.asking import picked

ROOM = 64  # testers that there is room for at first; doubled when they are more


class Testers:
    """E(t) with N_k(t), the majority label of every round, and who agrees with y*_k, by cell of contexts."""

    def __init__(self, cells: int, labelers: int, classes: int) -> None:
        self.count, self.classes = 0, classes
        self.task, self.cell = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.int64)
        self.context = np.zeros(ROOM)
        self.first = np.full((ROOM, labelers), -1, np.int64)
        self.tally = np.zeros((ROOM, classes))
        self.star, self.rounds = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.int64)
        self.ready = np.zeros(ROOM, np.int64)
        self.agree, self.seen = np.zeros((cells, labelers)), np.zeros((cells, labelers))
        self.per_cell = np.zeros(cells, np.int64)

    COLUMNS = ("task", "cell", "context", "first", "tally", "star", "rounds", "ready")

    def add(self, task: int, cell: int, context: float, labels: Ints, vote: int, ready: int) -> None:
        """A new tester: first labels (labelers,), -1 for none, their majority, the step of the first repeat."""
        if self.count == self.task.size:
            self._grow()
        k = self.count
        self.task[k], self.cell[k], self.context[k], self.ready[k] = task, cell, context, ready
        self.first[k], self.star[k], self.rounds[k] = labels, vote, 1
        self.tally[k, vote] = 1
        self.count += 1
        self.per_cell[cell] += 1
        self.agree[cell] += labels == vote
        self.seen[cell] += labels >= 0

    def repeat(self, place: int, vote: int, coin: float, ready: int) -> bool:
        """Count one more round; whether y*, the majority of the rounds (ties by the coin), has changed.

        place, vote: which tester, and the round's majority; coin: in [0, 1), for ties; ready: step from which it may be
        repeated again.
        """
        self.tally[place, vote] += 1
        self.rounds[place] += 1
        self.ready[place] = ready
        before = self.star[place]
        after = int(picked(self.tally[place : place + 1], 0.0, np.array([coin]))[0])
        if after == before:
            return False
        cell, first = self.cell[place], self.first[place]
        self.agree[cell] += (first == after).astype(np.int64) - (first == before)
        self.star[place] = after
        return True

    def under(self, most: float, cell: int) -> Ints:
        """Testers of a cell labelled at most so often."""
        if most < 1:  # one label is enough
            return np.zeros(0, np.int64)
        few = self.rounds[: self.count] <= most
        if self.per_cell.size > 1:
            few &= self.cell[: self.count] == cell
        return np.flatnonzero(few)

    def place_of(self, task: int) -> int:
        """The row of a tester's task."""
        return int(np.flatnonzero(self.task[: self.count] == task)[0])

    def accuracy(self) -> Floats:
        """``p'_i``: share of testers on which i's first label equals y*, (cells, labelers); 1/2 before the first."""
        return np.where(self.seen > 0, self.agree / np.maximum(self.seen, 1), 0.5)

    def sorted_into(self, cell: Ints, cells: int) -> None:
        """Sort the testers into new cells and count the tallies anew."""
        here, labelers = self.count, self.first.shape[1]
        self.cell[:here] = cell
        self.agree, self.seen = np.zeros((cells, labelers)), np.zeros((cells, labelers))
        np.add.at(self.agree, cell, self.first[:here] == self.star[:here, None])
        np.add.at(self.seen, cell, self.first[:here] >= 0)
        self.per_cell = np.bincount(cell, minlength=cells)

    def _grow(self) -> None:
        for name in self.COLUMNS:
            old = getattr(self, name)
            more = np.full((max(old.shape[0], ROOM), *old.shape[1:]), -1 if name == "first" else 0, old.dtype)
            setattr(self, name, np.concatenate([old, more]))
