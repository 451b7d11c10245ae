"""States of a task: every way in which some of its askers can have voted, numbered.

An asker is a worker, or a class of workers alike of whom the votes for each label count. A state numbers the askers'
own states in mixed radix, the last asker's fastest; an asker's own states are its counts of labels, all 0 first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, product
from math import comb, factorial, prod

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, places


@dataclass(frozen=True, eq=False)
class Outcome:
    """One way in which a set of votes can fall: labels of each asker that is asked, and in how many orders."""

    added: tuple[tuple[int, tuple[int, ...]], ...]  # asker, labels of each class
    orders: int


@dataclass(frozen=True, eq=False)
class VoteStates:
    """The states of a task; ``members`` (askers,) says how many workers each asker stands for."""

    members: Ints
    classes: int

    @cached_property
    def own(self) -> tuple[Ints, ...]:
        """Counts of labels in each asker's own states, each (states of that asker, classes)."""
        return tuple(_counts(int(size), self.classes) for size in self.members)

    @cached_property
    def strides(self) -> Ints:
        """How far a state's number moves with each asker's own, (askers,)."""
        sizes = [len(own) for own in self.own]
        return np.array([prod(sizes[g + 1 :]) for g in range(len(sizes))], np.int64)

    @property
    def size(self) -> int:
        """States in all."""
        return prod(comb(size + self.classes, self.classes) for size in self.members.tolist())

    def place(self, asker: int) -> Ints:
        """The asker's own state in each state, (states,)."""
        return np.arange(self.size) // self.strides[asker] % len(self.own[asker])

    @cached_property
    def asked(self) -> Ints:
        """Votes of each asker in each state, (askers, states)."""
        return np.stack([own.sum(axis=1)[self.place(g)] for g, own in enumerate(self.own)])

    def joint(self, start: Floats, chance: Floats) -> Floats:
        """P(these votes in one order, class), (states, classes).

        start (branches, classes): before any vote, on each branch of the law; chance (branches, askers, classes,
        labels): of a label where a class is true.
        """
        total = np.zeros((self.size, self.classes))
        for b in range(len(start)):
            law = start[b][None]
            for g, own in enumerate(self.own):
                of_asker = np.stack([_products(own, chance[b, g, k]) for k in range(self.classes)], axis=1)
                law = (law[:, None] * of_asker[None]).reshape(-1, self.classes)
            total += law
        return total

    def outcomes(self, votes: tuple[int, ...]) -> Iterator[Outcome]:
        """Every way in which so many votes of each asker can fall."""
        asked = [g for g, number in enumerate(votes) if number]
        for labels in product(*(_exactly(votes[g], self.classes) for g in asked)):
            orders = prod(_orders(counts) for counts in labels)
            yield Outcome(tuple(zip(asked, labels, strict=True)), orders)

    def after(self, outcome: Outcome, states: Ints) -> Ints:
        """Where votes lead from each of the states, all of which have room for them."""
        reached = states.copy()
        for asker, labels in outcome.added:
            place = states // self.strides[asker] % len(self.own[asker])
            reached += (self._next(asker, labels)[place] - place) * self.strides[asker]
        return reached

    def ahead(self, votes: tuple[int, ...], states: Ints) -> tuple[Ints, Floats]:
        """Where each outcome of so many votes leads from states (k,) with room, (k, outcomes), and its orders."""
        reached, orders = states[:, None], np.ones(1)
        for g, number in enumerate(votes):
            if number:
                place, ways = states // self.strides[g] % len(self.own[g]), _exactly(number, self.classes)
                moves = np.stack([self._next(g, labels)[place] - place for labels in ways], axis=1) * self.strides[g]
                reached = (reached[:, :, None] + moves[:, None]).reshape(states.size, reached.shape[1] * len(ways))
                orders = np.outer(orders, [float(_orders(labels)) for labels in ways]).reshape(-1)
        return reached, orders

    def _next(self, asker: int, labels: tuple[int, ...]) -> Ints:
        """Where labels lead from each of the asker's own states; -1 where it has no room."""
        if (asker, labels) not in self._steps:
            known, more = self._places[asker], (self.own[asker] + np.array(labels)).tolist()
            self._steps[asker, labels] = np.array([known.get(tuple(counts), -1) for counts in more], np.int64)
        return self._steps[asker, labels]

    @cached_property
    def _steps(self) -> dict[tuple[int, tuple[int, ...]], Ints]:
        return {}

    @cached_property
    def _places(self) -> list[dict[tuple[int, ...], int]]:
        return [places(map(tuple, own.tolist())) for own in self.own]

    def votes(self, state: int) -> list[tuple[int, int, int]]:
        """Asker, label and how many votes, for those that a state has."""
        found = []
        for g, own in enumerate(self.own):
            counts = own[state // int(self.strides[g]) % len(own)]
            found += [(g, k, int(count)) for k, count in enumerate(counts.tolist()) if count]
        return found

    def number(self, counts: Ints) -> Ints:
        """The state of each task whose labels are counted; counts (tasks, askers, classes); -> (tasks,)."""
        total = np.zeros(len(counts), np.int64)
        for g in range(len(self.own)):
            known = self._places[g]
            total += np.array([known[tuple(row)] for row in counts[:, g].tolist()], np.int64) * int(self.strides[g])
        return total

    def room(self, votes: tuple[int, ...]) -> Bools:
        """Where so many more votes of each asker can be had, (states,)."""
        return (self.asked + np.array(votes)[:, None] <= self.members[:, None]).all(axis=0)


def _counts(members: int, classes: int) -> Ints:
    """Every count of at most so many labels by class, fewest labels first."""
    rows = [counts for total in range(members + 1) for counts in _exactly(total, classes)]
    return np.array(rows, np.int64).reshape(-1, classes)


def _exactly(total: int, classes: int) -> list[tuple[int, ...]]:
    """Every way to count so many labels by class: bars between stars; the first class's labels first."""
    bars = combinations(range(total + classes - 1), classes - 1)
    ends = [(-1, *places, total + classes - 1) for places in bars]
    return sorted((tuple(b - a - 1 for a, b in pairwise(row)) for row in ends), reverse=True)


def _orders(counts: tuple[int, ...]) -> int:
    return factorial(sum(counts)) // prod(factorial(count) for count in counts)


def _products(own: Ints, chance: Floats) -> Floats:
    powers = np.ones((int(own.max(initial=0)) + 1, chance.size))
    for n in range(1, len(powers)):
        powers[n] = powers[n - 1] * chance
    found = np.ones(len(own))
    for label in range(chance.size):
        found = found * powers[own[:, label], label]
    return found
