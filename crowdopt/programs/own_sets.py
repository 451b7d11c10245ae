"""The master over whole sets of labels: each task has one of the sets known for it, workers keep their capacity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack


@dataclass(frozen=True, eq=False)
class KnownSets:
    """Sets of labels, each for one task."""

    task: Ints  # (sets,): whose set it is; tasks are 0, 1, ..
    cost: Floats  # (sets,): what it costs
    starts: Ints  # (sets + 1,): set s has the workers ``worker[starts[s]:starts[s + 1]]``
    worker: Ints  # (labels,): worker of each label


def of_sets(sets: KnownSets, room: Floats, least: Floats, money: float, dear: float, whole: bool) -> Program:
    """``min sum c x + dear sum (over + under)  s.t.  sum_{s of i} x_s = 1, sum_{s has j} x_s - over_j <= M_j``.

    Also ``>= L_j - under_j`` where a worker has a least load, and ``sum c x <= B``. What is over or under is dear, so
    that there is always a point.

    Columns: ``set`` (S,), ``over`` (m,), ``under`` (m,). Rows: ``task`` (n,), ``worker`` (m,), ``budget`` (1,).

    sets: at least one for every task; money: B; inf where there is no budget; dear: what a label over or under costs;
    whole: whether each task must have one set and no mixture.
    """
    count, tasks, m = sets.task.size, int(sets.task.max()) + 1, room.size
    column = np.repeat(np.arange(count), np.diff(sets.starts))
    row = np.concatenate([sets.task, tasks + sets.worker, np.full(count, tasks + m)])
    place = np.concatenate([np.arange(count), column, np.arange(count)])
    value = np.concatenate([np.ones(count + column.size), sets.cost])
    workers = tasks + np.arange(m)
    slack = sparse.csc_array((-np.ones(m), (workers, np.arange(m))), shape=(tasks + m + 1, m))
    chosen = sparse.csc_array((value, (row, place)), shape=(tasks + m + 1, count))
    has_least = least > 0
    return Program(
        name="own-sets",
        cost=np.concatenate([sets.cost, np.full(2 * m, dear)]),
        matrix=sparse.hstack([chosen, slack, -slack], format="csc"),
        row_lower=np.concatenate([np.ones(tasks), np.where(has_least, least, -np.inf), [-np.inf]]),
        row_upper=np.concatenate([np.ones(tasks), room, [money]]),
        lower=np.zeros(count + 2 * m),
        upper=np.concatenate([np.ones(count), np.full(m, np.inf), np.where(has_least, np.inf, 0.0)]),
        integer=np.concatenate([np.full(count, whole), np.zeros(2 * m, bool)]),
        columns=stack([("set", (count,)), ("over", (m,)), ("under", (m,))]),
        rows=stack([("task", (tasks,)), ("worker", (m,)), ("budget", (1,))]),
    )
