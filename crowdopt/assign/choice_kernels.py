"""Loops that give tasks sets of the pool: by the master's weights, else the cheapest one whose workers have room."""

from __future__ import annotations

import numpy as np

from crowdopt.kernels import njit


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
def served(tasks, pick, kind_of, row_of, set_at, by_price, start, at, label, kinds, rows, price, twins, room, most):
    """Each task in order takes its pick, else a cheap set that fits, else one with others who are alike in it.

    by_price (S,): sets of each row, the cheapest first; price (T, G); twins: as :class:`crowdopt.assign.choose.Chooser`
    has them; room (G,): written; most: cheap sets that are looked at before others take
    places; -> labels of sets, where each ends, and whose it is.
    """
    twin_at, twin, like = twins
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
