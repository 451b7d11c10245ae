"""A compiled loop that polishes whole amounts of labels per pair of classes."""

from __future__ import annotations

from crowdopt.assign.exact.kernels.sharing import CLOSE
from crowdopt.compiled_kernels import njit

SHIFTS = 400  # moves


@njit(cache=True, nogil=True)
def shift(amounts, excess, wanted, worth, cost, upper, left, spare, rung):
    """Polish whole amounts (T, G): exchanges of two rows, or with capacity left, that lower the sum of squared lacks.

    Each move helps the row that lacks most: it takes a label of class x for one of class y, from every other row that
    has an x, or of the capacity that x has left; all such moves are looked at and the one kept that lowers the sum of
    squares most within the money to spare. Squares, because near the LP's optimum exchanges only move a lack about,
    and what matters is that no row has a large one. It ends where no move helps, or after SHIFTS.

    amounts, upper (T, G) int: labels per row and worker class, written, and the most of them; excess, wanted (T,):
    evidence of the row beyond its need, written, and what it should have beyond; worth, cost (T, G): evidence and price
    of a label; left (G,) int: what remains of each class's capacity; written; spare (1,): money that moves may still
    add to the cost; written; rung (1,) bool: whether time is up: the loop looks at it and ends.
    """
    kinds, groups = amounts.shape
    for _ in range(SHIFTS):
        a, worst = -1, CLOSE
        for t in range(kinds):
            if wanted[t] - excess[t] > worst:
                a, worst = t, wanted[t] - excess[t]
        if a < 0 or rung[0]:
            return
        best, kind, into, out = CLOSE, -1, -1, -1
        for x in range(groups):  # x comes to row a
            if amounts[a, x] >= upper[a, x]:
                continue
            for y in range(groups):  # y leaves it
                if amounts[a, y] <= 0 or worth[a, x] <= worth[a, y]:
                    continue
                up = worth[a, x] - worth[a, y]
                mended = worst**2 - max(0.0, worst - up) ** 2
                if left[x] > 0 and cost[a, x] - cost[a, y] <= spare[0] and mended > best:
                    best, kind, into, out = mended, a, x, y
                for b in range(kinds):
                    if b == a or amounts[b, x] <= 0 or amounts[b, y] >= upper[b, y]:
                        continue
                    lack = max(0.0, wanted[b] - excess[b])
                    then = max(0.0, wanted[b] - excess[b] + worth[b, x] - worth[b, y])
                    paid = cost[a, x] - cost[a, y] + cost[b, y] - cost[b, x]
                    gain = mended + lack**2 - then**2
                    if gain > best and paid <= spare[0]:
                        best, kind, into, out = gain, b, x, y
        if kind < 0:
            return
        amounts[a, into] += 1
        amounts[a, out] -= 1
        excess[a] += worth[a, into] - worth[a, out]
        spare[0] -= cost[a, into] - cost[a, out]
        if kind == a:
            left[into] -= 1
            left[out] += 1
        else:
            amounts[kind, into] -= 1
            amounts[kind, out] += 1
            excess[kind] += worth[kind, out] - worth[kind, into]
            spare[0] -= cost[kind, out] - cost[kind, into]
