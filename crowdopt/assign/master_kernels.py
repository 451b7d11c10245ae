"""The smoothed restricted master's loops: sets at prices, soft minima over all kinds of a row, what sets use.

A set of a row serves every kind of the row that needs no more evidence than it has. With the sets of a row by
ascending evidence and its kinds by ascending need, the sets that serve a kind are those from ``start[k]`` on: soft
minima of all kinds are sums from behind, weights of all sets sums from the front, one pass each.

Loops that give tasks sets of the pool: by the master's weights, else the cheapest one whose workers have room.

A compiled loop that polishes whole amounts of labels per pair of classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.assign.state_kernels import CLOSE
from crowdopt.kernels import njit


@njit(cache=True, nogil=True)
def unseen(sign, seen):
    """Which of some signs are new, (k,); seen (a power of two,): those known, 0: free; written."""
    new, found = np.empty(sign.size, np.int64), 0
    for s in range(sign.size):
        at = np.int64(sign[s] & np.uint64(seen.size - 1))
        while seen[at] != 0 and seen[at] != sign[s]:
            at = (at + 1) % seen.size
        if seen[at] == 0:
            seen[at], new[found], found = sign[s], s, found + 1
    return new[:found]


@njit(cache=True, nogil=True)
def first_with(set_at, power, at, asked):
    """The place among its row's sets, by ascending power, of the first one that has what is asked, (k,).

    set_at, at (R + 1,): where the sets of each row begin, and what is asked of them.
    """
    place = np.empty(asked.size, np.int64)
    for r in range(set_at.size - 1):
        for k in range(at[r], at[r + 1]):
            place[k] = set_at[r] + np.searchsorted(power[set_at[r] : set_at[r + 1]], asked[k])
    return place


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


@njit(cache=True, nogil=True)
def sampled(tasks, kind_of, row_of, set_at, start, price, heat, chance):
    """A set for each task by the soft minimum of its kind, one after another along its weights; -1: none serves it.

    tasks (t,): those of a kind next to each other; chance (t,): where each kind begins; -> (t,).
    """
    pick = np.full(tasks.size, -1)
    z = 0
    while z < tasks.size:
        k, end = kind_of[tasks[z]], z
        while end < tasks.size and kind_of[tasks[end]] == k:
            end += 1
        r = row_of[k]
        begin, stop = start[k], set_at[r + 1]
        best = np.inf
        for s in range(begin, stop):
            best = min(best, price[s])
        total = 0.0
        for s in range(begin, stop):
            total += np.exp(max(-700.0, (best - price[s]) / heat[r]))
        step = total / (end - z)
        point, have, at = chance[z] * step, 0.0, z
        for s in range(begin, stop):
            have += np.exp(max(-700.0, (best - price[s]) / heat[r]))
            while at < end and point < have:
                pick[at] = s
                at += 1
                point += step
        z = end
    return pick


@njit(cache=True, nogil=True)
def _may_join(g, k, r, mine, n, kinds, room, rows):
    """Whether one more label of class g may join n labels of a task of kind k, of row r."""
    same = 1
    for e in range(n):
        same += mine[e] == g
    if room[g] < same or rows.size[g] < same:
        return False
    for b in range(kinds.bar_at[k], kinds.bar_at[k + 1]):
        if kinds.bar[b] == g and same > kinds.bar_left[b]:
            return False
    for s in range(rows.shut_at[r], rows.shut_at[r + 1]):
        if rows.shut[s] == g and same > rows.shut_left[s]:
            return False
    return True


@njit(cache=True, nogil=True)
def _taken(s, k, r, at, label, kinds, room, price, twin_at, twin, like, rows, swaps, mine):
    """A set's labels in ``mine``; with ``swaps`` of others who are alike, the cheapest, for those without room.

    -> how many; -1: the set does not fit.
    """
    n = 0
    for e in range(at[s], at[s + 1]):
        g = label[e]
        if not _may_join(g, k, r, mine, n, kinds, room, rows):
            if not swaps:
                return -1
            best, lowest = -1, np.inf
            for x in range(twin_at[like[g]], twin_at[like[g] + 1]):
                other = twin[x]
                if price[other] < lowest and _may_join(other, k, r, mine, n, kinds, room, rows):
                    best, lowest = other, price[other]
            if best < 0:
                return -1
            g = best
        mine[n], n = g, n + 1
    return n


@njit(cache=True, nogil=True)
def served(tasks, pick, kind_of, row_of, set_at, paid, start, at, label, kinds, rows, price, twins, room, most):
    """Each task in order takes its pick, else a cheap set that fits, else one with others who are alike in it.

    paid (S,): what sets cost; price (T, G); twins: as :class:`crowdopt.assign.choose.Chooser` has them; room (G,):
    written; most: cheap sets that are looked at before others take places; -> labels of sets, where each ends, and
    whose it is.
    """
    twin_at, twin, like = twins
    by_price, known = np.empty(paid.size, np.int64), np.zeros(set_at.size - 1, np.bool_)
    labels, used = np.empty(8 * tasks.size + 8, np.int64), 0
    ends, owner, got = np.empty(tasks.size, np.int64), np.empty(tasks.size, np.int64), 0
    mine = np.empty(label.size + 1, np.int64)
    for z in range(tasks.size):
        i = tasks[z]
        k = kind_of[i]
        r, n = row_of[k], -1
        prices = price[rows.type[r]]
        if pick[z] >= 0:
            n = _taken(pick[z], k, r, at, label, kinds, room, prices, twin_at, twin, like, rows, False, mine)
        if n < 0 and not known[r]:
            begin, end = set_at[r], set_at[r + 1]
            by_price[begin:end], known[r] = begin + np.argsort(paid[begin:end], kind="mergesort"), True
        for swaps in (False, True):
            looked = 0
            for x in range(set_at[r], set_at[r + 1]):
                s = by_price[x]
                if n >= 0 or (swaps and looked >= most):
                    break
                if s >= start[k]:
                    looked += 1
                    n = _taken(s, k, r, at, label, kinds, room, prices, twin_at, twin, like, rows, swaps, mine)
                    if n < 0 and looked == most and not swaps:
                        break
        for x in range(set_at[r], set_at[r + 1]):
            s = by_price[x]
            if n >= 0:
                break
            if s >= start[k]:
                n = _taken(s, k, r, at, label, kinds, room, prices, twin_at, twin, like, rows, False, mine)
        if n < 0:
            continue
        while used + n > labels.size:
            larger = np.empty(2 * labels.size, np.int64)
            for e in range(used):
                larger[e] = labels[e]
            labels = larger
        for e in range(n):
            labels[used], used = mine[e], used + 1
            room[mine[e]] -= 1
        ends[got], owner[got], got = used, i, got + 1
    return labels[:used].copy(), ends[:got].copy(), owner[:got].copy()


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
