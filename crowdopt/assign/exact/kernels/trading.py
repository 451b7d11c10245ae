"""Compiled loops that move labels between rows, and buy and drop them; see hands for the state."""

from __future__ import annotations

import numpy as np

from crowdopt.assign.exact.kernels.dealing import count, draw
from crowdopt.assign.exact.kernels.sharing import CLOSE
from crowdopt.compiled_kernels import njit

LOOSE = 0.02  # evidence; how much worse a random exchange may make things to get out of a corner


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
