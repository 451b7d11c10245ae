"""Workers who look alike where skills are not known, and how skill is distributed among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.programs.potential import wanted_in

CAPACITIES, PRICES = 8, 8  # of the groups that workers of unknown skill fall into


@dataclass(frozen=True, eq=False)
class WorkerGroup:
    """Workers who look alike where skills are not known, on one type of tasks, and their prior."""

    kind: int  # type of the tasks
    size: int
    horizon: int  # the most labels that each can give
    price: float  # of a label
    # skills among all workers of that price, and their shares
    accuracy: Floats  # (skills,)
    weight: Floats  # (skills,)
    level: Ints  # (skills,): level of each skill in the program of potentials


def groups_of(instance: AssignmentInstance, level: Ints) -> list[WorkerGroup]:
    """Group workers by price and capacity; a prior per price, whatever the capacity. Many prices count as the lowest.

    level (types, workers): level of each worker's skill in the program of potentials (crowdopt.programs.potential); ->
    one per type, price and capacity.
    """
    tasks, capacity = wanted_in(instance), _rounded(instance.capacity)
    columns, paid = np.unique(instance.cost, axis=1, return_inverse=True)
    paid = paid.reshape(-1)
    if columns.shape[1] > PRICES:
        columns, paid = columns.min(axis=1, keepdims=True), np.zeros(paid.size, np.int64)
    groups = []
    for k in range(columns.shape[1]):
        mine = np.flatnonzero(paid == k)
        rooms, sizes = np.unique(capacity[mine], return_counts=True)
        for kind in np.flatnonzero(tasks).tolist():
            accuracy, first, count = np.unique(instance.accuracy[kind, mine], return_index=True, return_counts=True)
            prior = (accuracy, count / mine.size, level[kind, mine[first]])
            groups += [
                WorkerGroup(kind, int(size), int(min(room, tasks[kind])), float(columns[kind, k]), *prior)
                for room, size in zip(rooms, sizes, strict=True)
            ]
    return groups


def _rounded(capacity: Ints) -> Ints:
    """At most CAPACITIES different capacities, each rounded up."""
    distinct = np.unique(capacity)
    if distinct.size <= CAPACITIES:
        return capacity
    ends = np.quantile(distinct, np.linspace(0, 1, CAPACITIES + 1)[1:], method="higher").astype(np.int64)
    return ends[np.searchsorted(ends, capacity)]
