"""Compiled loops that share labels out among tasks of one row; see assign.dealt for the arrays."""

from __future__ import annotations

import numpy as np

from crowdopt.assign.exact.kernels.dealing import count, draw, too_many
from crowdopt.compiled_kernels import njit

CLOSE = 1e-12  # evidence; a smaller gain is rounding
MANY = 1_500  # tasks of a row beyond which only those that are short are levelled
STALLED = 12  # rounds without less lack, after which levelling many tasks stops
SWAPS = 12  # rounds of exchanging single labels first, where tasks are many
RUN = 15  # tasks up to which sorting inserts one after another
DEEPEST = 64  # parts that wait while others are sorted: each is at most half of the one before
FREE = 22  # labels of two tasks that are shared out anew at once: 2 * 2^11 subset sums


@njit(cache=True, no_cpython_wrapper=True)
def by_slack(tasks, slack):
    """The tasks by ascending slack: quicksort, as numba's argsort does it, which takes four times as long to compile.

    The pivot is the middle one of first, middle and last; the larger part waits; up to RUN tasks are inserted one by
    one.
    """
    order, waiting, n = tasks.copy(), np.empty((DEEPEST, 2), np.int64), 1
    waiting[0, 0], waiting[0, 1] = 0, tasks.size - 1
    while n > 0:
        n -= 1
        low, high = waiting[n, 0], waiting[n, 1]
        while high - low >= RUN:
            middle = (low + high) >> 1
            for step in range(3):
                a, b = (middle, high) if step == 1 else (low, middle)
                if slack[order[b]] < slack[order[a]]:
                    order[a], order[b] = order[b], order[a]
            pivot = slack[order[middle]]
            order[high], order[middle] = order[middle], order[high]
            i, j = low, high - 1
            while True:
                while i < high and slack[order[i]] < pivot:
                    i += 1
                while j >= low and pivot < slack[order[j]]:
                    j -= 1
                if i >= j:
                    break
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
            order[i], order[high] = order[high], order[i]
            if high - i > i - low:
                waiting[n, 0], waiting[n, 1], high = i + 1, high, i - 1
            else:
                waiting[n, 0], waiting[n, 1], low = low, i - 1, i + 1
            n += 1
        for k in range(low + 1, high + 1):
            moved, j = order[k], k
            while j > low and slack[moved] < slack[order[j - 1]]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = moved
    return order


@njit(cache=True)
def _subset_sums(values, first, last, sums, masks):
    """All subset sums of values[first:last], ascending, each with its subset as a bit mask; returns how many."""
    spare, spare_masks = np.empty(sums.size), np.empty(masks.size, np.int64)
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
        found = k
        for k in range(found):  # a slice assigned takes longer to compile than all of this
            sums[k], masks[k] = spare[k], spare_masks[k]
    return found


@njit(cache=True, inline="always")
def closest(values, k, target):
    """The subset of the first k values whose sum is closest to the target: (mask, sum).

    By meeting in the middle (Horowitz & Sahni 1974): all sums of either half ascending; as the first half's sum grows
    the best partner in the second only moves down, so one pass over both sees, for each sum of the first half, the
    last partner at most and the first one above the target. One of those two is closest; of equals the first is kept.
    """
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


@njit(cache=True, inline="always")
def _may_go(i, other, size, dealt, items, k, keep):
    """Labels of task i that the other may have too, as items from k on; the rest in ``keep``; -> how many of each."""
    hands, held, kept = dealt.hands, dealt.held, 0
    for t in range(held[i]):
        g = hands[i, t]
        if count(hands, held, other, g) >= size[g]:
            keep[kept], kept = g, kept + 1
        else:
            items[k], k = g, k + 1
    return k, kept


@njit(cache=True, inline="always")
def _may_have(i, keep, n, terms, dealt):
    """Whether a task may have the first n labels of ``keep``."""
    within = terms.fewest[i] <= n <= min(terms.most[i], dealt.hands.shape[1])
    return within and not too_many(keep, n, terms.size)


@njit(cache=True, inline="always")
def _hand_over(i, keep, n, dealt):
    dealt.held[i] = n
    for t in range(n):
        dealt.hands[i, t] = keep[t]


@njit(cache=True)
def share_out(a, b, terms, dealt, anyhow):
    """Repartition the labels of two tasks of one row so that their slacks are as equal as can be.

    It maximises the smaller of both slacks. Labels of a class that the other task has as often as there are workers
    stay; of the rest, in random order, FREE may go either way, and the subset whose evidence is closest to half of all
    is the first task's. The slacks' sum is fixed, so closest to half is largest minimum, and exact up to FREE labels:
    if any partition of those covers both tasks, this one does.

    anyhow: whether the new partition is kept even if the smaller slack does not rise; -> whether the partition was
    changed.
    """
    worth, held, slack, state = terms.worth[terms.row[a]], dealt.held, dealt.slack, dealt.state
    items, owner = np.empty(held[a] + held[b], np.int64), np.empty(held[a] + held[b], np.int64)
    keep_a, keep_b = np.empty(items.size, np.int64), np.empty(items.size, np.int64)
    mine, na = _may_go(a, b, terms.size, dealt, items, 0, keep_a)
    k, nb = _may_go(b, a, terms.size, dealt, items, mine, keep_b)
    for t in range(k):
        owner[t] = t < mine
    if k < 2:
        return False
    for t in range(k - 1, 0, -1):
        s = draw(state, t + 1)
        items[t], items[s] = items[s], items[t]
        owner[t], owner[s] = owner[s], owner[t]
    free = min(k, FREE)
    values, had = np.empty(free), 0.0
    for t in range(free):
        values[t] = worth[items[t]]
        if owner[t]:
            had += values[t]
    joint = slack[a] + slack[b]
    mask, total = closest(values, free, had + joint / 2 - slack[a])
    new_a = slack[a] - had + total
    if not anyhow and min(new_a, joint - new_a) <= min(slack[a], slack[b]) + CLOSE:
        return False
    for t in range(free):
        owner[t] = mask >> t & 1
    for s in range(free, free + k):  # those that stay whose they are come first
        t = s % k
        if owner[t]:
            keep_a[na], na = items[t], na + 1
        else:
            keep_b[nb], nb = items[t], nb + 1
    if not _may_have(a, keep_a, na, terms, dealt) or not _may_have(b, keep_b, nb, terms, dealt):
        return False
    _hand_over(a, keep_a, na, dealt)
    _hand_over(b, keep_b, nb, dealt)
    slack[a], slack[b] = new_a, joint - new_a
    return True


@njit(cache=True, inline="always")
def swap_one(a, b, terms, dealt):
    """Exchange one label of task a for one of task b so that their slacks come closest.

    Every pair of labels is looked at, in the order of the hands, and the exchange kept whose difference in evidence is
    nearest to half the difference of the slacks: that minimises what is left between them.

    -> whether any exchange brings them closer.
    """
    worth, size = terms.worth[terms.row[a]], terms.size
    hands, held, slack = dealt.hands, dealt.held, dealt.slack
    wanted, best, mine, theirs = (slack[b] - slack[a]) / 2, (slack[b] - slack[a]) / 2, -1, -1
    for x in range(held[a]):
        for y in range(held[b]):
            off = abs(worth[hands[b, y]] - worth[hands[a, x]] - wanted)
            if off < best - CLOSE:
                g, h = hands[a, x], hands[b, y]
                if count(hands, held, b, g) < size[g] and count(hands, held, a, h) < size[h]:
                    best, mine, theirs = off, x, y
    if mine < 0:
        return False
    g, h = hands[a, mine], hands[b, theirs]
    hands[a, mine], hands[b, theirs] = h, g
    slack[a] += worth[h] - worth[g]
    slack[b] -= worth[h] - worth[g]
    return True


@njit(cache=True, inline="always")
def even_out(tasks, terms, dealt, rounds):
    """Exchange single labels between poorest and richest: a cheap beginning where tasks are many.

    Each round sorts the tasks by slack and pairs the poorest with the richest, the second with the second, and so on:
    both ends move inwards, and a round costs a sort and one exchange per pair.

    rounds: at most so many; fewer where nobody is short any more.
    """
    half, slack = tasks.size // 2, dealt.slack
    for _ in range(rounds):
        order = by_slack(tasks, slack)
        if slack[order[0]] >= 0 or dealt.rung[0]:
            break
        for k in range(half):
            poor, rich = order[k], order[tasks.size - 1 - k]
            if slack[rich] - slack[poor] > CLOSE and (slack[poor] < 0 or slack[rich] < 0):
                swap_one(poor, rich, terms, dealt)


@njit(cache=True, inline="always")
def _lacked(tasks, slack):
    """The evidence that tasks lack, in all."""
    lack = 0.0
    for i in tasks:
        lack += max(0.0, -slack[i])
    return lack


@njit(cache=True, inline="always")
def _level(tasks, terms, dealt, rounds):
    """Share out poorest with richest, round after round, until none of the tasks is short."""
    # It raises the least slack of a row whose total is fixed. Tasks are sorted by slack and paired from both ends,
    # after three rounds with a random shift, so that the same two do not meet for ever; each pair is shared out
    # exactly, which never lowers the smaller of the two slacks. Where tasks are many only pairs with a short one are
    # looked at, and STALLED rounds without less lack end it.
    # tasks (n,) int: of one row; terms: what stays as it is; rounds: at most so many; -> pairs tried.
    half, tried, slack, state, rung = tasks.size // 2, 0, dealt.slack, dealt.state, dealt.rung
    if tasks.size > MANY:
        even_out(tasks, terms, dealt, SWAPS)
    least, since = np.inf, 0
    for turn in range(rounds):
        order = by_slack(tasks, slack)
        if slack[order[0]] >= 0 or rung[0]:
            break
        if tasks.size > MANY:
            lack = _lacked(tasks, slack)
            since = 0 if lack < 0.98 * least else since + 1
            least = min(least, lack)
            if since >= STALLED:
                break
        shift = 0 if turn < 3 else draw(state, max(1, half))
        for k in range(half):
            if rung[0]:
                break
            poor, rich = order[k], order[tasks.size - 1 - (k + shift) % half]
            if (turn >= 3 or tasks.size > MANY) and slack[poor] >= 0 and slack[rich] >= 0:
                continue
            if slack[rich] - slack[poor] > CLOSE:
                share_out(poor, rich, terms, dealt, False)
                tried += 1
    return tried


@njit(cache=True, inline="always")
def _partnered(d, tasks, terms, dealt, work):
    """Look for a task with whom an exact partition covers both: whether one was found, the work left, if any."""
    slack, start = dealt.slack, draw(dealt.state, tasks.size)
    for x in range(tasks.size):
        i = tasks[(start + x) % tasks.size]
        if i == d or slack[i] < 0 or slack[i] + slack[d] < 0:
            continue
        work -= 1
        if share_out(d, i, terms, dealt, False):
            if slack[d] >= 0 and slack[i] >= 0:
                return True, work, True
            if slack[i] < 0:
                return False, work, True
        if work <= 0 or dealt.rung[0]:
            return False, 0, False
    return False, work, True


@njit(cache=True, inline="always")
def _finish(tasks, terms, dealt, work):
    """For each short task look for a partner with whom an exact partition covers both; else stir."""
    # tasks (n,) int: of one row; terms: what stays as it is; work: pairs that may be looked at; -> the work left.
    slack, state = dealt.slack, dealt.state
    while work > 0 and not dealt.rung[0]:
        short = 0
        for d in tasks:
            if slack[d] >= 0:
                continue
            short += 1
            mended, work, goes_on = _partnered(d, tasks, terms, dealt, work)
            if not goes_on:
                return 0
            if not mended:
                i = tasks[draw(state, tasks.size)]
                if i != d:
                    share_out(d, i, terms, dealt, True)
                    work -= 1
        if short == 0:
            break
    return work


@njit(cache=True, inline="always")
def _bought(poorest, tasks, terms, dealt):
    """Buy a task the label that is cheapest for the evidence that its row can use; whether there is one."""
    worth, cost, size, t = terms.worth, terms.cost, terms.size, terms.row[poorest]
    hands, held, left = dealt.hands, dealt.held, dealt.left
    lack, pick, score = _lacked(tasks, dealt.slack), -1, np.inf
    if held[poorest] < min(terms.most[poorest], hands.shape[1]):
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
    dealt.slack[poorest] += worth[t, pick]
    return True


@njit(cache=True, nogil=True)
def share(tasks, terms, dealt, rounds, work, allowed):
    """Level the tasks of a row, finish those still short, and buy one label after another until none is.

    One kernel for all three, because each function that calls another is optimised with all that it calls. With
    ``allowed`` 0 nothing is bought. A label is bought for the poorest task, then the row is levelled and finished, and
    so on. That spends least: the label bought is the cheapest for the evidence that the row can use, which is capped
    at one and a half times what all its tasks lack. One label more gives all tasks of the row something to share, so
    few are bought; where evidence comes in few sizes nothing is shared, and ``allowed`` pairs tried in all end it.

    tasks (n,) int: of one row, by evidence and price; rounds, work: of levelling, and pairs looked at in finishing;
    after each label, where some are bought; allowed: pairs that may be tried in all while labels are bought; 0:
    none is bought; -> whether labels were bought and none is short.
    """
    slack, buying = dealt.slack, allowed > 0
    while True:
        if buying:
            poorest = tasks[0]
            for i in tasks:
                if slack[i] < slack[poorest]:
                    poorest = i
            if slack[poorest] >= 0:
                return True
            if not _bought(poorest, tasks, terms, dealt):
                return False
        if rounds > 0:
            allowed -= _level(tasks, terms, dealt, rounds)
        allowed -= work - _finish(tasks, terms, dealt, work)
        if allowed <= 0 or dealt.rung[0]:
            return False
