"""Labels bought, dropped and exchanged: compiled loops, by each vote's own error, or by evidence where that decides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.assign.state_kernels import _helps, _may_replace, keeps, may_have
from crowdopt.crowd.vote_kernels import class_error, class_room, error_of
from crowdopt.kernels import njit

CELLS, CLASS_CELLS = 4_096, 1_024  # values told apart of half a vote between two classes; of one among more


class Jury(NamedTuple):
    """Who votes, and how little a vote must err."""

    accuracy: np.ndarray  # (E, T, G): on easy tasks, and on hard ones where there are some
    weight: np.ndarray  # (T, G); 0: the label counts for nothing
    worth: np.ndarray  # (T, G): evidence
    share: np.ndarray  # (E,); of nobody where evidence decides
    prior: np.ndarray  # (R, K)
    bias: np.ndarray  # (R,)
    held_at: np.ndarray  # (R + 1,): labels that are in
    held_accuracy: np.ndarray  # (E, labels)
    held_weight: np.ndarray  # (labels,)
    # of kinds
    target: np.ndarray  # error
    need: np.ndarray  # evidence that is asked for whatever the vote errs with
    kind_of: np.ndarray  # (tasks,)


@njit(cache=True, nogil=True)
def vote(i, hand, n, terms, jury, room):
    """What a task's vote errs with if it has just these labels."""
    r = terms.row[i]
    t, first, last = terms.rows.type[r], jury.held_at[r], jury.held_at[r + 1]
    classes = jury.prior.shape[1]
    w, p = np.empty(last - first + n), np.empty(last - first + n)
    total = 0.0
    for e in range(jury.share.size):
        size = 0
        for j in range(first, last):
            if classes == 2 or jury.held_weight[j] != 0:
                w[size], p[size], size = jury.held_weight[j], jury.held_accuracy[e, j], size + 1
        for j in range(n):
            if classes == 2 or jury.weight[t, hand[j]] != 0:
                w[size], p[size], size = jury.weight[t, hand[j]], jury.accuracy[e, t, hand[j]], size + 1
        if classes == 2:
            total += (
                jury.share[e] * error_of(w[:size].copy(), p[:size].copy(), jury.prior[r, 1], jury.bias[r], room[0])[0]
            )
        else:
            states, grown, table, stamp = room[1]
            error, _, stamp[0] = class_error(
                p[:size].copy(), jury.prior[r], CLASS_CELLS, False, states, grown, table, stamp[0]
            )
            total += error
    return total


@njit(cache=True, nogil=True)
def _slack(i, hand, n, terms, jury, room):
    """How much smaller a vote's error is than it must be, by logarithms; or how much evidence it lacks, below 0."""
    k, t = jury.kind_of[i], terms.rows.type[terms.row[i]]
    lacks = jury.need[k]
    for j in range(n):
        lacks -= jury.worth[t, hand[j]]
    if lacks > 0 or jury.share.size == 0:
        return -lacks
    return np.log(jury.target[k] / max(1e-300, vote(i, hand, n, terms, jury, room)))


@njit(cache=True, nogil=True)
def new_room(jury):
    """Room for laws of votes."""
    classes = jury.prior.shape[1]
    states, grown, table = class_room(CLASS_CELLS if classes > 2 else 1, classes)
    return np.empty((8, CELLS if classes == 2 else 1)), (states, grown, table, np.zeros(1, np.int64))


@njit(cache=True, nogil=True)
def weigh(tasks, terms, state, jury):
    """How much better than they must be the votes of some tasks are, written to their slack."""
    room = new_room(jury)
    for i in tasks:
        state.slack[i] = _slack(i, state.hands[i], state.held[i], terms, jury, room)


@njit(cache=True, nogil=True)
def _able(i, n, whole, terms, state, jury, able, key):
    """Classes that a task may have another label of, the best first, those alone that groups ask for if any; how many.

    able, key (G,): room to work in.
    """
    rows, r, count, asked = terms.rows, terms.row[i], 0, 0
    hand = state.hands[i]
    worth = jury.worth[rows.type[r]]
    for g in range(state.left.size):
        if state.left[g] > 0 and may_have(i, g, hand, n, terms):
            helps = not whole and _helps(r, g, hand, n, rows)
            if helps and asked == 0:
                count, asked = 0, 1
            if helps or (asked == 0 and (state.slack[i] >= 0 or worth[g] > 0)):
                able[count], key[count], count = g, -worth[g], count + 1
    able[:count] = able[:count][np.argsort(key[:count], kind="mergesort")]
    return count


@njit(cache=True, nogil=True)
def _closing(i, n, order, count, terms, state, jury, room):
    """How many of the classes, the best ones, close a task's lack with one label."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2 if low > 0 else 0
        state.hands[i, n] = order[middle]
        if _slack(i, state.hands[i], n + 1, terms, jury, room) >= 0:
            low = middle + 1
        else:
            high = middle
            if middle == 0:
                break
    return low


@njit(cache=True, nogil=True)
def buy(tasks, price, terms, state, jury, whole_or_none):
    """Buy each short task, or one with too few labels, the cheapest one that closes its lack; -> how many stay short.

    No vote errs more for having a better label: the poorest that does is found by halving. whole_or_none: tasks that
    stay short give back what they bought.
    """
    rows, slack, held, hands = terms.rows, state.slack, state.held, state.hands
    room, short = new_room(jury), 0
    able, key = np.empty(state.left.size, np.int64), np.empty(state.left.size)
    for i in tasks:
        r = terms.row[i]
        t, before, lacked = rows.type[r], held[i], slack[i]
        while held[i] < hands.shape[1] and not state.rung[0]:
            n = held[i]
            hand, whole = hands[i], keeps(i, hands[i], n, terms)
            if slack[i] >= 0 and whole:
                break
            count = _able(i, n, whole, terms, state, jury, able, key)
            if count == 0:
                break
            low = count if slack[i] >= 0 else _closing(i, n, able, count, terms, state, jury, room)
            pick, score = -1, np.inf
            for z in range(low if low > 0 else count):
                g = able[z]
                this = price[t, g] if low > 0 else (price[t, g] + 1e-3) / max(jury.worth[t, g], 1e-9)
                if this < score or (this == score and low > 0):  # of those that close it the poorest
                    pick, score = g, this
            hand[n] = pick
            held[i] += 1
            state.left[pick] -= 1
            slack[i] = _slack(i, hand, n + 1, terms, jury, room)
        if slack[i] < 0 or not keeps(i, hands[i], held[i], terms):
            short += 1
            if whole_or_none:
                slack[i] = lacked
                while held[i] > before:
                    held[i] -= 1
                    state.left[hands[i, held[i]]] += 1
    return short


@njit(cache=True, nogil=True)
def thin(tasks, price, least, terms, state, jury):
    """Drop the dearest label that a task can do without, until it can do without none.

    least (G,): labels that each class must keep in all, less those it has; written.
    """
    rows, slack, held, hands = terms.rows, state.slack, state.held, state.hands
    room = new_room(jury)
    hand = np.empty(hands.shape[1], np.int32)
    for i in tasks:
        t = rows.type[terms.row[i]]
        poorest = np.inf if jury.share.size == 0 else -np.inf
        for k in range(held[i]):
            poorest = min(poorest, jury.worth[t, hands[i, k]])
        if poorest > slack[i] + 1e-9:  # by evidence, which is soon summed
            continue
        while slack[i] >= 0 and held[i] > 0 and not state.rung[0]:
            n, done = held[i], True
            order = np.argsort(-price[t][hands[i, :n]], kind="mergesort")
            for k in order:
                g = hands[i, k]
                if least[g] >= 0 or price[t, g] <= 0 or not _may_replace(i, k, -1, terms, state):
                    continue
                size = 0
                for j in range(n):
                    if j != k:
                        hand[size], size = hands[i, j], size + 1
                left = _slack(i, hand, size, terms, jury, room)
                if left >= 0:
                    for j in range(size):
                        hands[i, j] = hand[j]
                    held[i], slack[i], done = size, left, False
                    state.left[g] += 1
                    least[g] += 1
                    break
            if done:
                break


@njit(cache=True, nogil=True)
def fill(lacks, over, cost, terms, state, jury):
    """Labels for classes that lack some: in place of those of classes that have some over, else beside, the cheapest.

    lacks, over (G,): labels; written.
    """
    rows, n, hands, held = terms.rows, terms.row.size, state.hands, state.held
    room, key = new_room(jury), np.empty(n)
    hand = np.empty(hands.shape[1], np.int32)
    for g in range(lacks.size):
        if lacks[g] <= 0:
            continue
        for i in range(n):
            size = held[i]
            for k in range(size):
                h = hands[i, k]
                if lacks[g] <= 0 or state.left[g] <= 0 or state.rung[0]:
                    break
                if over[h] > 0 and _may_replace(i, k, g, terms, state):
                    for j in range(size):
                        hand[j] = g if j == k else hands[i, j]
                    left = _slack(i, hand, size, terms, jury, room)
                    if left >= 0:
                        hands[i, k], state.slack[i] = g, left
                        state.left[g] -= 1
                        state.left[h] += 1
                        lacks[g], over[h] = lacks[g] - 1, over[h] - 1
                        break
            key[i] = cost[rows.type[terms.row[i]], g] + 1e-9 * held[i]
        if lacks[g] > 0:
            for i in np.argsort(key, kind="mergesort"):
                if lacks[g] <= 0 or state.left[g] <= 0:
                    break
                if held[i] < hands.shape[1] and may_have(i, g, hands[i], held[i], terms):
                    hands[i, held[i]] = g
                    left = state.slack[i]
                    if jury.share.size != 1:  # a vote that takes tasks for easy ones may err more with a label more
                        left = _slack(i, hands[i], held[i] + 1, terms, jury, room)
                    if left >= 0 or left >= state.slack[i]:
                        held[i], state.slack[i] = held[i] + 1, left
                        state.left[g] -= 1
                        lacks[g] -= 1
