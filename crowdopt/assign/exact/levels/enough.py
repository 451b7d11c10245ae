"""What makes a set of labels enough for a task: its evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.exact.blocks import EFFORT
from crowdopt.assign.exact.knapsacks import Effort, Knapsack
from crowdopt.crowd.classes import Classes

KEPT = 8  # sets that one search returns
COARSE = Effort(close=1e-6, nodes=10_000, cells=500)  # many items, of which few are taken: what is tried first
SMALL = 1e-9  # evidence; a skill worth less is no help


@dataclass(frozen=True, eq=False)
class Enough:
    """``sum of worths >= floor_t``: a minimum knapsack."""

    classes: Classes

    def most(self, kind: int, tops: Floats) -> Ints:
        """Labels of each level that a set can make use of, (L,)."""
        enough: Ints = np.ceil(self.classes.need[kind] / np.maximum(tops, SMALL)).astype(np.int64) + 1
        return enough

    def holds(self, kind: int, worth: Floats) -> bool:
        """Whether labels of these worths are enough."""
        return bool(worth.sum() >= self.classes.floor[kind])

    def cheapest(self, kind: int, value: Floats, tops: Floats, items: Ints) -> tuple[float, list[Ints]]:
        """A lower bound on what a set costs, and the cheapest sets met, as sorted levels; roughly first.

        kind: class of tasks; value, tops (L,): price of a label of each level, and what it is worth; items (k,): the
        level of each label that a set can have, sorted.
        """
        from crowdopt.assign.exact import kernels

        sets, sizes = np.empty((KEPT, items.size), np.int64), np.empty(KEPT, np.int64)
        knapsack = Knapsack(value[items], tops[items], self.classes.floor[kind])
        bound, best = kernels.cheapest_set(knapsack, COARSE, sets, sizes)
        if best - bound > COARSE.close * abs(best):
            bound, _ = kernels.cheapest_set(knapsack, EFFORT, sets, sizes)
        return bound, [np.sort(items[sets[s, : sizes[s]]]) for s in range(KEPT) if sizes[s] >= 0]
