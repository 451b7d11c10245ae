"""The pricing problem of blocks as compiled loops take it: a minimum knapsack, and how much is done to solve it."""

from __future__ import annotations

from typing import NamedTuple

from crowdopt.arrays import Floats, Ints


class Knapsack(NamedTuple):
    """``min sum cost_i a_i  s.t.  sum worth_i a_i >= need, a binary``; cost and worth (n,), worth at least 0."""

    cost: Floats
    worth: Floats
    need: float


class ErrorKnapsack(NamedTuple):
    """``min sum cost_l a_l  s.t.  error(a) <= target,  fewest <= sum a <= most,  0 <= a_l <= room_l, a whole``.

    Labels of skill s_l, descending, each at least 1/2, at prices of at least 0, (L,) each; ``error`` is that of the
    best vote over them where class 1 has the chance ``lean`` to begin with.
    """

    skill: Floats
    cost: Floats
    room: Ints
    lean: float
    target: float
    fewest: int
    most: int


class Effort(NamedTuple):
    """How far the bound may stay below the best set, relative to the LP; nodes of the search; cells of its grid.

    Beyond so many nodes the bound stays valid.
    """

    close: float
    nodes: int
    cells: int
