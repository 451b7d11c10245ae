"""Which tasks a worker gets: the best ones they have room for, by kind of task, never by looking at all of them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.approximation import ZERO

Ids: TypeAlias = NDArray[np.integer]


def kinds_of(columns: list[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Tasks of equal entries in all columns are of one kind: kind (tasks,), first task of each (kinds,)."""
    key = np.zeros(columns[0].size, np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        key = np.unique(key * values.size + place.reshape(-1), return_inverse=True)[1].reshape(-1)
    return key, np.unique(key, return_index=True)[1]


def fill(value: Floats, tasks_in: Ints, capacity: Ints) -> Ints:
    """How many tasks of each kind each worker takes: kinds of value >= 0, the best first, up to the capacity.

    This is the Primal Approximation Algorithm (Ho et al. 2013, Algorithm 1) for a batch of workers, and the inner
    maximum of the Lagrangian bound.

    value (workers, kinds): q x - c; tasks_in (kinds,): tasks of each kind; capacity (workers,): the most that each
    worker takes; -> (workers, kinds).
    """
    taken = np.zeros(value.shape, np.int64)
    rows, room, left = np.arange(capacity.size), capacity, value
    for _ in range(tasks_in.size):  # most workers are full after a kind or two
        best = left.argmax(axis=1)
        going = (left[np.arange(rows.size), best] >= -ZERO) & (room > 0)
        if not going.all():
            rows, room, left, best = rows[going], room[going], left[going], best[going]
        count = np.minimum(room, tasks_in[best])
        taken[rows, best] = count
        # who has room left goes on to their next best kind; the others leave the arrays
        more = room > count
        rows, room, left, best = rows[more], (room - count)[more], left[more].copy(), best[more]
        if rows.size == 0:
            break
        left[np.arange(rows.size), best] = -np.inf
    return taken
