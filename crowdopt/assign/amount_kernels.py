"""A compiled loop that polishes whole amounts of labels per pair of classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.assign.state_kernels import CLOSE
from crowdopt.kernels import njit


class Amounts(NamedTuple):
    """Whole amounts of labels per row and class of workers, and what they may become."""

    amounts: np.ndarray  # (R, G): labels; written
    excess: np.ndarray  # (R,): evidence of the row beyond its need; written
    wanted: np.ndarray  # (R,): what it should have beyond
    worth: np.ndarray  # (R, G)
    cost: np.ndarray  # (R, G)
    upper: np.ndarray  # (R, G): the most labels
    left: np.ndarray  # (G,): what remains of each class's capacity; written
    spare: np.ndarray  # (1,): money that moves may still add to the cost; written


@njit(cache=True)
def _best_move(a, worst, rows):
    """The move that mends most of row a, which lacks ``worst``: other row (a: capacity left), what comes, what goes."""
    amounts, wanted, excess, worth, cost = rows.amounts, rows.wanted, rows.excess, rows.worth, rows.cost
    kinds, groups = amounts.shape
    best, kind, into, out = CLOSE, -1, -1, -1
    for x in range(groups):  # x comes to row a
        if amounts[a, x] >= rows.upper[a, x]:
            continue
        for y in range(groups):  # y leaves it
            if amounts[a, y] <= 0 or worth[a, x] <= worth[a, y]:
                continue
            up = worth[a, x] - worth[a, y]
            mended = worst**2 - max(0.0, worst - up) ** 2
            if rows.left[x] > 0 and cost[a, x] - cost[a, y] <= rows.spare[0] and mended > best:
                best, kind, into, out = mended, a, x, y
            for b in range(kinds):
                if b == a or amounts[b, x] <= 0 or amounts[b, y] >= rows.upper[b, y]:
                    continue
                lack = max(0.0, wanted[b] - excess[b])
                then = max(0.0, wanted[b] - excess[b] + worth[b, x] - worth[b, y])
                paid = cost[a, x] - cost[a, y] + cost[b, y] - cost[b, x]
                gain = mended + lack**2 - then**2
                if gain > best and paid <= rows.spare[0]:
                    best, kind, into, out = gain, b, x, y
    return kind, into, out


@njit(cache=True)
def _exchanged(t, into, out, rows):
    """Row t gets a label of one class for one of another."""
    rows.amounts[t, into] += 1
    rows.amounts[t, out] -= 1
    rows.excess[t] += rows.worth[t, into] - rows.worth[t, out]
    rows.spare[0] -= rows.cost[t, into] - rows.cost[t, out]


@njit(cache=True, nogil=True)
def shift(rows, moves, rung):
    """Polish whole amounts: exchanges of two rows, or with capacity left, that lower the sum of squared lacks.

    Each move helps the row that lacks most: it takes a label of class x for one of class y, from every other row that
    has an x, or of the capacity that x has left; all such moves are looked at and the one kept that lowers the sum of
    squares most within the money to spare. Squares, because near the LP's optimum exchanges only move a lack about,
    and what matters is that no row has a large one. It ends where no move helps, or after so many.

    rows: :class:`Amounts`.
    """
    for _ in range(moves):
        a, worst = -1, CLOSE
        for t in range(rows.wanted.size):
            if rows.wanted[t] - rows.excess[t] > worst:
                a, worst = t, rows.wanted[t] - rows.excess[t]
        if a < 0 or rung[0]:
            return
        kind, into, out = _best_move(a, worst, rows)
        if kind < 0:
            return
        _exchanged(a, into, out, rows)
        if kind == a:
            rows.left[into] -= 1
            rows.left[out] += 1
        else:
            _exchanged(kind, out, into, rows)
