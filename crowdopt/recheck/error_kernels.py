"""Compiled search for the cheapest set of labels by exact errors: how many labels come from each cell of workers.

A *cell* is a set of workers, a *node* says how many labels a set has from each of some cells. A set of that kind costs
at least the cheapest labels of each cell, and errs at least as if each cell gave its best ones. The node that costs
least is looked at next. If its cheapest labels keep the target and the limits of the groups, no set costs less. If not,
one of its cells is cut in two, by skill where the cheapest labels are too poor and by group where a limit is broken,
and its labels are shared out in every way. So sets are never listed label by label, and each set lies in one node only.
Before a node is cut it waits its turn once more at what lotteries proves of it.

Where some tasks are hard, the votes that are taken do not know which: they err more than those that bound a node, and
better labels may be worse for them. So a set must pass by such a vote as well, and its node is cut until all sets of it
vote alike.

Lotteries between two skills bound what sets of labels of one kind cost.

A worker of skill ``p = l b + (1 - l) a`` answers as one whom a lottery makes a worker of skill b, with chance l, or of
skill a. Who is told how the lottery ended errs no more. So a set whose labels lie between the best and the worst skill
of their cells errs at least as the mean over lotteries, and if ``e(k) >= height - slope k`` for k winners of each cell,
then ``error >= height - slope s``, where s adds up the chances l of a cell. The cheapest labels of each cell for which
this is at most the target cost at least what any multiplier of it says, for any slopes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.kernels import njit
from crowdopt.recheck.answer_kernels import Scratch, least_error, unaware_error

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


SLOTS = 24  # cells of a node
CLOSE = 1e-9  # relative; how far a bound may stay below what a set costs, its errors with it
CLOSE_UP = 3  # times its labels; a cell of so few workers counts with their own best skills, not with its best one


class LabelMenu(NamedTuple):
    """What may be bought for a task, in order of price, and what it is asked for."""

    price: Floats  # (labels,)
    # skill of each, counted from the best one; its group, or the number of groups
    level: Ints  # (labels,)
    group: Ints  # (labels,)
    skill: Floats  # (branches, levels): on easy tasks and on hard ones
    odds: Floats  # (levels,): log-odds of the former
    worth: Floats  # (levels,): evidence
    # chance of the labels that are in together with each class; of each branch by its own share
    start: Floats  # (branches, K, cases)
    # fewest and most labels of each group; a most below 0 is none
    low: Ints  # (groups + 1,)
    high: Ints  # (groups + 1,)
    asking: Ints  # (k,): the groups with a fewest


class SetQuestion(NamedTuple):
    """What is asked about labels."""

    # errors allowed, the largest first: what a looser one rules out, a tighter one rules out too
    targets: Floats  # (targets,)
    needs: Floats  # (targets,): evidence asked for beside, rising
    fewest: int  # LabelMenu of a set
    # what sets of ``fewest + k`` labels and more cost at least; the last ones are in no node
    ahead: Floats  # (sizes + 1,)
    work: int  # chances looked at, at most
    wrong: float  # what an error costs
    unaware: bool  # whether votes do not know which tasks are hard, and skills are the workers' own


class WorkerCells(NamedTuple):
    """Sets of workers, made as they are needed.

    ``used``: cells, places and cuts taken. Of each cell: where its labels begin in ``items`` and how many they are; its
    best and worst level; the group that all are of, or -1; in order of price what can be had within the groups' limits,
    ``picks`` and their ``sums``, ``many`` of them; its best levels, ``tops``; how many are of each group that asks,
    ``has``; its cuts: by skill ``above`` and ``below``, by group a chain of ``cuts`` (group, inside, outside, next).
    """

    used: Ints
    items: Ints
    start: Ints
    size: Ints
    top: Ints
    bottom: Ints
    only: Ints
    sums: Floats
    picks: Ints
    many: Ints
    tops: Ints
    has: Ints
    above: Ints
    below: Ints
    first: Ints
    cuts: Ints


class CountNodes(NamedTuple):
    """Kinds of sets: cells and amounts, what they cost and err with at least; ``heap``: the cheapest first.

    ``used``: nodes taken, nodes in the heap, nodes that may be used again; ``weighed``: 1 once lotteries were held.
    """

    used: Ints
    bound: Floats
    error: Floats
    width: Ints
    cell: Ints
    amount: Ints
    heap: Ints
    spare: Ints
    weighed: Ints


class SearchRoom(NamedTuple):
    """What a search writes on: counted labels, a cell's workers, labels of each group, new nodes, laws of answers."""

    level: Ints
    amount: Ints
    some: Ints
    had: Ints
    fresh: Ints
    scratch: Scratch


@njit(cache=True, nogil=True)
def _push(nodes, node):
    heap, at = nodes.heap, nodes.used[1]
    nodes.used[1] += 1
    while at > 0:
        over = (at - 1) // 2
        if nodes.bound[heap[over]] <= nodes.bound[node]:
            break
        heap[at] = heap[over]
        at = over
    heap[at] = node


@njit(cache=True, nogil=True, inline="always")
def _pop(nodes):
    heap, bound = nodes.heap, nodes.bound
    nodes.used[1] -= 1
    first, last, size, at = heap[0], heap[nodes.used[1]], nodes.used[1], 0
    while 2 * at + 1 < size:
        under = 2 * at + 1
        if under + 1 < size and bound[heap[under + 1]] < bound[heap[under]]:
            under += 1
        if bound[heap[under]] >= bound[last]:
            break
        heap[at] = heap[under]
        at = under
    heap[at] = last
    return first


@njit(cache=True, nogil=True)
def _new_cell(labels, cells, some, size, room):
    """A cell of these labels, which ascend in price; -1 where there is no room for it."""
    c, at = cells.used[0], cells.used[1]
    if c == cells.start.size or at + size > cells.items.size:
        return -1
    cells.used[0], cells.used[1] = c + 1, at + size
    cells.start[c], cells.size[c], cells.above[c], cells.below[c], cells.first[c] = at, size, -1, -1, -1
    cells.top[c], cells.bottom[c], cells.only[c] = labels.odds.size, -1, labels.group[some[0]]
    wide, found, best = cells.picks.shape[1], 0, 0
    for a in range(labels.asking.size):
        cells.has[c, a] = 0
    for k in range(size):
        item, level, group = some[k], labels.level[some[k]], labels.group[some[k]]
        cells.items[at + k] = item
        cells.top[c], cells.bottom[c] = min(cells.top[c], level), max(cells.bottom[c], level)
        if group != cells.only[c]:
            cells.only[c] = -1
        for a in range(labels.asking.size):
            cells.has[c, a] += labels.asking[a] == group
        if found < wide and (labels.high[group] < 0 or room.had[group] < labels.high[group]):
            room.had[group] += 1
            cells.picks[c, found] = item
            cells.sums[c, found + 1] = cells.sums[c, found] + labels.price[item] if found else labels.price[item]
            found += 1
        place = min(best, wide)
        while place > 0 and cells.tops[c, place - 1] > level:
            if place < wide:
                cells.tops[c, place] = cells.tops[c, place - 1]
            place -= 1
        if place < wide:
            cells.tops[c, place] = level
            best = min(best + 1, wide)
    cells.sums[c, 0], cells.many[c] = 0.0, found
    for k in range(size):
        room.had[labels.group[some[k]]] = 0
    return c


@njit(cache=True, nogil=True, inline="always")
def _cut_by_skill(labels, cells, c, room):
    """The better and the poorer half of a cell, by log-odds; whether there was room for them."""
    if cells.above[c] >= 0:
        return True
    middle = (labels.odds[cells.top[c]] + labels.odds[cells.bottom[c]]) / 2
    part = room.some
    for upper in range(2):
        size = 0
        for k in range(cells.start[c], cells.start[c] + cells.size[c]):
            level = labels.level[cells.items[k]]
            if (level == cells.top[c] or labels.odds[level] > middle) == (upper == 1):
                part[size] = cells.items[k]
                size += 1
        made = _new_cell(labels, cells, part, size, room)
        if made < 0:
            return False
        if upper:
            cells.above[c] = made
        else:
            cells.below[c] = made
    return True


@njit(cache=True, nogil=True, inline="always")
def _cut_by_group(labels, cells, c, group, room):
    """The number of the cut of a cell into the group's labels and all others; -1 where there is no room."""
    at = cells.first[c]
    while at >= 0:
        if cells.cuts[at, 0] == group:
            return at
        at = cells.cuts[at, 3]
    at = cells.used[2]
    if at == len(cells.cuts):
        return -1
    part = room.some
    for inside in range(2):
        size = 0
        for k in range(cells.start[c], cells.start[c] + cells.size[c]):
            if (labels.group[cells.items[k]] == group) == (inside == 1):
                part[size] = cells.items[k]
                size += 1
        made = _new_cell(labels, cells, part, size, room)
        if made < 0:
            return -1
        cells.cuts[at, 2 - inside] = made
    cells.cuts[at, 0], cells.cuts[at, 3], cells.first[c] = group, cells.first[c], at
    cells.used[2] += 1
    return at


@njit(cache=True, nogil=True, inline="always")
def _counted(room, size, level):
    """One label more of a level among counted ones, which ascend; the number of levels."""
    at = size
    while at > 0 and room.level[at - 1] >= level:
        at -= 1
    if at < size and room.level[at] == level:
        room.amount[at] += 1
        return size
    for k in range(size, at, -1):
        room.level[k], room.amount[k] = room.level[k - 1], room.amount[k - 1]
    room.level[at], room.amount[at] = level, 1
    return size + 1


@njit(cache=True, nogil=True)
def _raised(cells, c, count, k):
    """The level that the k-th best of so many labels of a cell is counted as."""
    return cells.tops[c, k] if cells.size[c] <= CLOSE_UP * count else cells.top[c]


@njit(cache=True, nogil=True)
def _level(labels, cells, c, count, k, cheapest):
    """The level of the k-th cheapest of so many labels of a cell, or the one that its k-th best is counted as."""
    return labels.level[cells.picks[c, k]] if cheapest else _raised(cells, c, count, k)


@njit(cache=True, nogil=True)
def _error(labels, cells, nodes, node, cheapest, room):
    """What a node's labels err with, each cell's best ones or its cheapest ones."""
    size = 0
    for s in range(nodes.width[node]):
        c, count = nodes.cell[node, s], nodes.amount[node, s]
        for k in range(count):
            size = _counted(room, size, _level(labels, cells, c, count, k, cheapest))
    return least_error(labels.start, labels.skill, labels.odds, room.level, room.amount, size, room.scratch)


@njit(cache=True, nogil=True)
def _paid(cells, nodes, node):
    """What a node's cheapest labels cost."""
    paid = 0.0
    for s in range(nodes.width[node]):
        paid += cells.sums[nodes.cell[node, s], nodes.amount[node, s]]
    return paid


@njit(cache=True, nogil=True)
def _unaware_error(labels, cells, nodes, node, room):
    """What a vote errs with over a node's cheapest labels that takes every task for an easy one, at least."""
    size = 0
    for s in range(nodes.width[node]):
        c = nodes.cell[node, s]
        for k in range(nodes.amount[node, s]):
            size = _counted(room, size, labels.level[cells.picks[c, k]])
    return unaware_error(labels.start, labels.skill, room.level, room.amount, size, room.scratch)


@njit(cache=True, nogil=True)
def _lacks(labels, cells, nodes, node, cheapest, need):
    """Whether a node's labels have too little evidence, each cell's best ones or its cheapest ones."""
    total = 0.0
    for s in range(nodes.width[node]):
        c, count = nodes.cell[node, s], nodes.amount[node, s]
        for k in range(count):
            total += labels.worth[_level(labels, cells, c, count, k, cheapest)]
    return total < need


@njit(cache=True, nogil=True, inline="always")
def _within(labels, cells, nodes, node, room):
    """Whether a node's labels can keep the limits of the groups, as far as its cells tell."""
    within = True
    for s in range(nodes.width[node]):
        c = nodes.cell[node, s]
        group = cells.only[c]
        if group >= 0 and labels.high[group] >= 0:
            room.had[group] += nodes.amount[node, s]
            within &= room.had[group] <= labels.high[group]
    for s in range(nodes.width[node]):
        if cells.only[nodes.cell[node, s]] >= 0:
            room.had[cells.only[nodes.cell[node, s]]] = 0
    for a in range(labels.asking.size):
        most = 0
        for s in range(nodes.width[node]):
            most += min(nodes.amount[node, s], cells.has[nodes.cell[node, s], a])
        within &= most >= labels.low[labels.asking[a]]
    return within


@njit(cache=True, nogil=True, inline="always")
def _broken(labels, cells, nodes, node, room):
    """A group whose limit a node's cheapest labels break, and whether they are too many; -1 where there is none."""
    broken, over = -1, False
    for s in range(nodes.width[node]):
        for k in range(nodes.amount[node, s]):
            group = labels.group[cells.picks[nodes.cell[node, s], k]]
            room.had[group] += 1
            if labels.high[group] >= 0 and room.had[group] > labels.high[group]:
                broken, over = group, True
    if broken < 0:
        for a in range(labels.asking.size):
            if room.had[labels.asking[a]] < labels.low[labels.asking[a]]:
                broken = labels.asking[a]
                break
    for s in range(nodes.width[node]):
        for k in range(nodes.amount[node, s]):
            room.had[labels.group[cells.picks[nodes.cell[node, s], k]]] = 0
    return broken, over


@njit(cache=True, nogil=True, inline="always")
def _poorest(labels, cells, nodes, node):
    """The place of the cell whose cheapest labels fall most short of what they are counted as; -1 where none does."""
    best, most = -1, 0.0
    for s in range(nodes.width[node]):
        c, count, gain = nodes.cell[node, s], nodes.amount[node, s], 0.0
        for k in range(count):
            gain += labels.odds[_raised(cells, c, count, k)] - labels.odds[labels.level[cells.picks[c, k]]]
        if gain > most and cells.top[c] != cells.bottom[c]:
            best, most = s, gain
    return best


@njit(cache=True, nogil=True, inline="always")
def _widest(labels, cells, nodes, node):
    """The place of the cell whose skills differ most; -1 where each cell has one."""
    best, most = -1, 0.0
    for s in range(nodes.width[node]):
        c = nodes.cell[node, s]
        gap = labels.odds[cells.top[c]] - labels.odds[cells.bottom[c]]
        if gap > most:
            best, most = s, gap
    return best


@njit(cache=True, nogil=True, inline="always")
def _mixed(labels, cells, nodes, node, group, over):
    """The place of a cell that a group shares with others: with most labels of it if they are too many."""
    best, most = -1, -1
    for s in range(nodes.width[node]):
        c = nodes.cell[node, s]
        if cells.only[c] >= 0:
            continue
        if over:
            weight = 0
            for k in range(nodes.amount[node, s]):
                weight += labels.group[cells.picks[c, k]] == group
            if weight == 0:
                continue
        else:
            at = 0
            while labels.asking[at] != group:
                at += 1
            weight = cells.has[c, at]
            if weight == 0:
                continue
        if weight > most:
            best, most = s, weight
    return best


@njit(cache=True, nogil=True)
def _new_node(nodes):
    if nodes.used[2] > 0:
        nodes.used[2] -= 1
        node = nodes.spare[nodes.used[2]]
    elif nodes.used[0] == nodes.bound.size:
        return -1
    else:
        node = nodes.used[0]
        nodes.used[0] += 1
    nodes.weighed[node] = 0
    return node


@njit(cache=True, nogil=True, inline="always")
def _drop(nodes, node):
    nodes.spare[nodes.used[2]] = node
    nodes.used[2] += 1


@njit(cache=True, nogil=True, inline="always")
def _share_out(cells, nodes, node, place, first_cell, second_cell, fresh):
    """The nodes that come of a cut cell, its labels shared out in every way; how many, or -1 if there is no room."""
    total, made = nodes.amount[node, place], 0
    for first in range(total + 1):
        if first > cells.many[first_cell] or total - first > cells.many[second_cell]:
            continue
        child = _new_node(nodes)
        if child < 0:
            return -1
        width, bound = 0, 0.0
        for s in range(nodes.width[node] + 1):
            c, count = second_cell, total - first
            if s < nodes.width[node]:
                c, count = nodes.cell[node, s], nodes.amount[node, s]
                if s == place:
                    c, count = first_cell, first
            if count == 0:
                continue
            if width == SLOTS:
                return -1
            nodes.cell[child, width], nodes.amount[child, width] = c, count
            bound += cells.sums[c, count]
            width += 1
        nodes.width[child], nodes.bound[child] = width, max(bound, nodes.bound[node])
        fresh[made] = child
        made += 1
    return made


@njit(cache=True, nogil=True, inline="always")
def _dominated(labels, most, unaware, times):
    """How many labels of its group are no dearer and no worse, or of the same skill, than each; up to ``most``."""
    best, found = np.empty((labels.low.size, most), np.int64), np.zeros(labels.low.size, np.int64)
    for k in range(labels.price.size):
        group, level = labels.group[k], labels.level[k]
        at = found[group]
        while at > 0 and best[group, at - 1] > level:
            at -= 1
        times[k] = at
        if unaware:
            times[k] = 0
            while times[k] < at and best[group, at - 1 - times[k]] == level:
                times[k] += 1
        if at < most:
            found[group] = min(found[group] + 1, most)
            for later in range(found[group] - 1, at, -1):
                best[group, later] = best[group, later - 1]
            best[group, at] = level


@njit(cache=True, nogil=True, inline="always")
def _root(labels, cells, nodes, times, count, room):
    """The node of all sets of so many labels: 1 if there is one, 0 if there is none, -1 if there is no room."""
    node, size = _new_node(nodes), 0
    if node < 0:
        return -1
    room.fresh[0] = node
    nodes.width[node], nodes.bound[node] = 0, 0.0
    if count == 0:
        return 1
    for k in range(labels.price.size):
        high = labels.high[labels.group[k]]
        if times[k] < (count if high < 0 else min(count, high)):
            room.some[size] = k
            size += 1
    c = _new_cell(labels, cells, room.some, size, room) if size else -1
    if c < 0:
        return -1 if size else 0
    if count > cells.many[c]:
        return 0
    nodes.width[node], nodes.cell[node, 0], nodes.amount[node, 0] = 1, c, count
    nodes.bound[node] = cells.sums[c, count]
    return 1


@njit(cache=True, nogil=True, inline="always")
def _cut(labels, cells, nodes, node, broken, over, poor, room):
    """Cut one of a node's cells; how many nodes come of it, or -1 where there is no room for them."""
    place = _poorest(labels, cells, nodes, node) if poor else -1
    if place < 0 and broken < 0:
        place = _widest(labels, cells, nodes, node)
    if place >= 0:
        c = nodes.cell[node, place]
        if not _cut_by_skill(labels, cells, c, room):
            return -1
        above, below = cells.above[c], cells.below[c]
    else:
        place = _mixed(labels, cells, nodes, node, broken, over) if broken >= 0 else -1
        at = _cut_by_group(labels, cells, nodes.cell[node, place], broken, room) if place >= 0 else -1
        if at < 0:
            return -1
        above, below = cells.cuts[at, 1], cells.cuts[at, 2]
    return _share_out(cells, nodes, node, place, above, below, room.fresh)


@njit(cache=True, nogil=True, inline="always")
def _take_in(labels, cells, nodes, made, target, need, wrong, room):
    """Keep those of the nodes just made that may hold a set of the target; the others go."""
    for k in range(made):
        child = room.fresh[k]
        lacks = _lacks(labels, cells, nodes, child, False, need)
        if not lacks and _within(labels, cells, nodes, child, room):
            nodes.error[child] = _error(labels, cells, nodes, child, False, room)
            if nodes.error[child] <= target:
                paid = _paid(cells, nodes, child) + wrong * nodes.error[child]
                nodes.bound[child] = max(nodes.bound[child], paid)
                _push(nodes, child)
                continue
        _drop(nodes, child)


@njit(cache=True, nogil=True)
def cheapest(labels, cells, nodes, room, asked, value):
    """What the cheapest set of each target costs, or less where work or room end; how many nodes were cut.

    value (targets,); -> below 0 where the search was cut short.
    """
    targets, needs, ahead = asked.targets, asked.needs, asked.ahead
    taken, size, sizes = 0, 0, ahead.size - 1
    times = np.empty(labels.price.size, np.int64)
    _dominated(labels, max(1, asked.fewest + sizes - 1), asked.unaware, times)
    for t in range(targets.size):
        while True:
            waiting = nodes.bound[nodes.heap[0]] if nodes.used[1] else np.inf
            if size < sizes and ahead[size] <= waiting:
                floor = ahead[size]
                made = _root(labels, cells, nodes, times, asked.fewest + size, room)
                size += 1
            elif waiting >= ahead[size]:
                value[t] = ahead[size]
                break
            else:
                node, floor = _pop(nodes), waiting
                if nodes.error[node] > targets[t] or _lacks(labels, cells, nodes, node, False, needs[t]):
                    _drop(nodes, node)
                    continue
                broken, over = _broken(labels, cells, nodes, node, room)
                poor = _lacks(labels, cells, nodes, node, True, needs[t])
                if not poor:
                    error = _error(labels, cells, nodes, node, True, room)
                    dear = _paid(cells, nodes, node) + asked.wrong * error > floor + CLOSE * abs(floor)
                    poor = error > targets[t] or dear
                if broken < 0 and not poor:
                    if not asked.unaware or _unaware_error(labels, cells, nodes, node, room) <= targets[t]:
                        value[t] = floor
                        _push(nodes, node)
                        break
                    if _widest(labels, cells, nodes, node) < 0:
                        _drop(nodes, node)
                        continue
                if not nodes.weighed[node]:
                    nodes.weighed[node] = 1
                    nodes.bound[node] = least_cost(labels, cells, nodes, node, targets[t], asked.wrong, room)
                    _push(nodes, node)
                    continue
                taken += 1
                made = (
                    _cut(labels, cells, nodes, node, broken, over, poor, room)
                    if room.scratch.work[0] <= asked.work
                    else -1
                )
                _drop(nodes, node)
            if made < 0:
                for later in range(t, targets.size):
                    value[later] = floor
                return -taken - 1
            _take_in(labels, cells, nodes, made, targets[t], needs[t], asked.wrong, room)
    return taken
