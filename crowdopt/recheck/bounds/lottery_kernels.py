"""Compiled bound on what sets of labels of one kind cost, by lotteries between two skills.

A worker of skill ``p = l b + (1 - l) a`` answers as one whom a lottery makes a worker of skill b, with chance l, or of
skill a. Who is told how the lottery ended errs no more. So a set whose labels lie between the best and the worst skill
of their cells errs at least as the mean over lotteries, and if ``e(k) >= height - slope k`` for k winners of each cell,
then ``error >= height - slope s``, where s adds up the chances l of a cell. The cheapest labels of each cell for which
this is at most the target cost at least what any multiplier of it says, for any slopes.
"""

from __future__ import annotations

import numpy as np

from crowdopt.kernels import njit
from crowdopt.recheck.bounds.answer_kernels import least_error

POINTS = 128  # numbers of winners that are looked at, at most
ROUNDS, STEPS = 3, 16  # slopes that are tried; steps to the best multiplier of each
GOLDEN = 0.6180339887498949


@njit(cache=True, nogil=True)
def _put_in(room, size, level, many):
    """Labels of a level among counted ones, which ascend; the number of levels."""
    at = 0
    while at < size and room.level[at] < level:
        at += 1
    if at < size and room.level[at] == level:
        room.amount[at] += many
        return size
    for k in range(size, at, -1):
        room.level[k], room.amount[k] = room.level[k - 1], room.amount[k - 1]
    room.level[at], room.amount[at] = level, many
    return size + 1


@njit(cache=True, nogil=True)
def _drawn(cells, nodes, node, lots):
    """Which cells of a node have lotteries: all whose skills differ, but the narrowest where points were too many."""
    points = 1
    for s in range(lots.size):
        c = nodes.cell[node, s]
        lots[s] = nodes.amount[node, s] if cells.top[c] < cells.bottom[c] else 0
        points *= lots[s] + 1
    while points > POINTS:
        out = -1
        for s in range(lots.size):
            narrower = out < 0 or cells.size[nodes.cell[node, s]] < cells.size[nodes.cell[node, out]]
            if lots[s] > 0 and narrower:
                out = s
        points //= lots[out] + 1
        lots[out] = 0
    return points


@njit(cache=True, nogil=True)
def _table(labels, cells, nodes, node, lots, room, error):
    """Errors for all numbers of winners, the first cell's fastest; cells without lotteries have their best labels."""
    winners = np.zeros(lots.size, np.int64)
    for point in range(error.size):
        size = 0
        for s in range(lots.size):
            c, many = nodes.cell[node, s], nodes.amount[node, s]
            if lots[s] == 0:
                for k in range(many):
                    size = _put_in(room, size, cells.tops[c, k], 1)
                continue
            if winners[s] > 0:
                size = _put_in(room, size, cells.top[c], winners[s])
            if winners[s] < many:
                size = _put_in(room, size, cells.bottom[c], many - winners[s])
        error[point] = least_error(labels.start, labels.skill, labels.odds, room.level, room.amount, size, room.scratch)
        for s in range(lots.size):  # the next numbers
            if winners[s] < lots[s]:
                winners[s] += 1
                break
            winners[s] = 0


@njit(cache=True, nogil=True)
def _tangent(lots, error, middle, slope):
    """Slopes of the errors near ``middle``, written, and the height of the plane of those slopes below all of them."""
    base, stride = 0, 1
    for s in range(lots.size):
        base += stride * min(lots[s], int(np.rint(middle[s])))
        stride *= lots[s] + 1
    stride = 1
    for s in range(lots.size):
        slope[s] = 0.0
        if lots[s] > 0:
            here = min(lots[s], int(np.rint(middle[s])))
            first = max(0, here - 1)
            last = min(lots[s], here + 1)
            fall = error[base + (first - here) * stride] - error[base + (last - here) * stride]
            slope[s] = max(0.0, fall / (last - first))
        stride *= lots[s] + 1
    height = np.inf
    for point in range(error.size):
        rest, value = point, error[point]
        for s in range(lots.size):
            value += slope[s] * (rest % (lots[s] + 1))
            rest //= lots[s] + 1
        height = min(height, value)
    return height


@njit(cache=True, nogil=True)
def _chance(labels, cells, c, item):
    """Of the best skill of a cell in the lottery that makes this label; the largest over easy and hard tasks."""
    chance = 0.0
    for b in range(len(labels.skill)):
        low, high = labels.skill[b, cells.bottom[c]], labels.skill[b, cells.top[c]]
        if high > low:
            chance = max(chance, (labels.skill[b, labels.level[item]] - low) / (high - low))
    return chance


@njit(cache=True, nogil=True)
def _reduced(labels, cells, nodes, node, lots, rate, chances):
    """What the cheapest labels cost, less the rate of their cell for each winner; ``chances`` of a cell, written."""
    paid = 0.0
    for s in range(lots.size):
        c, many = nodes.cell[node, s], nodes.amount[node, s]
        if lots[s] == 0:
            paid += cells.sums[c, many]
            continue
        least, said = np.full(many, np.inf), np.zeros(many)
        for k in range(cells.start[c], cells.start[c] + cells.size[c]):
            item = cells.items[k]
            if labels.price[item] - max(0.0, rate[s]) >= least[many - 1]:
                break  # they ascend in price
            chance = _chance(labels, cells, c, item)
            value, at = labels.price[item] - rate[s] * chance, many - 1
            if value >= least[at]:
                continue
            while at > 0 and least[at - 1] > value:
                least[at], said[at] = least[at - 1], said[at - 1]
                at -= 1
            least[at], said[at] = value, chance
        paid += least.sum()
        chances[s] = said.sum()
    return paid


@njit(cache=True, nogil=True)
def least_cost(labels, cells, nodes, node, target, wrong, room):
    """A lower bound on what every set of a node costs that errs no more than the target, or at a price of errors."""
    width = nodes.width[node]
    lots, middle, slope, rate = np.zeros(width, np.int64), np.empty(width), np.zeros(width), np.empty(width)
    error = np.empty(_drawn(cells, nodes, node, lots))
    _table(labels, cells, nodes, node, lots, room, error)
    middle[:] = lots / 2
    best = nodes.bound[node]
    for _ in range(ROUNDS):
        height, before = _tangent(lots, error, middle, slope), best
        if wrong > 0.0:
            rate[:] = wrong * slope
            best = max(best, wrong * height + _reduced(labels, cells, nodes, node, lots, rate, middle))
            if best <= before:
                break
            continue
        short = height - target
        if short <= 0.0:
            break
        low, high = 0.0, 2 * abs(best) / short  # below 0 they would bound nothing
        for step in range(STEPS):
            # the left point of a golden section first, then the right one: values rise to the best and fall after it
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            values = np.empty(2)
            for k in range(2):
                worth = right if k else left
                rate[:] = worth * slope
                values[k] = worth * short + _reduced(labels, cells, nodes, node, lots, rate, middle)
            best = max(best, values.max())
            if step + 1 < STEPS:
                if values[0] < values[1]:
                    low = left
                    high = 2 * high if step == 0 else high
                else:
                    high = right
        if best <= before:
            break
    return best
