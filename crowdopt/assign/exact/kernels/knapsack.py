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

    sets (k, n), sizes (k,): receive the last k sets found, the best one first; sizes of -1 where there are fewer; -> a
    lower bound; inf if all items together do not meet the need; -> the cost of the best set.
    """
    cost, worth, n = knapsack.cost, knapsack.worth, knapsack.cost.size
    for s in range(sizes.size):
        sizes[s] = -1
    inside, useful, ratio = np.zeros(n, np.bool_), np.empty(n, np.int64), np.empty(n)
    paid, slack, many = 0.0, 0.0, 0
    for i in range(n):
        if cost[i] <= 0:
            inside[i] = True
            paid += cost[i]
            slack += worth[i]
        elif worth[i] > 0:
            useful[many], ratio[many], many = i, cost[i] / worth[i], many + 1
    slack -= knapsack.need
    order = ranked(ratio, many)
    k = 0
    while k < many and slack < 0:
        i = useful[order[k]]
        inside[i] = True
        paid += cost[i]
        slack += worth[i]
        k += 1
    if slack < 0:
        return np.inf, np.inf
    _write(sets, sizes, inside)
    if k == 0:
        return paid, paid
    last = useful[order[k - 1]]
    price = cost[last] / worth[last]
    linear = paid - price * slack
    close = effort.close * max(linear, cost[useful[order[0]]])
    core, size = np.empty(many, np.int64), 0
    for t in range(many):
        i = useful[order[t]]
        turn = abs(cost[i] - price * worth[i]) if t != k - 1 else 0.0
        if linear + turn < paid - close:
            core[size], size = i, size + 1
    if size == 0:
        return linear, paid
    core = core[:size]
    return _search(knapsack, effort, core, inside, (paid, slack, linear, close), sets, sizes)


@njit(cache=True, inline="always")
def _search(knapsack, effort, core, inside, start, sets, sizes):
    """Depth first over the core, dearest evidence last; what is pruned costs at least ``best - close``."""
    # Each item in turn is taken, then left, and with it its twins; a branch ends where what completes it at least
    # costs as much as the best set. ``start``: cost and slack of the items inside, the LP's value, close in the unit
    # of cost.
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
    rest = _completions(core, cost, worth, unit, cells)
    bound = max(bound, min(best, paid + rest[0, cells]))
    taken = np.zeros(n, np.bool_)
    k, spent, left, nodes = 0, paid, lack, 0
    while nodes <= effort.nodes:
        if left <= 0 and spent < best:
            best = spent
            _write(sets, sizes, chosen)
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


@njit(cache=True, inline="always")
def _completions(core, cost, worth, unit, cells):
    """``rest[k, x]``: at least what the core from item k on costs for x cells of evidence, theirs rounded up."""
    n = core.size
    rest = np.empty((n + 1, cells + 1))
    rest[n, 0] = 0.0
    for x in range(1, cells + 1):
        rest[n, x] = np.inf
    for k in range(n - 1, -1, -1):
        i = core[k]
        wide = min(cells, int(np.ceil(worth[i] / unit)))
        for x in range(cells + 1):
            rest[k, x] = min(rest[k + 1, x], cost[i] + rest[k + 1, max(0, x - wide)])
    return rest


@njit(cache=True, no_cpython_wrapper=True)
def _write(sets, sizes, chosen):
    """Put a set before those found, the last of which is forgotten."""
    for s in range(sizes.size - 1, 0, -1):
        sizes[s] = sizes[s - 1]
        for k in range(sizes[s]):
            sets[s, k] = sets[s - 1, k]
    sizes[0] = 0
    for i in range(chosen.size):
        if chosen[i]:
            sets[0, sizes[0]] = i
            sizes[0] += 1


@njit(cache=True, no_cpython_wrapper=True)
def ranked(values, n):
    """The order in which the first n values ascend, equal ones as they come: runs of 1, 2, 4, ... are merged."""
    order, other, wide = np.arange(n), np.empty(n, np.int64), 1
    while wide < n:
        for start in range(0, n, 2 * wide):
            a, middle, end = start, min(start + wide, n), min(start + 2 * wide, n)
            b = middle
            for k in range(start, end):
                if a < middle and (b >= end or values[order[a]] <= values[order[b]]):
                    other[k], a = order[a], a + 1
                else:
                    other[k], b = order[b], b + 1
        order, other, wide = other, order, 2 * wide
    return order
