"""The compiled pricing problem: the cheapest set of labels that gives one task its evidence."""

from __future__ import annotations

import numpy as np

from crowdopt.compiled_kernels import njit

MEMORY = 10_000_000  # numbers in the table of completions


@njit(cache=True)
def cheapest_set(knapsack, effort, sets, sizes):
    """``min sum cost_i a_i  s.t.  sum worth_i a_i >= need, a binary``: a minimum knapsack, to within ``effort.close``.

    Items by ratio up to the one that meets the need solve its LP; ``d_i = |cost_i - lambda worth_i|`` is what turning
    item i over costs at least, so an item with ``LP + d_i`` above the best set found keeps its place. The others are
    searched depth first, with a dynamic programme on a grid, evidence rounded up, as the bound of what completes a set.

    Parameters
    ----------
    knapsack : Knapsack
    effort : Effort
    sets, sizes : (k, n) and (k,) int
        Receive the last k sets found, the best one first; sizes of -1 where there are fewer.

    Returns
    -------
    float
        A lower bound; inf if all items together do not meet the need.
    float
        The cost of the best set.
    """
    cost, worth = knapsack.cost, knapsack.worth
    sizes[:] = -1
    inside = cost <= 0
    paid, slack = cost[inside].sum(), worth[inside].sum() - knapsack.need
    useful = np.flatnonzero(~inside & (worth > 0))
    useful = useful[np.argsort(cost[useful] / worth[useful], kind="mergesort")]
    k = 0
    while k < useful.size and slack < 0:
        inside[useful[k]] = True
        paid += cost[useful[k]]
        slack += worth[useful[k]]
        k += 1
    if slack < 0:
        return np.inf, np.inf
    _write(sets[0], sizes, 0, inside)
    if k == 0:
        return paid, paid
    price = cost[useful[k - 1]] / worth[useful[k - 1]]
    linear = paid - price * slack
    close = effort.close * max(linear, cost[useful[0]])
    turn = np.abs(cost[useful] - price * worth[useful])
    turn[k - 1] = 0.0
    core = useful[linear + turn < paid - close]
    if core.size == 0:
        return linear, paid
    return _search(knapsack, effort, core, inside, (paid, slack, linear, close), sets, sizes)


@njit(cache=True)
def _search(knapsack, effort, core, inside, start, sets, sizes):
    """Depth first over the core, dearest evidence last; what is pruned costs at least ``best - close``.

    Each item in turn is taken, then left, and with it its twins; a branch ends where what completes it at least costs
    as much as the best set. ``start``: cost and slack of the items inside, the LP's value, close in the unit of cost.
    """
    cost, worth, (paid, slack, bound, close) = knapsack.cost, knapsack.worth, start
    best, chosen = paid, inside.copy()
    for i in core:
        if inside[i]:
            chosen[i] = False
            paid -= cost[i]
            slack -= worth[i]
    n, lack = core.size, -slack
    cells = min(effort.cells, MEMORY // (n + 1))
    unit = lack / cells
    rest = _completions(cost[core], worth[core], unit, cells)
    bound = max(bound, min(best, paid + rest[0, cells]))
    taken = np.zeros(n, np.bool_)
    k, spent, left, nodes = 0, paid, lack, 0
    while nodes <= effort.nodes:
        if left <= 0 and spent < best:
            best = spent
            for s in range(sizes.size - 1, 0, -1):
                sets[s], sizes[s] = sets[s - 1], sizes[s - 1]
            _write(sets[0], sizes, 0, chosen)
        if left > 0 and k < n and spent + rest[k, min(cells, int(np.ceil(left / unit - 1e-9)))] < best - close:
            nodes += 1
            i, step = core[k], 1.0
            k += 1
        else:
            k -= 1
            while k >= 0 and not taken[k]:
                k -= 1
            if k < 0:
                return max(bound, best - close), best
            i, step = core[k], -1.0
            k += 1
        taken[k - 1] = chosen[i] = step > 0
        spent += step * cost[i]
        left -= step * worth[i]
        while step < 0 and k < n and cost[core[k]] == cost[i] and worth[core[k]] == worth[i]:
            taken[k] = False  # without this label, there is no point in its twins
            k += 1
    return bound, best


@njit(cache=True)
def _completions(cost, worth, unit, cells):
    """``rest[k, x]``: at least what the items k and after cost for x cells of evidence, theirs rounded up."""
    n = cost.size
    rest = np.empty((n + 1, cells + 1))
    rest[n, 0] = 0.0
    rest[n, 1:] = np.inf
    for k in range(n - 1, -1, -1):
        wide = min(cells, int(np.ceil(worth[k] / unit)))
        for x in range(cells + 1):
            rest[k, x] = min(rest[k + 1, x], cost[k] + rest[k + 1, max(0, x - wide)])
    return rest


@njit(cache=True)
def _write(places, sizes, s, chosen):
    size = 0
    for i in range(chosen.size):
        if chosen[i]:
            places[size] = i
            size += 1
    sizes[s] = size
