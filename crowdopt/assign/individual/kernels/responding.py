"""Compiled best responses: one task after another takes its cheapest set while a worker's price rises with their load.

Worker j's multiplier is ``w_j = min(0, w0_j + rho_j (left_j - behind room_j))``: the more labels of theirs are taken,
the dearer the next one. Who is lifted by a least load (w0_j > 0) stays so. Each response lowers
``sum of costs + sum_j integral of w_j over the load of j``, convex in the loads, so responses settle where nobody
gains by another set: where loads are large that is the optimum of the program with the price of overload in it
(Rosenthal 1973, a congestion game).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.assign.individual.kernels.least_set import Ranked, new_desk, rank
from crowdopt.assign.individual.kernels.serving import GAIN, choose, settle
from crowdopt.compiled_kernels import njit


class Pull(NamedTuple):
    """How the multipliers of loads follow the loads."""

    slope: np.ndarray  # (m,): rho, by how much a label too many changes the multiplier
    room: np.ndarray  # (m,) int: capacities
    behind: float  # share of the room that is kept for tasks that have no set yet
    each: float  # by how much that falls with each task


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
