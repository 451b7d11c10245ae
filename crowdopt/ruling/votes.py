"""Votes on a task as they come, and their exact law: of workers who come in any order, or of stages in theirs.

A state is all that a rule may look at. Of workers in any order it is how many said what: as each order is equally
likely, a sequence of labels is as likely as any other with these counts, and the workers of a task all differ:
``P(x | k) = sum over their subsets / how many``, a symmetric polynomial of their chances. Of stages: who said what.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, product

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.errors import InputError

STATES = 20_000  # at most


@dataclass(frozen=True, eq=False)
class VoteTree:
    """States in the order in which tasks can come to them, the first has no votes.

    Parameters
    ----------
    joint : (states, classes) float
        Chance of a class and of these votes in one order.
    counts : (states, outcomes) int
        How many said what.
    onward : (states, outcomes) int
        Where one more vote leads; -1 where there is none.
    asking : (states,) float
        Chance of these votes in one order, times the expected price of one more.
    """

    joint: Floats
    counts: Ints
    onward: Ints
    asking: Floats

    @cached_property
    def level(self) -> Ints:
        """Votes in each state, (states,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def said_last(self) -> Ints:
        """The label that leads to each state, of stages; -1 of the first, (states,)."""
        label = np.full(self.level.size, -1)
        for k, onward in enumerate(self.onward.T):
            label[onward[onward >= 0]] = k
        return label

    @cached_property
    def last(self) -> Bools:
        """Where nobody is left to ask, (states,)."""
        return np.asarray((self.onward < 0).all(axis=1))

    @cached_property
    def levels(self) -> list[Ints]:
        """The states with each number of votes."""
        return [np.flatnonzero(self.level == n) for n in range(int(self.level.max()) + 1)]

    def ways(self, stops: Bools) -> Floats:
        """In how many orders tasks come to each state, if they go no further where they stop, (states,)."""
        ways = np.zeros(self.level.size)
        ways[0] = 1.0
        for some in self.levels[:-1]:
            going = some[~stops[some]]
            for onward in self.onward[going].T:
                there = onward >= 0
                np.add.at(ways, onward[there], ways[going[there]])
        return ways


def in_any_order(share: Floats, chance: Floats, prior: Floats, price: Floats, most: int) -> VoteTree:
    """Votes of workers who come in any order, each once at most.

    share (parts,), chance (parts, workers, classes, outcomes): the law of their labels; prior (classes,); price
    (workers,): of a label; most: votes on a task, no more than there are workers.
    """
    _, workers, classes, outcomes = chance.shape
    if most > workers:
        raise InputError(f"a task has at most {workers} labels, one of each worker: {most} are asked for")
    ways = [c for n in range(most + 1) for c in combinations_with_replacement(range(outcomes), n)]
    if len(ways) > STATES:
        raise InputError(f"{most} labels of {outcomes} kinds fall in {len(ways)} ways, and {STATES} can be looked at")
    counts = np.array([np.bincount(way, minlength=outcomes) if way else np.zeros(outcomes, int) for way in ways])
    code = counts @ (most + 2) ** np.arange(outcomes)
    order = np.argsort(code)
    after = code[:, None] + (most + 2) ** np.arange(outcomes)
    onward = order[np.minimum(np.searchsorted(code[order], after), len(order) - 1)]
    onward[code[onward] != after] = -1
    level = counts.sum(axis=1)
    joint, paid = np.zeros((len(counts), classes)), np.zeros(len(counts))
    logs = np.cumsum(np.log(np.maximum(1, np.arange(most + 1))))  # of factorials
    drawn = np.cumprod(np.append(1.0, workers - np.arange(most)))[level]  # ways to choose the workers, in order
    one_order = np.exp(logs[counts].sum(axis=1)) / drawn
    before = np.full_like(onward, -1)
    for k in range(outcomes):
        there = np.flatnonzero(onward[:, k] >= 0)
        before[onward[there, k], k] = there
    for weight, tables in zip(share, chance, strict=True):
        for k in range(classes):
            found, spent = _subsets(tables[:, k], price, before, level)
            joint[:, k] += weight * prior[k] * found * one_order
            paid += weight * prior[k] * spent * one_order
    # the next one is any of those who have not voted, each as likely
    asking = (price.sum() * joint.sum(axis=1) - paid) / np.maximum(1, workers - level)
    return VoteTree(joint, counts, onward, asking)


def _subsets(chance: Floats, price: Floats, before: Ints, level: Ints) -> tuple[Floats, Floats]:
    """``sum over disjoint sets of workers of prod P_j(their label)``, and times what these are paid, (states,) each.

    chance (workers, outcomes); before (states, outcomes): the state without one of these votes.
    """
    found, spent = np.zeros((2, level.size))
    found[0] = 1.0
    groups = [np.flatnonzero(level == n) for n in range(int(level.max()), 0, -1)]
    for row, cost in zip(chance, price.tolist(), strict=True):
        for some in groups:  # the most votes first: sets of one worker fewer are still those without this one
            came = before[some]
            sets = np.where(came >= 0, found[came], 0.0) @ row
            spent[some] += np.where(came >= 0, spent[came], 0.0) @ row + cost * sets
            found[some] += sets
    return found, spent


def in_stages(share: Floats, chance: Floats, prior: Floats, price: Floats) -> VoteTree:
    """Votes of some workers in their order; chance (parts, stages, classes, outcomes), price (stages,): of each."""
    _, stages, classes, outcomes = chance.shape
    said = [way for n in range(stages + 1) for way in product(range(outcomes), repeat=n)]
    if len(said) > STATES:
        raise InputError(f"{stages} stages of {outcomes} labels make {len(said)} ways, and {STATES} can be looked at")
    place = {way: k for k, way in enumerate(said)}
    joint = np.zeros((len(said), classes))
    for weight, tables in zip(share, chance, strict=True):
        part = [weight * prior]
        for way in said[1:]:
            part.append(part[place[way[:-1]]] * tables[len(way) - 1, :, way[-1]])
        joint += np.array(part)
    counts = np.array([np.bincount(way, minlength=outcomes) if way else np.zeros(outcomes, int) for way in said])
    onward = np.array([[place.get((*way, k), -1) for k in range(outcomes)] for way in said])
    asking = joint.sum(axis=1) * np.append(price, 0.0)[counts.sum(axis=1)]
    return VoteTree(joint, counts, onward, asking)
