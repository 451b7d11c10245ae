"""Compiled second opinion on the cheapest set of a task: all partial sets together, worker by worker."""

from __future__ import annotations

import numpy as np

from crowdopt.kernels import njit

EVIDENCE_ROUNDING = 1e-12  # evidence; rounding in a sum of labels


@njit(cache=True, nogil=True)
def cheapest_bounds(kind, row, need, starts, barred, worth, price, close, states, value, rough):
    """``value[i] = min sum_j p_ij y_j  s.t.  sum_j q_ij y_j >= need_i``, from below.

    Partial sets go through the workers by ratio, both with and without each; of two the one that is dearer and has
    less evidence is dropped, and one whose completion, with a last worker in part, is no better than the best set.

    kind, row, need (tasks,) int, int, float: type, row of prices and C of each task; starts (tasks + 1,) int: task i's
    own are ``barred[starts[i]]`` to the one before ``barred[starts[i + 1]]``; barred (k,) int: workers left out of each
    task: those it may not have, and those it must, whom the caller counts; worth (types, workers): q; price (rows,
    workers): p; close: relative; by how much the bound may be below the minimum anyway; states: partial sets that are
    followed; beyond, the least completion is the bound and ``rough`` says how far, relatively, it may be below the
    minimum; value, rough (tasks,), written: the bounds, and how far they may be below, relatively.
    """
    m = price.shape[1]
    skip = np.zeros(m, np.bool_)
    for i in range(row.size):
        for t in range(starts[i], starts[i + 1]):
            skip[barred[t]] = True
        quality, paid = worth[kind[i]], price[row[i]]
        base, lack, n = 0.0, need[i], 0
        for j in range(m):
            if not skip[j]:
                if paid[j] <= 0:
                    base += paid[j]
                    lack -= quality[j]
                elif quality[j] > 0:
                    n += 1
        if lack > EVIDENCE_ROUNDING:
            some, k = np.empty(n, np.int64), 0
            for j in range(m):
                if not skip[j] and paid[j] > 0 and quality[j] > 0:
                    some[k], k = j, k + 1
            some = some[np.argsort(paid[some] / quality[some])]
            bound, off = _cheapest(paid[some], quality[some], lack, close, states)
            value[i], rough[i] = base + bound, off
        else:
            value[i], rough[i] = base, 0.0
        for t in range(starts[i], starts[i + 1]):
            skip[barred[t]] = False


@njit(cache=True, nogil=True)
def _cheapest(price, quality, need, close, states):
    """A lower bound, and how far relatively the minimum may be above it."""
    n = price.size
    sums, paid = np.zeros(n + 1), np.zeros(n + 1)
    for k in range(n):
        sums[k + 1], paid[k + 1] = sums[k] + quality[k], paid[k] + price[k]
    if sums[n] < need - EVIDENCE_ROUNDING:
        return np.inf, 0.0
    last = min(n - 1, np.searchsorted(sums[1:], need - EVIDENCE_ROUNDING))
    rate = price[last] / quality[last]
    linear = paid[last] + rate * max(0.0, need - sums[last])
    best = paid[last + 1]
    left, spent = np.empty(2 * states + 2), np.empty(2 * states + 2)
    other, dear = np.empty(2 * states + 2), np.empty(2 * states + 2)
    left[0], spent[0], size = need, 0.0, 1
    for k in range(n):
        if best - linear <= close * best:
            return linear, close
        found, a, b, cheapest = 0, 0, 0, np.inf
        while a < size or b < size:  # both lists ascend in what is left, so their union does
            if b < size and (a >= size or left[b] - quality[k] <= left[a]):
                rest, cost, b = left[b] - quality[k], spent[b] + price[k], b + 1
            else:
                rest, cost, a = left[a], spent[a], a + 1
            if rest <= EVIDENCE_ROUNDING:
                best = min(best, cost)
                continue
            if cost >= cheapest:
                continue
            at = np.searchsorted(sums, sums[k + 1] + rest - EVIDENCE_ROUNDING)
            if at > n:
                continue
            at = max(at, k + 2)
            whole = cost + paid[at] - paid[k + 1]
            best = min(best, whole)
            part = rest - (sums[at - 1] - sums[k + 1])
            if whole - price[at - 1] + price[at - 1] * part / quality[at - 1] >= best * (1 - close):
                continue
            cheapest = cost
            other[found], dear[found], found = rest, cost, found + 1
        left, other, spent, dear, size = other, left, dear, spent, found
        if size == 0:
            break
        if size > states:
            ahead = _least(left, spent, size, k, sums, paid, price, quality)
            bound = max(linear, min(ahead, best * (1 - close)))
            return bound, (best - bound) / best
    return max(linear, best * (1 - close)), close


@njit(cache=True, nogil=True)
def _least(left, spent, size, k, sums, paid, price, quality):
    """The least completion of partial sets, a last worker in part."""
    least = np.inf
    for s in range(size):
        at = np.searchsorted(sums, sums[k + 1] + left[s] - EVIDENCE_ROUNDING)
        if at < sums.size:
            at = max(at, k + 2)
            part = left[s] - (sums[at - 1] - sums[k + 1])
            least = min(least, spent[s] + paid[at - 1] - paid[k + 1] + price[at - 1] * part / quality[at - 1])
    return least
