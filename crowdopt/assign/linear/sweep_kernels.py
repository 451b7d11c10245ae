"""Compiled loops that price every task of some groups at given prices, and gather what their sets ask of workers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.assign.least_set import HAIR, least_set, new_desk, no_rests, rank, rests_of
from crowdopt.compiled_kernels import njit

ALIKE = 4  # tasks of a row in a group from which a table of what is left open is made for them
STEPS = 12  # of the search for a task's multiplier of its number of labels
FLAT = 1e-9  # relative; a line that promises no more than this ends that search
ENDLESS = np.iinfo(np.int64).max  # the most labels of a task without such a limit


class TaskGroup(NamedTuple):
    """The tasks number, number + groups, ..."""

    number: int
    groups: int  # in all


class Found(NamedTuple):
    """What pricing brings; all of it is written."""

    value: np.ndarray  # (k,): the bounds
    rate: np.ndarray  # (k,): the prices of evidence in the linear programs
    limit: np.ndarray  # (k,): the multipliers l of limits on labels
    hands: np.ndarray  # (k, width): a set of each task
    held: np.ndarray  # (k,): its labels; -1 where none is known or it is wider than there is room for
    load: np.ndarray  # (groups, m), added to: how often the sets have each worker
    paid: np.ndarray  # (groups,), added to: their price without multipliers


@njit(cache=True, nogil=True)
def price_group(group, tasks, pay, effort, found):
    """``value[k] = max_l min sum ((1 - b) c_kj - w_j - l) y_j + l count``: a lower bound for each task of the group.

    Prices are the same for all tasks of a row, so they are ranked once a row.

    pay: the multipliers, those of workers at most 0 but for least loads.
    """
    worker, hands, held = pay.worker, found.hands, found.held
    m, g = worker.size, group.number
    desk, price, forced = new_desk(m), np.empty(m), np.empty(m, np.int64)
    order, ratio = np.empty(m, np.int64), np.empty(m)
    at, n, many, base, lifted, rests = -1, 0, 0, 0.0, 0.0, no_rests()
    for k in range(g, tasks.row.size, group.groups):
        r = tasks.row[k]
        worth, cost = tasks.worth[r], tasks.cost[r if tasks.cost.shape[0] > 1 else 0]
        if r != at:
            at, many, base, lifted = r, 0, 0.0, 0.0
            for j in range(m):
                price[j] = pay.money * cost[j] - worker[j]
                if price[j] <= 0:
                    forced[many], many = j, many + 1
                    base += price[j]
                    lifted += worth[j]
            n = rank(price, worth, order, ratio)
            rests = no_rests()
            alike, most = 0, 0.0
            for other in range(k, tasks.row.size, group.groups):
                if tasks.row[other] != r:
                    break
                alike, most = alike + 1, max(most, tasks.floor[other] - lifted)
            if alike >= ALIKE and most > HAIR:
                rests = rests_of(n, order, price, worth, most)
        begin, end = tasks.starts[k], tasks.starts[k + 1]
        below, need = base, tasks.floor[k] - lifted
        for t in range(begin, end):
            j = tasks.barred[t]
            desk.skip[j] = True
            if price[j] <= 0:
                below -= price[j]
                need += worth[j]
        bound, _ = least_set(n, order, price, worth, need, effort.close, effort.nodes, rests, desk)
        count = desk.labels[0]
        for t in range(many):
            if not desk.skip[forced[t]]:
                desk.found[count] = forced[t]
                count += 1
        desk.labels[0] = count
        found.value[k], found.rate[k], found.limit[k] = below + bound, desk.rate[0], 0.0
        if bound == np.inf:
            held[k] = -1
        elif count < tasks.fewest[k] or count > tasks.most[k]:
            found.value[k] = _limited(k, tasks, price, worth, count, effort, found)
        else:
            _store(k, desk, hands, held)
        for t in range(begin, end):
            desk.skip[tasks.barred[t]] = False
        if held[k] >= 0:
            for t in range(held[k]):
                j = hands[k, t]
                found.load[g, j] += 1.0
                found.paid[g] += cost[j]


@njit(cache=True, nogil=True)
def _store(k, desk, hands, held):
    size = desk.labels[0]
    held[k] = -1
    if size <= hands.shape[1]:
        held[k] = size
        for t in range(size):
            hands[k, t] = desk.found[t]


@njit(cache=True, nogil=True, inline="always")
def _farthest(price, desk, few, goal, value):
    """A multiplier beyond which the best one cannot lie; infinite where no set has so many labels."""
    if not few:
        return -1.0 - 2.0 * max(0.0, value)
    able = np.sort(price[~desk.skip])
    return able[goal - 1] if able.size >= goal else np.inf


@njit(cache=True, nogil=True, inline="always")
def _limited(k, tasks, price, worth, count, effort, found):
    """The best multiplier of a limit on labels that the cheapest set breaks, and a set that keeps the limit."""
    # The bound is concave in the multiplier, and each set is a line of it: where the lines of a set with too few and
    # of one with too many labels meet, the next set is priced, until none lies below.
    value, limit, hands, held = found.value[k], found.limit, found.hands, found.held
    few = count < tasks.fewest[k]
    goal = tasks.fewest[k] if few else tasks.most[k]
    m, desk = price.size, new_desk(price.size)
    shifted = np.empty(m)
    for t in range(tasks.starts[k], tasks.starts[k + 1]):
        desk.skip[tasks.barred[t]] = True
    held[k] = -1
    far = _farthest(price, desk, few, goal, value)
    if far == np.inf:
        return np.inf
    best, kept = value, np.inf
    near, near_value, near_slope = 0.0, value, float(goal - count)
    far_value, far_slope, here = 0.0, 0.0, far
    for step in range(STEPS):
        bound, size = _shifted(here, price, worth, tasks.floor[k], effort, shifted, desk)
        if bound == np.inf:
            return np.inf
        line, slope = bound + here * goal, float(goal - size)
        if line > best:
            best, limit[k] = line, here
        if tasks.fewest[k] <= size <= tasks.most[k]:
            cost = 0.0
            for t in range(size):
                cost += price[desk.found[t]]
            if cost < kept:
                kept = cost
                _store(k, desk, hands, held)
        if slope == 0 or (step == 0 and (slope > 0) == few):
            break
        if (slope > 0) == few:
            near, near_value, near_slope = here, line, slope
        else:
            far, far_value, far_slope = here, line, slope
        if near_slope == far_slope:
            break
        here = (far_value - near_value + near_slope * near - far_slope * far) / (near_slope - far_slope)
        if near_value + near_slope * (here - near) <= best + FLAT * abs(best):
            break
    return best


@njit(cache=True, nogil=True, inline="always")
def _shifted(by, price, worth, need, effort, shifted, desk):
    """The cheapest set if every label costs so much less: the bound and how many labels it has."""
    total = 0.0
    for j in range(price.size):
        shifted[j] = price[j] - by
        if shifted[j] <= 0 and not desk.skip[j]:
            total += shifted[j]
            need -= worth[j]
    order, ratio = np.empty(price.size, np.int64), np.empty(price.size)
    n = rank(shifted, worth, order, ratio)
    bound, _ = least_set(n, order, shifted, worth, need, effort.close, effort.nodes, no_rests(), desk)
    count = desk.labels[0]
    for j in range(price.size):
        if shifted[j] <= 0 and not desk.skip[j]:
            desk.found[count] = j
            count += 1
    desk.labels[0] = count
    return total + bound, count


__all__ = ["HAIR", "price_group"]
