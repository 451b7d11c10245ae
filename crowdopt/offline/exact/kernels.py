"""Compiled loops: rounding amounts, dealing labels to tasks, mending what is short; all of it on classes of workers.

The state of a split: ``hands[i, :held[i]]`` are the worker classes of task i's labels, in no order; ``slack[i]`` is
its evidence minus its need. ``worth[t, g]`` is the evidence of a label of class g for tasks of row t, ``row[i]`` the
row of task i, ``size[g]`` how many distinct workers a class has, ``left[g]`` what remains of its capacity. Tasks that
are ``locked`` (barred or fixed pairs) keep what they were dealt. Chance comes from ``state`` alone: equal input, equal
output.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FREE = 22  # labels of two tasks that are shared out anew at once: 2 * 2^11 subset sums
CLOSE = 1e-12  # evidence; a smaller gain is rounding
SHIFTS = 400  # moves that polish rounded amounts
LOOSE = 0.02  # evidence; how much worse a random exchange may make things to get out of a corner


@njit(cache=True)
def draw(state, below):
    """A whole number in [0, below), by xorshift."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x % np.uint64(below))


@njit(cache=True)
def count(hands, held, i, g):
    """Labels that task i has from class g."""
    found = 0
    for k in range(held[i]):
        if hands[i, k] == g:
            found += 1
    return found


@njit(cache=True)
def _sink(heap, size, slack, at):
    """Restore the heap, least slack on top, from a place downwards."""
    moved = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and slack[heap[child + 1]] < slack[heap[child]]:
            child += 1
        if slack[heap[child]] >= slack[moved]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved


@njit(cache=True)
def deal(tasks, groups, amounts, worth, hands, held, slack):
    """Deal ``amounts[g]`` labels of each group, in the given order, always to the tasks that lack most.

    At most one label a round goes to a task, so that nobody labels a task twice.
    """
    n = tasks.size
    heap = tasks.copy()
    for g in groups:
        out = amounts[g]
        while out > 0:
            some = min(out, n)
            out -= some
            for at in range(n // 2 - 1, -1, -1):
                _sink(heap, n, slack, at)
            size = n
            for _ in range(some):  # the taken tasks gather behind the heap
                size -= 1
                heap[0], heap[size] = heap[size], heap[0]
                _sink(heap, size, slack, 0)
            for k in range(size, n):
                i = heap[k]
                hands[i, held[i]] = g
                held[i] += 1
                slack[i] += worth[g]


@njit(cache=True)
def _subset_sums(values, first, last, sums, masks):
    """All subset sums of values[first:last], ascending, each with its subset as a bit mask; returns how many."""
    spare, spare_masks = np.empty_like(sums), np.empty_like(masks)
    sums[0], masks[0], found = 0.0, 0, 1
    for x in range(first, last):
        i = j = k = 0
        value, bit = values[x], np.int64(1) << (x - first)
        while i < found or j < found:
            if j >= found or (i < found and sums[i] <= sums[j] + value):
                spare[k], spare_masks[k] = sums[i], masks[i]
                i += 1
            else:
                spare[k], spare_masks[k] = sums[j] + value, masks[j] | bit
                j += 1
            k += 1
        sums[:k], masks[:k] = spare[:k], spare_masks[:k]
        found = k
    return found


@njit(cache=True)
def closest(values, k, target):
    """The subset of the first k values whose sum is closest to the target, by meeting in the middle: (mask, sum)."""
    half = k // 2
    top = np.int64(1) << (k - half)
    low_sums, low_masks = np.empty(top), np.empty(top, np.int64)
    high_sums, high_masks = np.empty(top), np.empty(top, np.int64)
    low = _subset_sums(values, 0, half, low_sums, low_masks)
    high = _subset_sums(values, half, k, high_sums, high_masks)
    best, mask, total = np.inf, np.int64(0), 0.0
    j = high - 1
    for i in range(low):
        while j > 0 and low_sums[i] + high_sums[j] > target:
            j -= 1
        for step in range(2):
            if j + step < high:
                reached = low_sums[i] + high_sums[j + step]
                if abs(reached - target) < best:
                    best, total = abs(reached - target), reached
                    mask = low_masks[i] | (high_masks[j + step] << half)
    return mask, total


@njit(cache=True)
def share_out(a, b, worth, size, fewest, most, hands, held, slack, state, anyhow):
    """Repartition the labels of two tasks of one row so that their slacks are as equal as can be.

    That is exact up to FREE labels: if any partition covers both, this one does. Returns whether the smaller slack
    rose; with ``anyhow`` the new partition is kept whatever it is.
    """
    items, owner = np.empty(held[a] + held[b], np.int64), np.zeros(held[a] + held[b], np.bool_)
    keep_a, keep_b = np.empty(items.size, np.int64), np.empty(items.size, np.int64)
    k = na = nb = 0
    for t in range(held[a]):
        g = hands[a, t]
        if count(hands, held, b, g) >= size[g]:
            keep_a[na], na = g, na + 1
        else:
            items[k], owner[k], k = g, True, k + 1
    for t in range(held[b]):
        g = hands[b, t]
        if count(hands, held, a, g) >= size[g]:
            keep_b[nb], nb = g, nb + 1
        else:
            items[k], k = g, k + 1
    if k < 2:
        return False
    for t in range(k - 1, 0, -1):
        s = draw(state, t + 1)
        items[t], items[s] = items[s], items[t]
        owner[t], owner[s] = owner[s], owner[t]
    for t in range(FREE, k):
        if owner[t]:
            keep_a[na], na = items[t], na + 1
        else:
            keep_b[nb], nb = items[t], nb + 1
    k = min(k, FREE)
    values, had = np.empty(k), 0.0
    for t in range(k):
        values[t] = worth[items[t]]
        if owner[t]:
            had += values[t]
    joint = slack[a] + slack[b]
    mask, total = closest(values, k, had + joint / 2 - slack[a])
    new_a = slack[a] - had + total
    if not anyhow and min(new_a, joint - new_a) <= min(slack[a], slack[b]) + CLOSE:
        return False
    for t in range(k):
        if mask >> t & 1:
            keep_a[na], na = items[t], na + 1
        else:
            keep_b[nb], nb = items[t], nb + 1
    if na > most[a] or nb > most[b] or na < fewest[a] or nb < fewest[b] or max(na, nb) > hands.shape[1]:
        return False
    if _too_many(keep_a, na, size) or _too_many(keep_b, nb, size):
        return False
    hands[a, :na], hands[b, :nb] = keep_a[:na], keep_b[:nb]
    held[a], held[b] = na, nb
    slack[a], slack[b] = new_a, joint - new_a
    return True


@njit(cache=True)
def _too_many(hand, n, size):
    """Whether a hand has more labels of a class than the class has workers."""
    for t in range(n):
        if size[hand[t]] > 1:
            same = 0
            for s in range(n):
                same += hand[s] == hand[t]
            if same > size[hand[t]]:
                return True
    return False


@njit(cache=True)
def level(tasks, worth, size, fewest, most, hands, held, slack, state, rounds):
    """Share out poorest with richest, round after round, until none of the tasks is short; returns the pairs tried."""
    half, tried = tasks.size // 2, 0
    for turn in range(rounds):
        order = tasks[np.argsort(slack[tasks])]
        if slack[order[0]] >= 0:
            break
        shift = 0 if turn < 3 else draw(state, max(1, half))
        for k in range(half):
            poor, rich = order[k], order[tasks.size - 1 - (k + shift) % half]
            if turn >= 3 and (slack[poor] >= 0 and slack[rich] >= 0):
                continue
            if slack[rich] - slack[poor] > CLOSE:
                share_out(poor, rich, worth, size, fewest, most, hands, held, slack, state, False)
                tried += 1
    return tried


@njit(cache=True)
def finish(tasks, worth, size, fewest, most, hands, held, slack, state, work):
    """For each short task look for a partner with whom an exact partition covers both; else stir. Returns work left."""
    while work > 0:
        short = 0
        for d in tasks:
            if slack[d] >= 0:
                continue
            short += 1
            start, mended = draw(state, tasks.size), False
            for x in range(tasks.size):
                i = tasks[(start + x) % tasks.size]
                if i == d or slack[i] < 0 or slack[i] + slack[d] < 0:
                    continue
                work -= 1
                before = slack[i]
                if share_out(d, i, worth, size, fewest, most, hands, held, slack, state, False):
                    if slack[d] >= 0 and slack[i] >= 0:
                        mended = True
                        break
                    if before >= 0 and slack[i] < 0:
                        break
                if work <= 0:
                    return 0
            if not mended:
                i = tasks[draw(state, tasks.size)]
                if i != d:
                    share_out(d, i, worth, size, fewest, most, hands, held, slack, state, True)
                    work -= 1
        if short == 0:
            break
    return work


@njit(cache=True)
def trade(tasks, row, worth, cost, size, fewest, most, hands, held, slack, left, spare, state, work):
    """Exchange labels across rows, and with workers who have capacity left, to lower the total that is missing.

    ``spare[0]`` is the money that exchanges may still add to the cost. Returns the work left.
    """
    short = np.empty(tasks.size, np.int64)
    n_short = stuck = 0
    for i in tasks:
        if slack[i] < 0:
            short[n_short] = i
            n_short += 1
    while n_short > 0 and work > 0:
        d = short[draw(state, n_short)]
        gain, i, a, b, g = _best_trade(d, tasks, row, worth, cost, size, fewest, most, hands, held, slack, left, spare)
        work -= tasks.size
        if gain > CLOSE:
            stuck = 0
            _swap(d, i, a, b, g, row, worth, cost, hands, held, slack, left, spare)
            if i >= 0 and slack[i] < 0:
                n_short = _note(short, n_short, i)
        else:
            stuck += 1
            if stuck > n_short + 2:
                i = _stir(d, tasks, row, worth, cost, size, hands, held, slack, spare, state)
                if i >= 0 and slack[i] < 0:
                    n_short = _note(short, n_short, i)
                stuck = 0
        k = 0
        while k < n_short:
            if slack[short[k]] >= 0:
                n_short -= 1
                short[k] = short[n_short]
            else:
                k += 1
    return work


@njit(cache=True)
def _note(short, n_short, i):
    for k in range(n_short):
        if short[k] == i:
            return n_short
    short[n_short] = i
    return n_short + 1


@njit(cache=True)
def _best_trade(d, tasks, row, worth, cost, size, fewest, most, hands, held, slack, left, spare):
    """The exchange that lowers the total lack most: (gain, partner or -1, own place or -1, partner's place, group)."""
    best, who, own, theirs, group = CLOSE, -1, -1, -1, -1
    td, lack = row[d], -slack[d]
    for i in tasks:
        if i == d:
            continue
        ti, was = row[i], max(0.0, -slack[i])
        for b in range(held[i]):
            g = hands[i, b]
            if count(hands, held, d, g) >= size[g]:
                continue
            for a in range(-1, held[d]):
                if a < 0:
                    if held[d] >= min(most[d], hands.shape[1]) or held[i] <= fewest[i]:
                        continue
                    up, down, paid = worth[td, g], worth[ti, g], cost[td, g] - cost[ti, g]
                else:
                    h = hands[d, a]
                    up, down = worth[td, g] - worth[td, h], worth[ti, g] - worth[ti, h]
                    paid = cost[td, g] - cost[ti, g] + cost[ti, h] - cost[td, h]
                    if up <= 0:
                        continue
                gain = lack + was - max(0.0, lack - up) - max(0.0, down - slack[i])
                if (
                    gain > best
                    and paid <= spare[0]
                    and (a < 0 or count(hands, held, i, hands[d, a]) < size[hands[d, a]])
                ):
                    best, who, own, theirs, group = gain, i, a, b, g
        if best >= lack - CLOSE and who >= 0:
            break
    for g in range(left.size):
        if left[g] <= 0 or count(hands, held, d, g) >= size[g]:
            continue
        for a in range(held[d]):
            h = hands[d, a]
            up, paid = worth[td, g] - worth[td, h], cost[td, g] - cost[td, h]
            gain = lack - max(0.0, lack - up)
            if gain > best and paid <= spare[0]:
                best, who, own, theirs, group = gain, -1, a, -1, g
    return best if group >= 0 else 0.0, who, own, theirs, group


@njit(cache=True)
def _swap(d, i, a, b, g, row, worth, cost, hands, held, slack, left, spare):
    """Carry out an exchange that _best_trade found."""
    td = row[d]
    if i < 0:
        h = hands[d, a]
        left[h], left[g] = left[h] + 1, left[g] - 1
        spare[0] -= cost[td, g] - cost[td, h]
        slack[d] += worth[td, g] - worth[td, h]
        hands[d, a] = g
        return
    ti = row[i]
    if a < 0:
        hands[d, held[d]] = g
        held[d] += 1
        held[i] -= 1
        hands[i, b] = hands[i, held[i]]
        slack[d] += worth[td, g]
        slack[i] -= worth[ti, g]
        spare[0] -= cost[td, g] - cost[ti, g]
        return
    h = hands[d, a]
    hands[d, a], hands[i, b] = g, h
    slack[d] += worth[td, g] - worth[td, h]
    slack[i] += worth[ti, h] - worth[ti, g]
    spare[0] -= cost[td, g] - cost[ti, g] + cost[ti, h] - cost[td, h]


@njit(cache=True)
def _stir(d, tasks, row, worth, cost, size, hands, held, slack, spare, state):
    """A random exchange that makes the total lack at most a little worse; returns the partner or -1."""
    td = row[d]
    for attempt in range(60):
        i = tasks[draw(state, tasks.size)]
        if i == d or held[i] == 0 or held[d] == 0:
            continue
        a, b, ti = draw(state, held[d]), draw(state, held[i]), row[i]
        h, g = hands[d, a], hands[i, b]
        if count(hands, held, d, g) >= size[g] or count(hands, held, i, h) >= size[h]:
            continue
        paid = cost[td, g] - cost[ti, g] + cost[ti, h] - cost[td, h]
        up, down = worth[td, g] - worth[td, h], worth[ti, g] - worth[ti, h]
        lack = max(0.0, -slack[d]) + max(0.0, -slack[i])
        then = max(0.0, -slack[d] - up) + max(0.0, down - slack[i])
        if paid <= spare[0] and then <= lack + LOOSE * (1 + attempt // 20):
            hands[d, a], hands[i, b] = g, h
            slack[d], slack[i] = slack[d] + up, slack[i] - down
            spare[0] -= paid
            return i
    return -1


@njit(cache=True)
def top_up(tasks, row, worth, cost, room, most, hands, held, slack, left):
    """Buy each short task the cheapest label that closes its lack, or else the one with most evidence for its price.

    Returns how many tasks stay short for want of capacity.
    """
    short = 0
    for i in tasks:
        while slack[i] < 0 and held[i] < min(most[i], hands.shape[1]):
            t, pick, score = row[i], -1, np.inf
            for g in range(left.size):
                if left[g] <= 0 or worth[t, g] <= 0 or count(hands, held, i, g) >= room[t, g]:
                    continue
                closes = worth[t, g] >= -slack[i]
                this = cost[t, g] if closes else 1e9 + (cost[t, g] + 1e-3) / worth[t, g]
                if this < score - CLOSE:
                    pick, score = g, this
            if pick < 0:
                break
            hands[i, held[i]] = pick
            held[i] += 1
            left[pick] -= 1
            slack[i] += worth[t, pick]
        short += slack[i] < 0
    return short


@njit(cache=True)
def escalate(tasks, row, worth, cost, size, fewest, most, hands, held, slack, left, state, rounds, work):
    """Buy one label for the poorest task of a row, level and finish the row, and so on until none is short.

    One label more gives all tasks of the row something to share, so few are bought. Returns whether none is short.
    """
    while True:
        poorest = tasks[np.argmin(slack[tasks])]
        if slack[poorest] >= 0:
            return True
        lack = 0.0
        for i in tasks:
            lack += max(0.0, -slack[i])
        t, pick, score = row[poorest], -1, np.inf
        if held[poorest] < min(most[poorest], hands.shape[1]):
            for g in range(left.size):
                if left[g] > 0 and worth[t, g] > 0 and count(hands, held, poorest, g) < size[g]:
                    this = (cost[t, g] + 1e-3) / min(worth[t, g], 1.5 * lack + 1e-2)
                    if this < score - CLOSE:
                        pick, score = g, this
        if pick < 0:
            return False
        hands[poorest, held[poorest]] = pick
        held[poorest] += 1
        left[pick] -= 1
        slack[poorest] += worth[t, pick]
        level(tasks, worth[t], size, fewest, most, hands, held, slack, state, rounds)
        finish(tasks, worth[t], size, fewest, most, hands, held, slack, state, work)


@njit(cache=True)
def thin(tasks, row, worth, cost, fewest, hands, held, slack, left):
    """Drop the dearest label that a task can do without, until it can do without none. Returns the money saved."""
    saved = 0.0
    for i in tasks:
        while held[i] > fewest[i]:
            t, pick = row[i], -1
            for k in range(held[i]):
                g = hands[i, k]
                if worth[t, g] <= slack[i] and (pick < 0 or cost[t, g] > cost[t, hands[i, pick]]):
                    pick = k
            if pick < 0 or cost[t, hands[i, pick]] < 0:
                break
            g = hands[i, pick]
            held[i] -= 1
            hands[i, pick] = hands[i, held[i]]
            slack[i] -= worth[t, g]
            left[g] += 1
            saved += cost[t, g]
    return saved


@njit(cache=True)
def shift(amounts, excess, wanted, worth, cost, upper, left, spare):
    """Polish whole amounts (T, G): exchanges of two rows, or with capacity left, that lower the sum of squared lacks.

    ``excess[t]`` is the evidence of row t beyond its need, ``wanted[t]`` what it should have beyond. Squares, because
    near the LP's optimum exchanges only move a lack about, and what matters is that no row has a large one.
    """
    kinds, groups = amounts.shape
    for _ in range(SHIFTS):
        a, worst = -1, CLOSE
        for t in range(kinds):
            if wanted[t] - excess[t] > worst:
                a, worst = t, wanted[t] - excess[t]
        if a < 0:
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
