"""Compiled loops that give tasks sets of workers with capacity left, one task after another.

Or best responses: one task after another takes its cheapest set while a worker's price rises with their load.
Worker j's multiplier is ``w_j = min(0, w0_j + rho_j (left_j - behind room_j))``: the more labels of theirs are taken,
the dearer the next one. Who is lifted by a least load (w0_j > 0) stays so. Each response lowers
``sum of costs + sum_j integral of w_j over the load of j``, convex in the loads, so responses settle where nobody
gains by another set: where loads are large that is the optimum of the program with the price of overload in it
(Rosenthal 1973, a congestion game).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.assign.least_set import Ranked, least_set, new_desk, no_rests, rank
from crowdopt.compiled_kernels import njit

GAIN = 1e-9  # a smaller one is rounding


class Counter(NamedTuple):
    """Prices of labels and workers by ratio, (rows, m) each: those of all rows, or room for the row at hand."""

    price: np.ndarray
    order: np.ndarray
    ranked: np.ndarray  # how many workers each order has, (rows,)
    ratio: np.ndarray  # (m,)
    row: np.ndarray  # (1,): the row at hand; -1: none, -2: all are there


class HandsHeld(NamedTuple):
    """The state of a plan, written: ``hands[k, :held[k]]`` are the workers of task k."""

    left: np.ndarray  # (m,) int: what remains of each capacity; below 0 where a worker has too many
    hands: np.ndarray  # (k, width) int
    held: np.ndarray  # (k,) int: -1 where a task has no set yet


class Pull(NamedTuple):
    """How the multipliers of loads follow the loads."""

    slope: np.ndarray  # (m,): rho, by how much a label too many changes the multiplier
    room: np.ndarray  # (m,) int: capacities
    behind: float  # share of the room that is kept for tasks that have no set yet
    each: float  # by how much that falls with each task


@njit(cache=True, nogil=True)
def fill(counter, tasks, pay):
    """Work out prices and orders of all rows, where there is room for all. tasks: the rows; pay: the multipliers."""
    if counter.ranked.size == tasks.worth.shape[0]:
        for r in range(tasks.worth.shape[0]):
            _fill_row(counter, r, r, tasks, pay)
        counter.row[0] = -2
    else:
        counter.row[0] = -1


@njit(cache=True, nogil=True)
def _fill_row(counter, at, r, tasks, pay):
    cost, price = tasks.cost[r if tasks.cost.shape[0] > 1 else 0], counter.price[at]
    for j in range(price.size):
        price[j] = max(GAIN, pay.money * cost[j] - pay.worker[j])
    counter.ranked[at] = rank(price, tasks.worth[r], counter.order[at], counter.ratio)


@njit(cache=True, nogil=True)
def _at(counter, r, tasks, pay):
    """What the counter has of row r."""
    at = r
    if counter.row[0] != -2:
        at = 0
        if counter.row[0] != r:
            _fill_row(counter, 0, r, tasks, pay)
            counter.row[0] = r
    return Ranked(counter.price[at], counter.order[at], counter.ranked[at])


@njit(cache=True, nogil=True)
def choose(k, tasks, target, ranked, effort, width, desk):
    """The cheapest set for task k of workers whom the desk does not skip; what it costs, infinite where there is none.

    Labels are added, the cheapest first, where a set has too few; one with too many is none at all.

    width: labels that there is room for; desk: says who is out of the question, beside the task's barred workers; takes
    the set.
    """
    worth, skip, found, price = tasks.worth[tasks.row[k]], desk.skip, desk.found, ranked.price
    for t in range(tasks.starts[k], tasks.starts[k + 1]):
        skip[tasks.barred[t]] = True
    _, new = least_set(ranked.size, ranked.order, price, worth, target[k], effort.close, effort.nodes, no_rests(), desk)
    size = desk.labels[0]
    if new < np.inf and size < tasks.fewest[k]:
        for t in range(size):
            skip[found[t]] = True
        while size < tasks.fewest[k]:
            pick = -1
            for j in range(price.size):
                if not skip[j] and (pick < 0 or price[j] < price[pick]):
                    pick = j
            if pick < 0:
                new = np.inf
                break
            skip[pick] = True
            found[size], size = pick, size + 1
            new += price[pick]
        desk.labels[0] = size
    if size > tasks.most[k] or size > width:
        new = np.inf
    return new


@njit(cache=True, nogil=True)
def _propose(k, tasks, target, ranked, effort, plan, desk):
    """The cheapest set for task k of workers with capacity left, its own labels given back; ``(new, old)`` prices."""
    left, hands, held = plan.left, plan.hands, plan.held
    old = 0.0 if held[k] >= 0 else np.inf
    for t in range(held[k]):
        left[hands[k, t]] += 1
        old += ranked.price[hands[k, t]]
    for j in range(left.size):
        desk.skip[j] = left[j] <= 0
    return choose(k, tasks, target, ranked, effort, hands.shape[1], desk), old


@njit(cache=True, nogil=True)
def settle(k, take, plan, desk):
    """Take the proposed set, or go back to the labels the task had."""
    left, hands, held = plan.left, plan.hands, plan.held
    if take:
        held[k] = desk.labels[0]
        for t in range(held[k]):
            hands[k, t] = desk.found[t]
    for t in range(held[k]):
        left[hands[k, t]] -= 1


@njit(cache=True, nogil=True)
def serve(queue, tasks, target, counter, pay, effort, plan, over):
    """Give each task of the queue its cheapest set where that is cheaper than what it has.

    over: a worker who has too many: tasks take the cheapest set whatever they had until that is over; -1: there is
    none; -> how many tasks took a new set.
    """
    desk, taken = new_desk(plan.left.size), 0
    for k in queue:
        if over >= 0 and plan.left[over] >= 0:
            break
        ranked = _at(counter, tasks.row[k], tasks, pay)
        new, old = _propose(k, tasks, target, ranked, effort, plan, desk)
        take = new < np.inf if over >= 0 else new < old - GAIN
        settle(k, take, plan, desk)
        taken += take
    return taken


@njit(cache=True, nogil=True)
def regrets(queue, tasks, target, counter, pay, effort, plan, out):
    """How much dearer each task of the queue gets without workers who have too many or none left.

    plan: as before in the end; out (n,): written; infinite where it is impossible.
    """
    desk = new_desk(plan.left.size)
    for t in range(queue.size):
        k = queue[t]
        ranked = _at(counter, tasks.row[k], tasks, pay)
        new, old = _propose(k, tasks, target, ranked, effort, plan, desk)
        out[t] = new - old
        settle(k, False, plan, desk)


@njit(cache=True, nogil=True)
def respond(queue, tasks, target, pay, pull, effort, plan):
    """Let each task of the queue choose its set anew at the prices of the moment.

    pay: the multipliers where capacities are just used up; pull: how they follow the loads.
    """
    worker, slope, room, behind = pay.worker, pull.slope, pull.room, pull.behind
    left, hands, held = plan.left, plan.hands, plan.held
    m = worker.size
    desk, price = new_desk(m), np.empty(m)
    order, ratio = np.empty(m, np.int64), np.empty(m)
    for k in queue:
        behind -= pull.each
        cost = tasks.cost[tasks.row[k] if tasks.cost.shape[0] > 1 else 0]
        for t in range(held[k]):
            left[hands[k, t]] += 1
        for j in range(m):
            now = worker[j]
            if now <= 0:
                now = min(0.0, now + slope[j] * (left[j] - behind * room[j]))
            price[j] = max(GAIN, pay.money * cost[j] - now)
            desk.skip[j] = False
        n = rank(price, tasks.worth[tasks.row[k]], order, ratio)
        new = choose(k, tasks, target, Ranked(price, order, n), effort, hands.shape[1], desk)
        settle(k, new < np.inf, plan, desk)
