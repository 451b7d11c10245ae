"""Compiled loops that move labels between rows, and buy and drop them; see assign.dealt for the arrays."""

from __future__ import annotations

import numpy as np

from crowdopt.assign.exact.kernels.dealing import count, draw
from crowdopt.assign.exact.kernels.sharing import CLOSE
from crowdopt.compiled_kernels import njit

LOOSE = 0.02  # evidence; how much worse a random exchange may make things to get out of a corner


@njit(cache=True, nogil=True)
def trade(tasks, terms, dealt, work):
    """Exchange labels across rows, and with workers who have capacity left, to lower the total that is missing.

    It minimises the sum of all lacks by single exchanges within the money to spare: a label is worth more to one row
    than to another, so an exchange may help both, or one more than it hurts the other. Again and again a random short
    task makes its best exchange; when as many as are short and two more found none, a random exchange that makes things
    hardly worse gets them out of the corner.

    -> the work left.
    """
    slack, state = dealt.slack, dealt.state
    short = np.empty(tasks.size, np.int64)
    n_short = stuck = 0
    for i in tasks:
        if slack[i] < 0:
            short[n_short] = i
            n_short += 1
    while n_short > 0 and work > 0 and not dealt.rung[0]:
        d = short[draw(state, n_short)]
        gain, i, a, b, g = _best_trade(d, tasks, terms, dealt)
        work -= tasks.size
        if gain > CLOSE:
            stuck = 0
            _swap(d, i, a, b, g, terms, dealt)
            if i >= 0 and slack[i] < 0:
                n_short = _note(short, n_short, i)
        else:
            stuck += 1
            if stuck > n_short + 2:
                i = _stir(d, tasks, terms, dealt)
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


@njit(cache=True, no_cpython_wrapper=True)
def _note(short, n_short, i):
    """Add a task to the list of the short ones, once; returns how many there are."""
    for k in range(n_short):
        if short[k] == i:
            return n_short
    short[n_short] = i
    return n_short + 1


@njit(cache=True, inline="always")
def _with_a_partner(d, tasks, terms, dealt):
    """The exchange of task d with another that gains most: gain, partner, own place, the partner's place, group."""
    # Each label of a partner for nothing (own place -1), or for each label of one's own; group -1: there is none. It
    # stops at a partner with whom the task lacks no more, since no exchange can gain more than the lack of the two.
    # Arrays are looked up once, not for each partner: a look counts references, which takes as long as a few labels.
    row, worth, cost, size, fewest = terms.row, terms.worth, terms.cost, terms.size, terms.fewest
    hands, held, slack, spare = dealt.hands, dealt.held, dealt.slack, dealt.spare
    best, who, own, theirs, group = CLOSE, -1, -1, -1, -1
    td, lack, takes = row[d], -slack[d], held[d] < min(terms.most[d], hands.shape[1])
    for i in tasks:
        if i == d:
            continue
        ti, both = row[i], lack + max(0.0, -slack[i])
        for b in range(held[i]):
            g = hands[i, b]
            if count(hands, held, d, g) >= size[g]:
                continue
            got, gone, extra = worth[td, g], worth[ti, g], cost[td, g] - cost[ti, g]
            for a in range(-1 if takes and held[i] > fewest[i] else 0, held[d]):
                up, down, paid = got, gone, extra
                if a >= 0:
                    h = hands[d, a]
                    up, down, paid = got - worth[td, h], gone - worth[ti, h], extra + cost[ti, h] - cost[td, h]
                    if up <= 0:
                        continue
                gain = both - max(0.0, lack - up) - max(0.0, down - slack[i])
                if gain <= best or paid > spare[0]:
                    continue
                if a < 0 or count(hands, held, i, hands[d, a]) < size[hands[d, a]]:
                    best, who, own, theirs, group = gain, i, a, b, g
        if best >= lack - CLOSE and who >= 0:
            break
    return best, who, own, theirs, group


@njit(cache=True, inline="always")
def _with_the_left(d, best, terms, dealt):
    """The exchange of task d with capacity left that gains most, and more than ``best``: gain, own place, group."""
    worth, cost, hands, held, left = terms.worth, terms.cost, dealt.hands, dealt.held, dealt.left
    own, group, td, lack = -1, -1, terms.row[d], -dealt.slack[d]
    for g in range(left.size):
        if left[g] <= 0 or count(hands, held, d, g) >= terms.size[g]:
            continue
        for a in range(held[d]):
            h = hands[d, a]
            up, paid = worth[td, g] - worth[td, h], cost[td, g] - cost[td, h]
            gain = lack - max(0.0, lack - up)
            if gain > best and paid <= dealt.spare[0]:
                best, own, group = gain, a, g
    return best, own, group


@njit(cache=True, inline="always")
def _best_trade(d, tasks, terms, dealt):
    """The exchange that lowers the total lack most: (gain, partner or -1, own place or -1, partner's place, group)."""
    # With tasks first, then with workers who have capacity left (partner -1).
    best, who, own, theirs, group = _with_a_partner(d, tasks, terms, dealt)
    gain, a, g = _with_the_left(d, best, terms, dealt)
    if g >= 0:
        best, who, own, theirs, group = gain, -1, a, -1, g
    return best if group >= 0 else 0.0, who, own, theirs, group


@njit(cache=True, inline="always")
def _swap(d, i, a, b, g, terms, dealt):
    """Carry out an exchange that _best_trade found."""
    row, worth, cost, hands, held = terms.row, terms.worth, terms.cost, dealt.hands, dealt.held
    slack, left, spare = dealt.slack, dealt.left, dealt.spare
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


@njit(cache=True, inline="always")
def _stir(d, tasks, terms, dealt):
    """A random exchange that makes the total lack at most a little worse; returns the partner or -1."""
    row, worth, cost, size = terms.row, terms.worth, terms.cost, terms.size
    hands, held, slack = dealt.hands, dealt.held, dealt.slack
    spare, state = dealt.spare, dealt.state
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
def top_up(tasks, terms, dealt):
    """Buy each short task the cheapest label that closes its lack, or else the one with most evidence for its price.

    The last resort: nothing is exchanged, so every task that capacity and its limits allow is covered. Task by task in
    the given order, label by label. Returns how many tasks stay short for want of capacity.
    """
    row, worth, cost, room, most = terms.row, terms.worth, terms.cost, terms.room, terms.most
    hands, held, slack, left = dealt.hands, dealt.held, dealt.slack, dealt.left
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
def thin(tasks, terms, dealt):
    """Drop the dearest label that a task can do without, until it can do without none. Returns the money saved.

    A label whose evidence is at most the task's slack can go, and the task stays covered. The dearest goes first, of
    equals the first in hand.
    """
    row, worth, cost, fewest = terms.row, terms.worth, terms.cost, terms.fewest
    hands, held, slack, left = dealt.hands, dealt.held, dealt.slack, dealt.left
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
