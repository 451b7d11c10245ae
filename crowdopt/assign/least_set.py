"""The compiled pricing problem of one task: the cheapest set of workers that gives it its evidence.

``min sum p_j y_j  s.t.  sum q_j y_j >= need, y binary`` over workers that are not out of the question. Workers come by
ratio p/q: as far as the need is met they solve the linear program, ``rate`` its multiplier. Turning worker j over
costs at least ``|p_j - rate q_j|``, so only those are looked at for whom that may pay (the core). The core is searched
depth first, the best ratio first; what is left open costs at least the linear program of the rest, at least the fewest
labels that could be enough at the lowest price, and at least what a table says that serves all tasks of a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.kernels import njit

HAIR = 1e-12  # evidence; rounding in a sum of labels
CELLS = 400  # of evidence in a table of what is left open
SORTED_BY_HAND = 48  # workers up to whom an insertion sort is the fastest


class Desk(NamedTuple):
    """Room to work in, and the answer: ``found[:labels[0]]`` is the set, ``rate[0]`` the price of evidence."""

    skip: np.ndarray  # workers who are out of the question
    core: np.ndarray
    place: np.ndarray  # of those in the order
    low: np.ndarray  # lowest price from here on
    high: np.ndarray  # most evidence from here on
    taken: np.ndarray
    found: np.ndarray
    base: np.ndarray  # taken before the core
    labels: np.ndarray
    rate: np.ndarray


@njit(cache=True, nogil=True)
def new_desk(m):
    """Room for m workers."""
    return Desk(
        np.zeros(m, np.bool_),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(m + 1),
        np.empty(m + 1),
        np.empty(m, np.bool_),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1),
    )


@njit(cache=True, nogil=True)
def rank(price, worth, order, ratio):
    """Workers with evidence and a positive price by ratio, the lowest first.

    order, ratio (workers,), written: the workers, and p/q of each.
    """
    n = 0
    for j in range(price.size):
        if worth[j] > 0 and price[j] > 0:
            order[n] = j
            ratio[n] = price[j] / worth[j]
            n += 1
    if n > SORTED_BY_HAND:
        place = np.argsort(ratio[:n], kind="mergesort")
        who, key = order[:n].copy(), ratio[:n].copy()
        for k in range(n):  # a slice assigned takes longer to compile than all of this
            order[k], ratio[k] = who[place[k]], key[place[k]]
        return n
    for k in range(1, n):
        j, key, at = order[k], ratio[k], k
        while at > 0 and ratio[at - 1] > key:
            order[at], ratio[at] = order[at - 1], ratio[at - 1]
            at -= 1
        order[at], ratio[at] = j, key
    return n


@njit(cache=True, nogil=True)
def no_rests():
    """No table of what is left open."""
    return np.empty((0, 0)), 1.0


@njit(cache=True, nogil=True)
def rests_of(n, order, price, worth, need):
    """What workers from each place of the order on cost at least for each number of cells; evidence of a cell.

    need: the most that a task of the row needs; -> (n + 1, cells + 1), float: cells are rounded up, so that no set
    costs less, whoever of these workers a task may have.
    """
    unit = need / CELLS
    rests = np.full((n + 1, CELLS + 1), np.inf)
    rests[n, 0] = 0.0
    for k in range(n - 1, -1, -1):
        p, width = price[order[k]], int(np.ceil(worth[order[k]] / unit - HAIR))
        for x in range(CELLS + 1):
            rests[k, x] = min(rests[k + 1, x], p + rests[k + 1, max(0, x - width)])
    return rests, unit


@njit(cache=True, nogil=True, inline="always")
def _rest(rests, place, left):
    """What evidence costs at least from a place on; 0 where there is no table."""
    table, unit = rests
    if table.shape[0] == 0 or left <= HAIR:
        return 0.0
    return table[place, min(CELLS, int(np.ceil(left / unit - 1e-9)))]


@njit(cache=True, nogil=True)
def least_set(n, order, price, worth, need, close, nodes, rests, desk):
    """A lower bound on the cheapest set, and a set in ``desk``.

    n, order int and (workers,) int: workers by ratio, how many and who; need: evidence that the set must have; close:
    how far the bound may stay below the set, relative to its cost; nodes: of the search; beyond, the bound is what was
    known before it; rests: of :func:`rests_of` or :func:`no_rests`; desk: says who is out of the question; takes the
    set and the price of evidence; -> bound, cost: of the cheapest set, and of the one found; infinite where all
    together do not meet the need.
    """
    skip, found, labels = desk.skip, desk.found, desk.labels
    labels[0], desk.rate[0] = 0, 0.0
    if need <= HAIR:
        return 0.0, 0.0
    paid, have, last, size = 0.0, 0.0, -1, 0
    for k in range(n):
        j = order[k]
        if skip[j]:
            continue
        found[size], size = j, size + 1
        paid += price[j]
        have += worth[j]
        if have >= need - HAIR:
            last = k
            break
    if last < 0:
        return np.inf, np.inf
    rate = price[order[last]] / worth[order[last]]
    linear = paid - rate * max(0.0, have - need)
    desk.rate[0] = rate
    labels[0] = size
    best = _improved(n, last, order, price, worth, need, paid, have, desk)
    close = close * best
    floor = max(linear, _rest(rests, 0, need))
    if best - floor <= close:
        return min(floor, best), best
    size, kept = _in_core(n, order, last, rate, best - linear - close, price, worth, desk)
    return _searched(size, kept, floor, best, close, price, worth, need, nodes, rests, desk)


@njit(cache=True, nogil=True, inline="always")
def _improved(n, last, order, price, worth, need, paid, have, desk):
    """The greedy set with a cheaper last label, or without one that it can spare; its cost."""
    skip, found, size = desk.skip, desk.found, desk.labels[0]
    end = order[last]
    rest = need - (have - worth[end])
    best, pick = price[end], end
    for k in range(last + 1, n):
        j = order[k]
        if price[j] * rest >= best * worth[j]:
            break
        if not skip[j] and worth[j] >= rest - HAIR and price[j] < best:
            best, pick = price[j], j
    over = have - need
    spare, which = price[end] - best, -1
    for k in range(size - 1):
        j = found[k]
        if worth[j] <= over + HAIR and price[j] > spare:
            spare, which = price[j], k
    if which >= 0:
        found[which] = found[size - 1]
        desk.labels[0] = size - 1
    else:
        found[size - 1] = pick
    return paid - spare


@njit(cache=True, nogil=True, inline="always")
def _in_core(n, order, last, rate, gap, price, worth, desk):
    """Who may be turned over for less than the gap goes to the core; its size, and how many stay in the set anyway."""
    skip, core, taken = desk.skip, desk.core, desk.taken
    size = kept = 0
    for k in range(n):
        j = order[k]
        if skip[j]:
            continue
        if k == last or abs(price[j] - rate * worth[j]) < gap:
            core[size], desk.place[size], taken[size], size = j, k, False, size + 1
        elif k < last:
            desk.base[kept], kept = j, kept + 1
    return size, kept


@njit(cache=True, nogil=True, inline="always")
def _searched(size, kept, bound, best, close, price, worth, need, nodes, rests, desk):
    """Depth first over the core; what is pruned costs at least ``best - close``."""
    core, taken, spent, left = desk.core, desk.taken, 0.0, need
    for k in range(kept):
        spent += price[desk.base[k]]
        left -= worth[desk.base[k]]
    low, high = desk.low, desk.high
    low[size], high[size] = np.inf, 0.0
    for k in range(size - 1, -1, -1):
        low[k], high[k] = min(low[k + 1], price[core[k]]), max(high[k + 1], worth[core[k]])
    k, tried, descend = 0, 0, True
    while True:
        if descend:
            tried += 1
            if left <= HAIR:
                if spent < best:
                    best = spent
                    _keep(kept, k, desk)
                descend = False
                continue
            if tried > nodes:
                return bound, best
            ahead = spent + _completed(k, size, left, price, worth, desk)
            if k < size and ahead < best - close:
                ahead = spent + _rest(rests, desk.place[k], left)
            if ahead >= best - close:
                descend = False
                continue
            j = core[k]
            taken[k] = True
            spent += price[j]
            left -= worth[j]
            k += 1
        else:
            k -= 1
            while k >= 0 and not taken[k]:
                k -= 1
            if k < 0:
                break
            j = core[k]
            taken[k] = False
            spent -= price[j]
            left += worth[j]
            k += 1
            while k < size and price[core[k]] == price[j] and worth[core[k]] == worth[j]:
                taken[k] = False  # without this worker, there is no point in their twins
                k += 1
            descend = True
    return max(bound, best - close), best


@njit(cache=True, nogil=True, inline="always")
def _completed(k, size, left, price, worth, desk):
    """At least what the core from k on costs for so much evidence."""
    if k >= size:
        return np.inf
    core = desk.core
    fewest = np.ceil(left / desk.high[k] - 1e-9) * desk.low[k]
    paid, at = 0.0, k
    while at < size and worth[core[at]] < left:
        paid += price[core[at]]
        left -= worth[core[at]]
        at += 1
    if at == size:
        return np.inf if left > HAIR else max(paid, fewest)
    return max(paid + price[core[at]] * left / worth[core[at]], fewest)


@njit(cache=True, nogil=True, inline="always")
def _keep(kept, k, desk):
    """The set of the search as the best one."""
    for t in range(kept):
        desk.found[t] = desk.base[t]
    size = kept
    for t in range(k):
        if desk.taken[t]:
            desk.found[size], size = desk.core[t], size + 1
    desk.labels[0] = size
