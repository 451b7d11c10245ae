"""The master over levels: which set of levels a task gets, and whose labels fill the levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from crowdopt.arrays import Ints
from crowdopt.core.program import Program, stack
from crowdopt.crowd.alike import Classes
from crowdopt.programs.label_sets import DEAR


def of_levels(classes: Classes, level: Ints, starts: Ints, kinds: Sequence[int], sets: Sequence[Ints]) -> Program:
    """``min sum_tg c_tg u_tg + D without  s.t.  without_t + sum_{k of t} z_k = n_t,``

    ``without_tl + sum_{g in l} u_tg >= sum_{k of t} a_kl z_k,  sum_t u_tg <= s_g M_g``: each task has a set of levels,
    of which the k-th has a_kl labels of level l; each level of a class of tasks has the labels that its sets take.
    Workers stand in one row each, where every column is simple; sets touch the rows of levels only, which are few.

    Columns: ``without`` (T + levels,), ``u`` (T, G), ``given`` (k,). Rows: ``task`` (T,), ``level`` (levels of all
    classes of tasks,), ``capacity`` (G,).

    classes: without label limits, least loads, budget, barred or fixed pairs; level (T, G): the level of each worker
    class for each class of tasks; starts (T + 1,): where each class's levels begin, when all are counted through; the
    last entry is their number; kinds: class of tasks of each set; sets sequence of (size,) int: levels of one task's
    labels, sorted.
    """
    count, groups = level.shape
    inner = int(starts[-1])
    dearest = DEAR * float(classes.cost.max() * (1 + classes.cardinality.max()))
    without = sparse.eye_array(count + inner, format="csc")
    without.resize((count + inner + groups, count + inner))
    parts = [without, _labels(level, starts)]
    if len(sets):
        parts.append(columns_of(level, starts, kinds, sets))
    cost = np.concatenate([np.full(count + inner, dearest), classes.cost.reshape(-1), np.zeros(len(sets))])
    n, supply = classes.tasks_in.astype(float), (classes.workers_in * classes.capacity).astype(np.float64)
    return Program(
        name="level-sets",
        cost=cost,
        matrix=sparse.csc_array(sparse.hstack(parts, format="csc")),
        row_lower=np.concatenate([n, np.zeros(inner), np.full(groups, -np.inf)]),
        row_upper=np.concatenate([n, np.full(inner, np.inf), supply]),
        lower=np.zeros(cost.size),
        upper=np.full(cost.size, np.inf),
        integer=np.zeros(cost.size, bool),
        columns=stack([("without", (count + inner,)), ("u", (count, groups)), ("given", (len(sets),))]),
        rows=stack([("task", (count,)), ("level", (inner,)), ("capacity", (groups,))]),
    )


def columns_of(level: Ints, starts: Ints, kinds: Sequence[int], sets: Sequence[Ints]) -> sparse.csc_array:
    """The sets' columns: a task in its class's row, minus its labels in the rows of their levels; they cost nothing.

    level (T, G), starts (T + 1,): as in :func:`of_levels`; kinds: class of tasks of each set; sets sequence of (size,)
    int: levels of one task's labels, sorted; -> (rows, sets) sparse array.
    """
    kind = np.array(kinds, np.int64)
    sizes = np.array([chosen.size for chosen in sets], np.int64)
    column, each = np.repeat(np.arange(kind.size), sizes), np.arange(kind.size)
    row = level.shape[0] + starts[kind[column]] + np.concatenate(sets)
    value = np.concatenate([np.ones(kind.size), np.full(row.size, -1.0)])
    place = (np.concatenate([kind, row]), np.concatenate([each, column]))
    return sparse.csc_array((value, place), shape=(level.shape[0] + int(starts[-1]) + level.shape[1], kind.size))


def _labels(level: Ints, starts: Ints) -> sparse.csc_array:
    """A column for each class of tasks and of workers: labels that fill the level and take of the capacity."""
    count, groups = level.shape
    kind, group = np.divmod(np.arange(count * groups), groups)
    row = np.concatenate([count + starts[kind] + level.reshape(-1), count + starts[-1] + group])
    column = np.tile(np.arange(count * groups), 2)
    shape = (count + int(starts[-1]) + groups, count * groups)
    return sparse.csc_array((np.ones(row.size), (row, column)), shape=shape)
