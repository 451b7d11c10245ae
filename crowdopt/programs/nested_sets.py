"""The master over sets that serve every task of a row whose need they meet: how many tasks get which."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack
from crowdopt.programs.own_sets import KnownSets


def of_sets(sets: KnownSets, row: Ints, count: Ints, room: Floats, dear: float, whole: bool) -> Program:
    """``min sum c x + dear sum without  s.t.  sum_{s of l} x_s + down_{l+1} - down_l = n_l``, and workers' capacities.

    The latter are ``sum_{s has j} x_s <= M_j``. Levels l are the needs of a row's tasks, ascending, and n_l tasks have
    that need. A set belongs to the highest level that it meets; what a level does not use goes down to the next of its
    row, so each set serves any task that needs no more. ``without`` tasks, which have no set, count at their row's
    highest level.

    Columns: ``down`` (L - R,), into each level but a row's highest; ``without`` (R,); ``set`` (S,).
    Rows: ``task`` (L,), ``worker`` (m,).

    sets: ``task`` is the level of each; row (L,): row of each level; those of a row follow one another, the lowest need
    first; count (L,): n, tasks of each level; room (m,): M; dear: what a task without a set costs; whole: whether sets
    are for whole tasks.
    """
    levels, m = row.size, room.size
    lower = np.flatnonzero(row[1:] == row[:-1])
    highest = np.flatnonzero(np.append(row[1:] != row[:-1], True))
    each = np.arange(lower.size)
    place = np.concatenate([lower, lower + 1]), np.concatenate([each, each])
    value = np.repeat([1.0, -1.0], lower.size)
    down = sparse.csc_array((value, place), shape=(levels + m, lower.size))
    shape = (levels + m, highest.size)
    without = sparse.csc_array((np.ones(highest.size), (highest, np.arange(highest.size))), shape=shape)
    cost = np.concatenate([np.zeros(lower.size), np.full(highest.size, dear), sets.cost])
    continuous = lower.size + highest.size
    return Program(
        name="nested-sets",
        cost=cost,
        matrix=sparse.csc_array(sparse.hstack([down, without, columns_of(sets, levels, m)], format="csc")),
        row_lower=np.concatenate([count, np.full(m, -np.inf)]),
        row_upper=np.concatenate([count, room]).astype(float),
        lower=np.zeros(cost.size),
        upper=np.full(cost.size, np.inf),
        integer=np.concatenate([np.zeros(continuous, bool), np.full(sets.cost.size, whole)]),
        columns=stack([("down", (lower.size,)), ("without", (highest.size,)), ("set", (sets.cost.size,))]),
        rows=stack([("task", (levels,)), ("worker", (m,))]),
    )


def columns_of(sets: KnownSets, levels: int, workers: int) -> sparse.csc_array:
    """Entries of the sets' columns, (levels + workers, sets) sparse, as in :func:`of_sets`; ``task`` is a level."""
    each = np.arange(sets.cost.size)
    row = np.concatenate([sets.task, levels + sets.worker])
    column = np.concatenate([each, np.repeat(each, np.diff(sets.starts))])
    return sparse.csc_array((np.ones(row.size), (row, column)), shape=(levels + workers, each.size))
