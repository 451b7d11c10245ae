"""What a policy's own prices prove, at any moment, about the cost of what it has covered so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.online.picking import fill

SCALES = np.geomspace(0.1, 10.0, 41)  # prices are tried at these multiples: any of them proves something
BATCH = 4_000_000  # entries of a table at a time


@dataclass(frozen=True)
class Bound:
    """Covering what the policy has covered, with the workers who have come, costs at least ``least``.

    Later workers can lower that optimum: it says how good the decisions were for the crowd so far, not how good they
    will look at the end.
    """

    spent: float
    least: float

    @property
    def ratio(self) -> float:
        """Spent over least; infinite where nothing is proven."""
        return self.spent / self.least if self.least > 0 else float("inf")


def running_bound(instance: AssignmentInstance, arrived: int, price: Floats, covered: Floats, spent: float) -> Bound:
    """``max over scales a of  sum_i a x_i d_i - sum_j max_{y in box, capacity} sum_i (a q_ij x_i - c_ij) y_ij``.

    Weak duality of the assignment LP with demand ``d_i = min(need, covered)``: a proof for any prices x >= 0.

    instance: workers in order of arrival, true skills; arrived: how many have come; price (tasks,): x; negative and
    infinite ones count as 0; covered (tasks,): evidence bought so far; spent: what the labels so far cost.
    """
    demand = np.minimum(instance.residual_need, covered)
    usable = np.where(np.isfinite(price), np.maximum(price, 0.0), 0.0)
    # tasks of one type and price are one kind: the maximum over a worker's tasks is a fill over kinds
    pairs, kind = np.unique(np.column_stack([instance.task_type, usable]), axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    tasks_in = np.bincount(kind)
    worth = np.bincount(kind, weights=demand * usable)
    types = pairs[:, 0].astype(np.int64)
    evidence, cost = instance.evidence[types, :arrived].T, instance.cost[types, :arrived].T
    capacity = instance.capacity[:arrived]
    # multiples of one price vector are all valid: the best of a few scales
    best = 0.0
    for scale in SCALES:
        best = max(best, scale * float(worth.sum()) - _reward(scale * pairs[:, 1], evidence, cost, tasks_in, capacity))
    return Bound(spent, best)


def _reward(
    price: Floats,
    evidence: Floats,
    cost: Floats,
    tasks_in: NDArray[np.int64],
    capacity: NDArray[np.int64],
) -> float:
    rows, total = max(1, BATCH // price.size), 0.0
    for start in range(0, capacity.size, rows):
        part = slice(start, start + rows)
        value = evidence[part] * price - cost[part]
        total += float((fill(value, tasks_in, capacity[part]) * np.maximum(value, 0.0)).sum())
    return total
