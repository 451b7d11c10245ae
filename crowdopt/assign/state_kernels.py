"""Who has what, as it moves: labels dealt, shared out, exchanged, bought and dropped; compiled loops.

``hands[i, :held[i]]`` are the classes of workers of task i's labels, in no order; ``slack[i]`` is its evidence less its
target: below 0 it is short. Every move keeps what is of a task alone (:func:`may_have`, :func:`keeps`), and the
labels that each class has ``left``.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from crowdopt.assign.completion_kernels import ANY
from crowdopt.kernels import njit

CLOSE = 1e-12  # evidence; a smaller gain is rounding


class MoveParams(NamedTuple):
    """How labels are shared out."""

    free: int = 22  # labels of two tasks that are shared out anew at once: 2 * 2^11 subset sums
    fewer: int = 12  # the same in the first rounds
    many: int = 1_500  # tasks of a type beyond which single labels are exchanged first
    swaps: int = 12  # rounds of that
    stalled: int = 2  # rounds in which what is missing falls too little, after which sharing ends
    less: float = 0.9  # of what is missing: that is too little


class Terms(NamedTuple):
    """What stays as it is while labels move."""

    rows: NamedTuple  # of crowdopt.assign.problem
    row: np.ndarray  # (tasks,)
    bar_at: np.ndarray  # (tasks + 1,): classes of whom some are barred to a task
    bar: np.ndarray
    bar_left: np.ndarray  # labels of each that it may have all the same
    moves: MoveParams = MoveParams()


class State(NamedTuple):
    """What changes as labels move."""

    hands: np.ndarray  # (tasks, widest) int32
    held: np.ndarray  # (tasks,)
    slack: np.ndarray  # (tasks,)
    left: np.ndarray  # (G,): labels that each class has left
    chance: np.ndarray  # (1,) uint64: where chance comes from: equal input, equal output
    rung: np.ndarray  # (1,) bool: whether time is up; long loops look at it and end


@njit(cache=True, nogil=True)
def draw(chance, below):
    """A whole number in [0, below), by xorshift."""
    x = chance[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    chance[0] = x
    return np.int64(x % np.uint64(below))


@njit(cache=True, nogil=True)
def _inside(hand, n, group, a):
    """Labels of a hand in one of the groups that are apart."""
    count = 0
    for t in range(n):
        count += group[hand[t]] == a
    return count


@njit(cache=True, nogil=True)
def _beside(hand, n, member, h):
    """Labels of a hand in one of the other groups."""
    count = 0
    for t in range(n):
        count += member[h, hand[t]]
    return count


@njit(cache=True, nogil=True)
def may_know(i, g, hand, n, terms):
    """Whether a task with n labels in hand may have one more of class g, whatever groups say."""
    rows, same, r = terms.rows, 0, terms.row[i]
    for t in range(n):
        same += hand[t] == g
    most = rows.size[g]
    for b in range(rows.shut_at[r], rows.shut_at[r + 1]):
        if rows.shut[b] == g:
            most = min(most, rows.shut_left[b])
    for b in range(terms.bar_at[i], terms.bar_at[i + 1]):
        if terms.bar[b] == g:
            most = min(most, terms.bar_left[b])
    return same < most


@njit(cache=True, nogil=True)
def may_have(i, g, hand, n, terms):
    """Whether a task with n labels in hand may have one more of class g."""
    rows, r = terms.rows, terms.row[i]
    if not may_know(i, g, hand, n, terms):
        return False
    if rows.free[r]:
        return True
    a = rows.group[g]
    if n >= rows.most[r] or (rows.top[r, a] < ANY and _inside(hand, n, rows.group, a) >= rows.top[r, a]):
        return False
    for h in range(rows.member.shape[0]):
        if rows.member[h, g] and _beside(hand, n, rows.member, h) >= rows.top_beside[r, h]:
            return False
    return True


@njit(cache=True, nogil=True)
def keeps(i, hand, n, terms):
    """Whether a task may have just these labels, its evidence apart; of a class of one worker nobody is twice there."""
    rows, r = terms.rows, terms.row[i]
    for t in range(n):
        if rows.size[hand[t]] > 1 and not may_know(i, hand[t], hand, t, terms):
            return False
    if rows.free[r]:
        return True
    if n < rows.fewest[r] or n > rows.most[r]:
        return False
    for a in range(rows.low.shape[1]):
        if rows.low[r, a] > 0 or rows.top[r, a] < ANY:
            inside = _inside(hand, n, rows.group, a)
            if inside < rows.low[r, a] or inside > rows.top[r, a]:
                return False
    for h in range(rows.member.shape[0]):
        inside = _beside(hand, n, rows.member, h)
        if inside < rows.low_beside[r, h] or inside > rows.top_beside[r, h]:
            return False
    return True


@njit(cache=True, nogil=True)
def lacking(terms, state):
    """Which tasks have too little evidence, or labels that they may not have just so, (tasks,)."""
    short = np.zeros(terms.row.size, np.bool_)
    for i in range(short.size):
        short[i] = state.slack[i] < 0 or not keeps(i, state.hands[i], state.held[i], terms)
    return short


@njit(cache=True, nogil=True)
def _take(i, g, worth, state):
    state.hands[i, state.held[i]] = g
    state.held[i] += 1
    state.slack[i] += worth[g]
    state.left[g] -= 1


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _rise(heap, slack, at):
    """Restore the heap from a place upwards."""
    moved = heap[at]
    while at > 0:
        above = (at - 1) // 2
        if slack[heap[above]] <= slack[moved]:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = moved


@njit(cache=True, nogil=True)
def deal(tasks, groups, amounts, worth, terms, state):
    """Deal ``amounts[g]`` labels of each class, in the given order, always to the tasks that lack most.

    It makes the least slack large: the next label goes where slack is least, kept on top of a heap, and with the best
    classes first the coarse labels are dealt while there are finer ones to even them out. A task that may not have a
    label is passed over; in a round each task gets at most one of a class.
    """
    n, slack, widest = tasks.size, state.slack, state.hands.shape[1]
    if n == 0:
        return
    heap = tasks.copy()
    for at in range(n // 2 - 1, -1, -1):
        _sink(heap, n, slack, at)
    rows, bar_at, plain = terms.rows, terms.bar_at, np.empty(state.held.size, np.bool_)
    for i in tasks:
        r = terms.row[i]
        plain[i] = rows.free[r] and rows.shut_at[r] == rows.shut_at[r + 1] and bar_at[i] == bar_at[i + 1]
    hands, held = state.hands, state.held
    for g in groups:
        out = min(amounts[g], state.left[g])
        while out > 0:
            size, given = n, 0
            while given < out and size > 0:  # those looked at gather behind the heap
                size -= 1
                heap[0], heap[size] = heap[size], heap[0]
                _sink(heap, size, slack, 0)
                i = heap[size]
                if held[i] >= widest:
                    continue
                # of a class of one worker there is one round, in which nobody comes twice
                if (plain[i] and rows.size[g] == 1) or may_have(i, g, hands[i], held[i], terms):
                    hands[i, held[i]] = g
                    held[i] += 1
                    slack[i] += worth[g]
                    given += 1
            state.left[g] -= given
            for k in range(size, n):
                _rise(heap, slack, k)
            out -= given
            if given == 0 or rows.size[g] == 1:
                break


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _may_move(i, other, g, terms, state):
    """Whether a label of class g may go from a task to another as far as groups and who knows it say."""
    hand, n, mine, m = state.hands[other], state.held[other], state.hands[i], state.held[i]
    if not may_know(other, g, hand, n, terms):
        return False
    rows, r, s = terms.rows, terms.row[other], terms.row[i]
    if rows.free[r] and rows.free[s]:
        return True
    a = rows.group[g]
    if rows.top[r, a] < ANY and _inside(hand, n, rows.group, a) >= rows.top[r, a]:
        return False
    if rows.low[s, a] > 0 and _inside(mine, m, rows.group, a) <= rows.low[s, a]:
        return False
    for h in range(rows.member.shape[0]):
        if rows.member[h, g]:
            if _beside(hand, n, rows.member, h) >= rows.top_beside[r, h]:
                return False
            if rows.low_beside[s, h] > 0 and _beside(mine, m, rows.member, h) <= rows.low_beside[s, h]:
                return False
    return True


@njit(cache=True, nogil=True)
def share_out(a, b, worth, terms, state, anyhow, most):
    """Repartition the labels of two tasks of one type so that their slacks are as equal as can be.

    It maximises the smaller of both slacks. Labels that the other task may not have stay; of the rest, in random order,
    ``most`` may go either way, and the subset whose evidence is closest to half of all is the first task's. Since the
    slacks' sum is fixed, closest to half is largest minimum, and exact up to so many labels.

    anyhow: whether the new partition is kept even if the smaller slack does not rise; -> whether it was changed.
    """
    hands, held, slack, chance = state.hands, state.held, state.slack, state.chance
    total = held[a] + held[b]
    items, owner = np.empty(total, np.int64), np.empty(total, np.bool_)
    keep, kept, k = np.empty((2, total), np.int64), np.zeros(2, np.int64), 0
    for side in range(2):
        mine, other = (a, b) if side == 0 else (b, a)
        for t in range(held[mine]):
            g = hands[mine, t]
            if _may_move(mine, other, g, terms, state):
                items[k], owner[k], k = g, side == 0, k + 1
            else:
                keep[side, kept[side]] = g
                kept[side] += 1
    if k < 1:
        return False
    for t in range(k - 1, 0, -1):
        s = draw(chance, t + 1)
        items[t], items[s] = items[s], items[t]
        owner[t], owner[s] = owner[s], owner[t]
    free = min(k, most)
    values, had = np.empty(free), 0.0
    for t in range(free):
        values[t] = worth[items[t]]
        if owner[t]:
            had += values[t]
    joint = slack[a] + slack[b]
    mask, reached = closest(values, free, had + joint / 2 - slack[a])
    new_a = slack[a] - had + reached
    if not anyhow and min(new_a, joint - new_a) <= min(slack[a], slack[b]) + CLOSE:
        return False
    for t in range(free):
        owner[t] = mask >> t & 1
    for t in range(k):
        side = 0 if owner[t] else 1
        keep[side, kept[side]] = items[t]
        kept[side] += 1
    if kept.max() > hands.shape[1] or not keeps(a, keep[0], kept[0], terms) or not keeps(b, keep[1], kept[1], terms):
        return False
    for side in range(2):
        i = a if side == 0 else b
        held[i] = kept[side]
        for t in range(kept[side]):
            hands[i, t] = keep[side, t]
    slack[a], slack[b] = new_a, joint - new_a
    return True


@njit(cache=True, nogil=True)
def _swap_one(a, b, worth, terms, state):
    """Exchange one label of task a for one of task b, of one type, so that their slacks come closest."""
    hands, held, slack, row = state.hands, state.held, state.slack, terms.row
    mine, theirs = hands[a], hands[b]
    wanted = (slack[b] - slack[a]) / 2
    best, at, other = abs(wanted) - CLOSE, -1, -1
    rows, bar_at = terms.rows, terms.bar_at
    plain = rows.free[row[a]] and rows.free[row[b]] and bar_at[a] == bar_at[a + 1] and bar_at[b] == bar_at[b + 1]
    for x in range(held[a]):
        g = mine[x]
        for y in range(held[b]):
            h = theirs[y]
            off = abs(worth[h] - worth[g] - wanted)
            if off >= best or h == g:
                continue
            twice = False
            for t in range(held[a]):
                twice |= mine[t] == h
            for t in range(held[b]):
                twice |= theirs[t] == g
            if twice or not (plain or (_may_move(a, b, g, terms, state) and _may_move(b, a, h, terms, state))):
                continue
            best, at, other = off, x, y
    if at >= 0:
        g, h = mine[at], theirs[other]
        mine[at], theirs[other] = h, g
        slack[a] += worth[h] - worth[g]
        slack[b] -= worth[h] - worth[g]


@njit(cache=True, nogil=True)
def _even_out(tasks, worth, terms, state):
    """Exchange single labels between poorest and richest, for some rounds: a cheap beginning where tasks are many."""
    half, slack = tasks.size // 2, state.slack
    for _ in range(terms.moves.swaps):
        order = tasks[np.argsort(slack[tasks])]
        if slack[order[0]] >= 0 or state.rung[0]:
            return
        for k in range(half):
            poor, rich = order[k], order[tasks.size - 1 - k]
            if slack[poor] >= 0:
                break
            if slack[rich] - slack[poor] > CLOSE:
                _swap_one(poor, rich, worth, terms, state)


@njit(cache=True, nogil=True)
def level(tasks, worth, terms, state, rounds):
    """Share out poorest with richest, round after round, until none of the tasks, of one type, is short.

    It raises the least slack of tasks whose total is fixed: sorted by slack they are paired from both ends, after three
    rounds with a random shift, so that the same two do not meet for ever.
    """
    half, slack, rung = tasks.size // 2, state.slack, state.rung
    if tasks.size > terms.moves.many:
        _even_out(tasks, worth, terms, state)
    least, idle, free, fewer = np.inf, 0, terms.moves.free, terms.moves.fewer
    for turn in range(rounds):
        order, lack = tasks[np.argsort(slack[tasks])], 0.0
        for i in tasks:
            lack += max(0.0, -slack[i])
        idle = 0 if lack < terms.moves.less * least else idle + 1
        least = min(least, lack)
        if slack[order[0]] >= 0 or rung[0] or idle >= terms.moves.stalled:
            return
        shift = 0 if turn < 3 else draw(state.chance, max(1, half))
        for k in range(half):
            poor, rich = order[k], order[tasks.size - 1 - (k + shift) % half]
            if slack[poor] >= 0:
                break
            if slack[rich] - slack[poor] > CLOSE:
                share_out(poor, rich, worth, terms, state, False, fewer if turn < 3 else free)


@njit(cache=True, nogil=True)
def finish(tasks, worth, terms, state, work):
    """For each short task look for a partner with whom an exact partition covers both; else stir; -> the work left."""
    slack, rung = state.slack, state.rung
    while work > 0 and not rung[0]:
        short = 0
        for d in tasks:
            if slack[d] >= 0:
                continue
            short += 1
            start, mended = draw(state.chance, tasks.size), False
            for x in range(tasks.size):
                i = tasks[(start + x) % tasks.size]
                if i == d or slack[i] < 0 or slack[i] + slack[d] < 0:
                    continue
                work -= 1
                if share_out(d, i, worth, terms, state, False, terms.moves.free):
                    mended = slack[d] >= 0 and slack[i] >= 0
                    if mended or slack[i] < 0:
                        break
                if work <= 0 or rung[0]:
                    return 0
            if not mended:
                i = tasks[draw(state.chance, tasks.size)]
                if i != d:
                    share_out(d, i, worth, terms, state, True, terms.moves.free)
                    work -= 1
        if short == 0:
            break
    return work


class Ties(NamedTuple):
    """Rows that tie tasks, loads apart: what a label of each type and class brings to which of them."""

    at: np.ndarray  # (T G + 1,)
    row: np.ndarray
    part: np.ndarray
    activity: np.ndarray  # (rows,): written
    lower: np.ndarray
    upper: np.ndarray


@njit(cache=True, nogil=True)
def _ties_allow(cell, ties):
    """Whether no row that holds is broken by a label more, and no other one is broken more."""
    for e in range(ties.at[cell], ties.at[cell + 1]):
        r, now = ties.row[e], ties.activity[ties.row[e]]
        after = now + ties.part[e]
        if after > max(ties.upper[r], now) + 1e-9 or after < min(ties.lower[r], now) - 1e-9:
            return False
    return True


@njit(cache=True, nogil=True)
def _mends(cell, ties):
    """By how much a label more lessens what rows lack and have too much, all together."""
    gain = 0.0
    for e in range(ties.at[cell], ties.at[cell + 1]):
        r, now = ties.row[e], ties.activity[ties.row[e]]
        after = now + ties.part[e]
        gain += max(0.0, ties.lower[r] - now, now - ties.upper[r])
        gain -= max(0.0, ties.lower[r] - after, after - ties.upper[r])
    return gain


@njit(cache=True, nogil=True)
def mend(price, terms, state, ties):
    """Labels beside those that tasks have, of whoever mends rows most for their price, until nobody does."""
    groups, type_of = state.left.size, terms.rows.type[terms.row]
    order = np.argsort(type_of, kind="mergesort")
    at = np.searchsorted(type_of[order], np.arange(price.shape[0] + 1))
    turn, gone = np.zeros(price.size, np.int64), np.zeros(price.size, np.bool_)
    while not state.rung[0]:
        pick, most = -1, 1e-9
        for cell in range(price.size):
            t, g = divmod(cell, groups)
            if not gone[cell] and state.left[g] > 0:
                gain = _mends(cell, ties) / max(price[t, g], 1e-9)
                if gain > most:
                    pick, most = cell, gain
        if pick < 0:
            return
        t, g = divmod(pick, groups)
        gone[pick] = True
        while at[t] + turn[pick] < at[t + 1] and state.left[g] > 0 and _mends(pick, ties) > 1e-9:
            i = order[at[t] + turn[pick]]
            turn[pick] += 1
            if state.slack[i] < 0 or state.held[i] == state.hands.shape[1]:
                continue
            if may_have(i, g, state.hands[i], state.held[i], terms):
                _take(i, g, terms.rows.worth[t], state)
                gone[pick] = False
                for e in range(ties.at[pick], ties.at[pick + 1]):
                    ties.activity[ties.row[e]] += ties.part[e]


@njit(cache=True, nogil=True)
def _helps_most(i, ranked, turn, gain, have, scale, terms, state, ties):
    """The class whose label lowers a task's bound most for its price, and by how much; -1: none does."""
    t, hand, n, groups = terms.rows.type[terms.row[i]], state.hands[i], state.held[i], state.left.size
    while turn[t] < groups and state.left[ranked[t, turn[t]]] <= 0:
        turn[t] += 1  # nobody regains room
    if n < hand.size:
        for z in range(turn[t], groups):
            g = ranked[t, z]
            if gain[t, g] <= 0:
                break
            if state.left[g] > 0 and may_have(i, g, hand, n, terms) and _ties_allow(t * groups + g, ties):
                return g, gain[t, g] * scale[i] * np.exp(-have[i] / 2)
    return -1, 0.0


@njit(cache=True, nogil=True)
def spread(tasks, price, have, scale, terms, state, ties):
    """Labels to tasks, one after another, each where it lowers ``scale e^{-have / 2}`` most for its price.

    What a label brings to a task only falls, so a heap of tasks finds the next one. have (tasks,): evidence, written.
    """
    gain, ranked = np.empty(price.shape), np.empty(price.shape, np.int64)
    for t in range(price.shape[0]):
        gain[t] = (1 - np.exp(-terms.rows.worth[t] / 2)) / np.maximum(price[t], 1e-12)
        ranked[t] = np.argsort(-gain[t], kind="mergesort")
    turn, groups = np.zeros(price.shape[0], np.int64), state.left.size
    heap = [(0.0, np.int64(-1))]
    for i in tasks:
        heap.append((-_helps_most(i, ranked, turn, gain, have, scale, terms, state, ties)[1], i))
    heapify(heap)
    while heap:
        promised, i = heappop(heap)
        if promised >= 0:
            break
        g, most = _helps_most(i, ranked, turn, gain, have, scale, terms, state, ties)
        if g >= 0 and most >= -promised * (1 - CLOSE):
            t = terms.rows.type[terms.row[i]]
            _take(i, g, terms.rows.worth[t], state)
            have[i] += terms.rows.worth[t, g]
            for e in range(ties.at[t * groups + g], ties.at[t * groups + g + 1]):
                ties.activity[ties.row[e]] += ties.part[e]
            most = _helps_most(i, ranked, turn, gain, have, scale, terms, state, ties)[1]
        heappush(heap, (-most, i))


@njit(cache=True, nogil=True)
def _helps(r, g, hand, n, rows):
    """Whether a label of class g is one of a group that a task still needs labels of."""
    a = rows.group[g]
    if rows.low[r, a] > 0 and _inside(hand, n, rows.group, a) < rows.low[r, a]:
        return True
    for h in range(rows.member.shape[0]):
        if rows.member[h, g] and _beside(hand, n, rows.member, h) < rows.low_beside[r, h]:
            return True
    return False


@njit(cache=True, nogil=True)
def _may_replace(i, place, g, terms, state):
    """Whether a task may have a label of class g, below 0 none, in place of one of its own."""
    hand, n = state.hands[i, : state.held[i]].copy(), state.held[i] - 1
    hand[place] = hand[n]
    if g >= 0:
        if not may_know(i, g, hand, n, terms):
            return False
        hand[n], n = g, n + 1
    return keeps(i, hand, n, terms)


@njit(cache=True, nogil=True)
def escalate(tasks, price, worth_of, terms, state, rounds, work, allowed):
    """Buy one label after another for tasks of one type, and share out, until none is short.

    A label is bought for the poorest task, the cheapest for the evidence that the tasks can use, which is capped at one
    and a half times what all of them lack; one label more gives all of them something to share, so few are bought.

    price, worth_of (G,): of the type; rounds, work: of sharing out after each label; allowed: labels; -> whether none
    is short.
    """
    slack, held, hands, left = state.slack, state.held, state.hands, state.left
    for _ in range(allowed):
        poorest, lack = tasks[0], 0.0
        for i in tasks:
            lack += max(0.0, -slack[i])
            if slack[i] < slack[poorest]:
                poorest = i
        if slack[poorest] >= 0:
            return True
        if state.rung[0] or held[poorest] >= hands.shape[1]:
            return False
        pick, score = -1, np.inf
        for g in range(left.size):
            if left[g] > 0 and worth_of[g] > 0:
                this = (price[g] + 1e-3) / min(worth_of[g], 1.5 * lack + 1e-2)
                if this < score - CLOSE and may_have(poorest, g, hands[poorest], held[poorest], terms):
                    pick, score = g, this
        if pick < 0:
            return False
        _take(poorest, pick, worth_of, state)
        level(tasks, worth_of, terms, state, rounds)
        finish(tasks, worth_of, terms, state, work)
    return False


@njit(cache=True, nogil=True)
def seat(task, members, room, least, bar_at, bar, rung):
    """Workers for labels of one class: who has most labels left first, whoever lacks some before all others.

    Where nobody is left for a task, others change their workers in turn until it has one.

    task (k,): tasks, each as often as it has labels, those with most labels first; members: the class; room, least
    (workers,): labels that each has left and lacks, written; bar_at, bar: who is barred to each task; -> (k,): workers;
    -1: nobody.
    """
    worker, stamp = np.full(task.size, -1), np.full(room.size, -1)  # who is barred to the task at hand, or has it
    begin = 0
    for z in range(task.size):
        i = task[z]
        if z == 0 or task[z - 1] != i:
            begin = z
            for b in range(bar_at[i], bar_at[i + 1]):
                stamp[bar[b]] = i
        best, score = -1, -1
        for j in members:
            if room[j] <= 0 or stamp[j] == i:
                continue
            this = room[j] + (1 << 30) * max(0, least[j])
            if this > score:
                best, score = j, this
        if best < 0 and not rung[0]:
            best = _given_up(z, begin, task, worker, members, room, bar_at, bar)
        if best >= 0:
            worker[z], stamp[best] = best, i
            room[best] -= 1
            least[best] -= 1
    for j in members:
        begin = 0
        for y in range(task.size):
            begin = y if y == 0 or task[y - 1] != task[y] else begin
            if least[j] <= 0 or room[j] <= 0:
                break
            end, other = begin, worker[y]
            while end < task.size and task[end] == task[y]:
                end += 1
            if other >= 0 and least[other] < 0 and _is_free(task[y], j, worker, begin, end, bar_at, bar):
                worker[y] = j
                room[j], room[other] = room[j] - 1, room[other] + 1
                least[j], least[other] = least[j] - 1, least[other] + 1
    return worker


@njit(cache=True, nogil=True)
def _is_free(i, j, worker, begin, end, bar_at, bar):
    """Whether a worker is not barred to a task, nor among those whom it has."""
    for b in range(bar_at[i], bar_at[i + 1]):
        if bar[b] == j:
            return False
    twice = 0
    for y in range(begin, end):
        twice += worker[y] == j
    return twice == 0


@njit(cache=True, nogil=True)
def _given_up(z, begin, task, worker, members, room, bar_at, bar):
    """A worker for a task, all of whose workers are busy: others change theirs in turn; -1: nobody can be had.

    A shortest augmenting path, over labels that change their worker: so a worker is found wherever there is one.
    """
    came = np.full(room.size, -1)  # the label that would take the worker
    queue, head, tail, idle = np.empty(begin + 1, np.int64), 0, 1, 0
    queue[0] = z
    for j in members:
        idle += room[j] > 0
    while head < tail and idle > 0:
        y, first = queue[head], queue[head]
        head += 1
        while first > 0 and task[first - 1] == task[y]:
            first -= 1
        last = z if y == z else y + 1
        while y < z and last < begin and task[last] == task[y]:
            last += 1
        for j in members:
            if came[j] >= 0 or not _is_free(task[y], j, worker, first, last, bar_at, bar):
                continue
            came[j] = y
            if room[j] > 0:
                room[j] -= 1
                while came[j] != z:
                    y = came[j]
                    worker[y], j = j, worker[y]
                room[j] += 1
                return j
            for other in range(begin):
                if worker[other] == j:
                    queue[tail] = other
                    tail += 1
    return -1
