"""Compiled best responses: one task after another takes its cheapest set while a worker's price rises with their load.

Worker j's multiplier is ``w_j = min(0, w0_j + rho_j (left_j - behind room_j))``: the more labels of theirs are taken,
the dearer the next one. Who is lifted by a least load (w0_j > 0) stays so. Each response lowers
``sum of costs + sum_j integral of w_j over the load of j``, convex in the loads, so responses settle where nobody
gains by another set: where loads are large that is the optimum of the program with the price of overload in it
(Rosenthal 1973, a congestion game).
"""

from __future__ import annotations

import numpy as np

from crowdopt.assign.individual.kernels.least_set import new_desk, rank
from crowdopt.assign.individual.kernels.serving import GAIN, choose
from crowdopt.compiled_kernels import njit


@njit(cache=True, nogil=True)
def respond(queue, behind, each, tasks, target, worker, slope, room, pay, nodes, close, left, hands, held):
    """Let each task of the queue choose its set anew at the prices of the moment.

    queue (n,) int: tasks, in the order in which they choose; behind, each: share of the room that is kept for tasks
    that have no set yet, and by how much it falls with each task; tasks: all tasks; target (k,): evidence that a task
    of a plan gets; worker (m,): w0, the workers' multipliers where their capacity is just used up; slope (m,): rho, by
    how much a label too many changes the multiplier; room (m,) int: capacities; pay: ``1 - b``, b <= 0 the budget's
    multiplier; nodes, close: of the search for a set, and how close it comes, relatively; left (m,) int: capacities
    left, below 0 where a worker has too many; written; hands (k, width), held (k,): the sets; written.
    """
    m = worker.size
    desk, price = new_desk(m), np.empty(m)
    order, ratio = np.empty(m, np.int64), np.empty(m)
    for k in queue:
        behind -= each
        cost = tasks.cost[tasks.row[k] if tasks.cost.shape[0] > 1 else 0]
        for t in range(held[k]):
            left[hands[k, t]] += 1
        for j in range(m):
            now = worker[j]
            if now <= 0:
                now = min(0.0, now + slope[j] * (left[j] - behind * room[j]))
            price[j] = max(GAIN, pay * cost[j] - now)
            desk.skip[j] = False
        n = rank(price, tasks.worth[tasks.row[k]], order, ratio)
        new = choose(k, tasks, target, price, n, order, nodes, close, hands.shape[1], desk)
        if new < np.inf:
            held[k] = desk.labels[0]
            for t in range(held[k]):
                hands[k, t] = desk.found[t]
        for t in range(held[k]):
            left[hands[k, t]] -= 1
