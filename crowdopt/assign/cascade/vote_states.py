"""States of a task: every way in which some of its askers can have voted, numbered.

An asker is a worker, or a class of workers alike of whom the votes for each label count. A state numbers the askers'
own states in mixed radix, the last asker's fastest; an asker's own states are its counts of labels, all 0 first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np

from crowdopt.arrays import Floats, Ints, places
from crowdopt.crowd.asking_orders import Votes


@dataclass(frozen=True, eq=False)
class VoteStates:
    """The states of a task; ``members`` (askers,) says how many workers each asker stands for."""

    members: Ints
    classes: int

    @cached_property
    def own(self) -> tuple[Ints, ...]:
        """Counts of labels in each asker's own states, fewest labels first, each (states of that asker, classes)."""
        every = ([way for n in range(size + 1) for way in falls(n, self.classes)] for size in self.members.tolist())
        return tuple(np.array(ways, np.int64) for ways in every)

    @cached_property
    def strides(self) -> list[int]:
        """How far a state's number moves with each asker's own, (askers,)."""
        sizes = [len(own) for own in self.own]
        return [prod(sizes[g + 1 :]) for g in range(len(sizes))]

    @property
    def size(self) -> int:
        """States in all; there may be more of them than can be listed."""
        return prod(comb(size + self.classes, self.classes) for size in self.members.tolist())

    def place(self, asker: int, states: Ints) -> Ints:
        """The asker's own state in each of these."""
        return states // self.strides[asker] % len(self.own[asker])

    @property
    def asked(self) -> Ints:
        """Votes of each asker in each state, (askers, states)."""
        every = np.arange(self.size)
        return np.stack([own.sum(axis=1)[self.place(g, every)] for g, own in enumerate(self.own)])

    def joint(self, prior: Floats, share: Floats, chance: Floats) -> Floats:
        """P(these votes in one order, class), (states, classes).

        share (parts,): of a law's parts; chance (parts, askers, classes, labels): of a label where a class is true.
        """
        total = np.zeros((self.size, self.classes))
        for weight, tables in zip(share, chance, strict=True):
            law = (weight * prior)[None]
            for own, table in zip(self.own, tables, strict=True):
                each = np.broadcast_to(table, (int(own.max(initial=0)), *table.shape))
                powers = np.cumprod(np.concatenate([np.ones((1, *table.shape)), each]), axis=0)
                of_asker = powers[own, :, np.arange(self.classes)].prod(axis=1)
                law = (law[:, None] * of_asker).reshape(-1, self.classes)
            total += law
        return total

    def ahead(self, votes: tuple[int, ...], states: Ints) -> tuple[Ints, Floats]:
        """Where each outcome of so many votes leads from states (k,) with room, (k, outcomes), and in how many orders.

        votes: of each asker.
        """
        reached, orders = states[:, None], np.ones(1)
        for g, number in enumerate(votes):
            if number:
                place, ways = self.place(g, states), falls(number, self.classes)
                moves = np.stack([self._next(g, labels)[place] - place for labels in ways], axis=1) * self.strides[g]
                reached = (reached[:, :, None] + moves[:, None]).reshape(states.size, -1)
                each = [factorial(number) // prod(map(factorial, labels)) for labels in ways]
                orders = np.outer(orders, np.array(each, np.float64)).reshape(-1)
        return reached, orders

    def _next(self, asker: int, labels: tuple[int, ...]) -> Ints:
        """Where labels lead from each of the asker's own states; -1 where it has no room."""
        if (asker, labels) not in self._steps:
            self._steps[asker, labels] = self._found(asker, self.own[asker] + np.array(labels))
        return self._steps[asker, labels]

    @cached_property
    def _steps(self) -> dict[tuple[int, tuple[int, ...]], Ints]:
        return {}

    @cached_property
    def _places(self) -> list[dict[tuple[int, ...], int]]:
        return [places(map(tuple, own.tolist())) for own in self.own]

    def _found(self, asker: int, counts: Ints) -> Ints:
        """The asker's own state of each row of counts."""
        return np.array([self._places[asker].get(tuple(row), -1) for row in counts.tolist()], np.int64)

    def votes(self, state: int) -> Votes:
        """Asker, label and how many votes, for those that a state has."""
        counts = np.stack([own[state // stride % len(own)] for own, stride in zip(self.own, self.strides, strict=True)])
        asker, label = np.nonzero(counts)
        return tuple(zip(asker.tolist(), label.tolist(), counts[asker, label].tolist(), strict=True))

    def number(self, counts: Ints) -> Ints:
        """The state of each task whose labels are counted; counts (tasks, askers, classes); -> (tasks,)."""
        return sum((self._found(g, counts[:, g]) * by for g, by in enumerate(self.strides)), np.zeros(1, np.int64))


def falls(total: int, classes: int) -> list[tuple[int, ...]]:
    """Every way in which so many labels can fall, counted by class; the first class's labels first."""
    every = combinations_with_replacement(range(classes), total)
    return [tuple(map(labels.count, range(classes))) for labels in every]
