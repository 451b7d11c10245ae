"""The smoothed restricted master's loops: sets at prices, soft minima over all kinds of a row, what sets use.

A set of a row serves every kind of the row that needs no more evidence than it has. With the sets of a row by
ascending evidence and its kinds by ascending need, the sets that serve a kind are those from ``start[k]`` on: soft
minima of all kinds are sums from behind, weights of all sets sums from the front, one pass each.
"""

from __future__ import annotations

import numpy as np

from crowdopt.kernels import njit


@njit(cache=True, nogil=True)
def priced(at, label, cost, pay, pull, out):
    """What each set costs, less its labels' pulls: at, label: sets; cost (S,), times pay; pull (G,); out, written."""
    for s in range(out.size):
        total = pay * cost[s]
        for e in range(at[s], at[s + 1]):
            total -= pull[label[e]]
        out[s] = total


@njit(cache=True, nogil=True)
def _both(a, b):
    """``log(exp a + exp b)``."""
    if a < b:
        a, b = b, a
    return a if b - a < -40.0 else a + np.log1p(np.exp(b - a))


@njit(cache=True, nogil=True)
def soft_least(set_at, price, kind_at, start, count, short, heat, weight, far):
    """``sum_k n_k softmin`` of the sets that serve kind k and of being left short, at a temperature for each row.

    set_at, kind_at (R + 1,): sets and kinds of each row; price (S,); start, count, short (K,); heat (R,); weight (S,),
    far (K,), written: how many tasks take each set, and the soft minima over minus the heat.
    """
    total = 0.0
    for r in range(heat.size):
        warm, begin, end = heat[r], kind_at[r], kind_at[r + 1]
        s, seen = set_at[r + 1] - 1, -np.inf
        for k in range(end - 1, begin - 1, -1):
            while s >= start[k]:
                seen = _both(seen, -price[s] / warm)
                s -= 1
            far[k] = _both(seen, -short[k] / warm)
            total -= count[k] * warm * far[k]
        k, seen = begin, -np.inf
        for s in range(set_at[r], set_at[r + 1]):
            while k < end and start[k] <= s:
                if count[k] > 0:
                    seen = _both(seen, np.log(count[k]) - far[k])
                k += 1
            weight[s] = np.exp(seen - price[s] / warm)
    return total


@njit(cache=True, nogil=True)
def used(at, label, weight, loads):
    """Labels of each class in so many of each set: loads (G,), added to."""
    for s in range(weight.size):
        w = weight[s]
        if w > 1e-12:
            for e in range(at[s], at[s + 1]):
                loads[label[e]] += w


@njit(cache=True, nogil=True)
def least_from_behind(set_at, price, kind_at, start, out):
    """The cheapest set that serves each kind, (K,), written: its place, -1 where there is none."""
    for r in range(set_at.size - 1):
        s, best = set_at[r + 1] - 1, -1
        for k in range(kind_at[r + 1] - 1, kind_at[r] - 1, -1):
            while s >= start[k]:
                if best < 0 or price[s] < price[best]:
                    best = s
                s -= 1
            out[k] = best
