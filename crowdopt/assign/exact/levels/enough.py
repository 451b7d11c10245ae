"""What makes a set of labels enough for a task: its evidence, or the exact error of the vote over it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.exact.blocks import EFFORT
from crowdopt.assign.exact.knapsacks import Effort, ErrorKnapsack, Knapsack
from crowdopt.crowd.classes import Classes, firsts
from crowdopt.crowd.exactness import CERTAIN
from crowdopt.crowd.voting import weighted_error
from crowdopt.elementary import expm1

KEPT = 8  # sets that one search returns
COARSE = Effort(close=1e-6, nodes=10_000, cells=500)  # many items, of which few are taken: what is tried first
DEEPEST, WORK = 12, 100_000_000  # labels of a set, and answers to sets, looked at; the rest is only bounded
SMALL = 1e-9  # evidence; a skill worth less is no help


class Enough(Protocol):
    """Which sets will do for the tasks of a class, and the cheapest of them."""

    def most(self, kind: int, tops: Floats) -> Ints:
        """Labels of each level that a set can make use of, (L,)."""

    def holds(self, kind: int, worth: Floats) -> bool:
        """Whether labels of these worths are enough."""

    def cheapest(self, kind: int, value: Floats, tops: Floats, items: Ints, limit: float) -> tuple[float, list[Ints]]:
        """A lower bound on what a set costs, and the cheapest sets met, as sorted levels.

        Parameters
        ----------
        kind : int
            Class of tasks.
        value, tops : (L,) float
            Price of a label of each level, and what it is worth.
        items : (k,) int
            The level of each label that a set can have, sorted.
        limit : float
            What a set that is known costs; infinite where none is.
        """


@dataclass(frozen=True, eq=False)
class ByEvidence:
    """``sum of worths >= floor_t``: a minimum knapsack."""

    classes: Classes

    def most(self, kind: int, tops: Floats) -> Ints:
        """As many as give all the evidence by themselves."""
        enough: Ints = np.ceil(self.classes.need[kind] / np.maximum(tops, SMALL)).astype(np.int64) + 1
        return enough

    def holds(self, kind: int, worth: Floats) -> bool:
        """Whether the evidence is enough."""
        return bool(worth.sum() >= self.classes.floor[kind])

    def cheapest(self, kind: int, value: Floats, tops: Floats, items: Ints, limit: float) -> tuple[float, list[Ints]]:
        """By the knapsacks of the exact method, roughly first."""
        from crowdopt.assign.exact import kernels

        sets, sizes = np.empty((KEPT, items.size), np.int64), np.empty(KEPT, np.int64)
        knapsack = Knapsack(value[items], tops[items], self.classes.floor[kind])
        bound, best = kernels.cheapest_set(knapsack, COARSE, sets, sizes)
        if best - bound > COARSE.close * abs(best):
            bound, _ = kernels.cheapest_set(knapsack, EFFORT, sets, sizes)
        return bound, [np.sort(items[sets[s, : sizes[s]]]) for s in range(KEPT) if sizes[s] >= 0]


@dataclass(frozen=True, eq=False)
class ByError:
    """``exact error of the vote by log-odds <= epsilon``, two classes; worths are the evidence ``-ln 4p(1 - p)``.

    Parameters
    ----------
    classes : Classes
        Whose tasks of a class have one target and one prior.
    """

    classes: Classes

    def most(self, kind: int, tops: Floats) -> Ints:
        """As many as a set that is followed can have."""
        return np.where(tops > SMALL, DEEPEST, 0).astype(np.int64)

    def holds(self, kind: int, worth: Floats) -> bool:
        """Whether the vote errs little enough."""
        lean, target = self._asked(kind)
        return bool(weighted_error(skill_of(worth), prior=lean) <= target)

    def cheapest(self, kind: int, value: Floats, tops: Floats, items: Ints, limit: float) -> tuple[float, list[Ints]]:
        """By branch and bound over the levels, the best first."""
        from crowdopt.assign.exact import kernels

        lean, target = self._asked(kind)
        sets, sizes = np.zeros((KEPT, DEEPEST), np.int64), np.empty(KEPT, np.int64)
        room = np.bincount(items, minlength=tops.size)[::-1].copy()
        skill, price = skill_of(tops)[::-1].copy(), np.maximum(value, 0.0)[::-1].copy()
        fewest, most = int(self.classes.fewest[kind]), int(min(self.classes.most[kind], self.classes.room[kind].sum()))
        asked = ErrorKnapsack(skill, price, room, lean, target, fewest, most)
        bound = kernels.cheapest_by_error(asked, limit, WORK, sets, sizes)
        return bound, [np.sort(tops.size - 1 - sets[s, : sizes[s]]) for s in range(KEPT) if sizes[s] >= 0]

    def _asked(self, kind: int) -> tuple[float, float]:
        """The chance of class 1 before any label, and the error that is allowed."""
        lean, target = self._of_kinds
        return float(lean[kind]), float(target[kind]) + CERTAIN

    @cached_property
    def _of_kinds(self) -> tuple[Floats, Floats]:
        """Prior of class 1 and target of each class of tasks, (T,) each."""
        instance, first = self.classes.instance, firsts(self.classes.task_class)
        return np.broadcast_to(instance.prior, (instance.n_tasks, 2))[first, 1], instance.epsilon[first]


def skill_of(evidence: Floats) -> Floats:
    """The skill p of at least 1/2 whose evidence is ``a = -ln 4p(1 - p)``: ``p = (1 + sqrt(1 - e^-a)) / 2``.

    Parameters
    ----------
    evidence : array of float
        a, of any shape.

    Returns
    -------
    array of float
        Of the same shape.
    """
    skill: Floats = 0.5 * (1.0 + np.sqrt(-expm1(-np.maximum(evidence, 0.0))))
    return skill
