"""Compiled loops that give tasks sets of workers with capacity left, one task after another.

The state of a plan: ``hands[k, :held[k]]`` are the workers of task k (held is -1 where it has none yet), ``left[j]`` is
what remains of worker j's capacity, below 0 where a worker has too many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.assign.individual.kernels.least_set import least_set, new_desk, rank
from crowdopt.compiled_kernels import njit

GAIN = 1e-9  # a smaller one is rounding


class Counter(NamedTuple):
    """Prices of labels and workers by ratio, (rows, m) each: those of all rows, or room for the row at hand."""

    price: np.ndarray
    order: np.ndarray
    ranked: np.ndarray  # how many workers each order has, (rows,)
    ratio: np.ndarray  # (m,)
    row: np.ndarray  # (1,): the row at hand; -1: none, -2: all are there


@njit(cache=True, nogil=True)
def fill(counter, tasks, worker, pay):
    """Work out prices and orders of all rows, where there is room for all.

    tasks: the rows; worker (m,): w, the workers' multipliers; pay: ``1 - b``, b <= 0 the budget's multiplier.
    """
    if counter.ranked.size == tasks.worth.shape[0]:
        for r in range(tasks.worth.shape[0]):
            _fill_row(counter, r, r, tasks, worker, pay)
        counter.row[0] = -2
    else:
        counter.row[0] = -1


@njit(cache=True, nogil=True)
def _fill_row(counter, at, r, tasks, worker, pay):
    cost, price = tasks.cost[r if tasks.cost.shape[0] > 1 else 0], counter.price[at]
    for j in range(worker.size):
        price[j] = max(GAIN, pay * cost[j] - worker[j])
    counter.ranked[at] = rank(price, tasks.worth[r], counter.order[at], counter.ratio)


@njit(cache=True, nogil=True)
def _at(counter, r, tasks, worker, pay):
    """Where the counter has row r."""
    if counter.row[0] == -2:
        return r
    if counter.row[0] != r:
        _fill_row(counter, 0, r, tasks, worker, pay)
        counter.row[0] = r
    return 0


@njit(cache=True, nogil=True)
def choose(k, tasks, target, price, ranked, order, nodes, close, width, desk):
    """The cheapest set for task k of workers whom the desk does not skip; what it costs, infinite where there is none.

    Labels are added, the cheapest first, where a set has too few; one with too many is none at all.

    k: the task; tasks: all tasks; target (k,): evidence that a task of a plan gets; price (m,): of each worker's label;
    ranked, order int and (m,) int: workers by ratio, how many and who; nodes, close: of the search for a set, and how
    close it comes, relatively; width: labels that there is room for; desk: says who is out of the question, beside the
    task's barred workers; takes the set; -> the cost.
    """
    worth, skip, found = tasks.worth[tasks.row[k]], desk.skip, desk.found
    for t in range(tasks.starts[k], tasks.starts[k + 1]):
        skip[tasks.barred[t]] = True
    _, new = least_set(ranked, order, price, worth, target[k], close, nodes, desk)
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
def _propose(k, tasks, target, counter, at, nodes, close, left, hands, held, desk):
    """The cheapest set for task k of workers with capacity left, its own labels given back; ``(new, old)`` prices."""
    price = counter.price[at]
    old = 0.0 if held[k] >= 0 else np.inf
    for t in range(held[k]):
        left[hands[k, t]] += 1
        old += price[hands[k, t]]
    for j in range(left.size):
        desk.skip[j] = left[j] <= 0
    ranked, order, width = counter.ranked[at], counter.order[at], hands.shape[1]
    return choose(k, tasks, target, price, ranked, order, nodes, close, width, desk), old


@njit(cache=True, nogil=True)
def _settle(k, take, left, hands, held, desk):
    """Take the proposed set, or go back to the labels the task had."""
    if take:
        held[k] = desk.labels[0]
        for t in range(held[k]):
            hands[k, t] = desk.found[t]
    for t in range(held[k]):
        left[hands[k, t]] -= 1


@njit(cache=True, nogil=True)
def serve(queue, tasks, target, counter, worker, pay, nodes, close, left, hands, held, over):
    """Give each task of the queue its cheapest set where that is cheaper than what it has.

    queue (n,) int: tasks, in the order in which they are served; tasks: all tasks; target (k,): evidence that a task of
    a plan gets; counter: prices and orders of workers (:func:`fill`); worker (m,): w, the workers' multipliers; pay:
    ``1 - b``, b <= 0 the budget's multiplier; nodes, close: of the search for a set, and how close it comes,
    relatively; left (m,) int: capacities left; written; hands (k, width), held (k,): the sets; written; over: a worker
    who has too many: tasks take the cheapest set whatever they had until that is over; -1: nobody; -> how many tasks
    took a new set.
    """
    desk, taken = new_desk(left.size), 0
    for k in queue:
        if over >= 0 and left[over] >= 0:
            break
        at = _at(counter, tasks.row[k], tasks, worker, pay)
        new, old = _propose(k, tasks, target, counter, at, nodes, close, left, hands, held, desk)
        take = new < np.inf if over >= 0 else new < old - GAIN
        _settle(k, take, left, hands, held, desk)
        taken += take
    return taken


@njit(cache=True, nogil=True)
def regrets(queue, tasks, target, counter, worker, pay, nodes, close, left, hands, held, out):
    """How much dearer each task of the queue gets without workers who have too many or none left.

    queue (n,) int: tasks; tasks: all tasks; target (k,): evidence that a task of a plan gets; counter: prices and
    orders of workers (:func:`fill`); worker (m,): w, the workers' multipliers; pay: ``1 - b``, b <= 0 the budget's
    multiplier; nodes, close: of the search for a set, and how close it comes, relatively; left (m,) int: capacities
    left; as before in the end; hands (k, width), held (k,): the sets; as before in the end; out (n,): written; infinite
    where it is impossible.
    """
    desk = new_desk(left.size)
    for t in range(queue.size):
        k = queue[t]
        at = _at(counter, tasks.row[k], tasks, worker, pay)
        new, old = _propose(k, tasks, target, counter, at, nodes, close, left, hands, held, desk)
        out[t] = new - old
        _settle(k, False, left, hands, held, desk)
