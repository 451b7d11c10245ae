"""The pricing problem of blocks as compiled loops take it: a minimum knapsack, and how much is done to solve it."""

from __future__ import annotations

from typing import NamedTuple

from crowdopt.arrays import Floats


class Knapsack(NamedTuple):
    """``min sum cost_i a_i  s.t.  sum worth_i a_i >= need, a binary``; cost and worth (n,), worth at least 0."""

    cost: Floats
    worth: Floats
    need: float


class Effort(NamedTuple):
    """How far the bound may stay below the best set, relative to the LP; nodes of the search; cells of its grid.

    Beyond so many nodes the bound stays valid.
    """

    close: float
    nodes: int
    cells: int
