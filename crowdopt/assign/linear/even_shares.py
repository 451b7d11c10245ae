"""Shares of labels that tasks of a row have in proportion to their needs, where that keeps every limit.

The averaged rows' linear program gives each row its amounts, ``u_rj`` labels of worker j. A task of need C_i gets
``y_ij = u_rj / n_r  C_i / mean C``: each task its evidence, each worker the same load, at the same cost, which is at
most that of any shares. What breaks a limit (a share above 1, a worker whom the task may not have, a number of labels)
is left to a program of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.linear.own_tasks import OwnTasks
from crowdopt.assign.linear.sweep import Prices
from crowdopt.core.solution import BY_SIZE, Options, Solve
from crowdopt.crowd.alike import Classes
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.programs import aggregated

ROWS = 128  # up to which their linear program is solved
FAINT = 1e-12  # a smaller share is none


def averaged(tasks: OwnTasks) -> Classes:
    """Each row as a class of tasks that all need what its tasks need on average; every worker a class."""
    arrays, m = tasks.arrays, tasks.room.size
    rows, place, count = np.unique(arrays.row, return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=arrays.floor) / count
    shape = rows.size, m
    return Classes(
        instance=tasks.instance,
        task_class=place,
        worker_class=np.arange(m),
        tasks_in=count,
        workers_in=np.ones(m, np.int64),
        evidence=arrays.worth[rows],
        cost=np.array(np.broadcast_to(arrays.cost, shape) if len(arrays.cost) == 1 else arrays.cost[rows]),
        need=mean,
        floor=mean,
        fewest=np.zeros(rows.size, np.int64),
        most=np.full(rows.size, UNLIMITED),
        capacity=tasks.room,
        min_load=tasks.least,
        least=np.zeros(shape, np.int64),
        room=np.ones(shape, np.int64),
    )


@dataclass(frozen=True, eq=False)
class RowsPoint:
    """The optimum of the averaged rows' linear program: ``amounts`` (rows, m) of labels, and prices of workers."""

    amounts: Floats
    prices: Prices


def rows_point(tasks: OwnTasks, solve: Solve, options: Options) -> RowsPoint | None:
    """The linear program of the averaged rows; None where rows are too many, or it has no point."""
    if np.unique(tasks.arrays.row).size > ROWS or not tasks.is_shared:
        return None
    program = aggregated.of_classes(averaged(tasks))
    solution = solve(program, BY_SIZE, options)
    if solution.dual is None or solution.primal is None:
        return None
    worker = program.row("capacity").view(solution.dual)
    worker = np.where(tasks.least > 0, worker, np.minimum(worker, 0.0))
    budget = 0.0 if tasks.budget is None else min(0.0, float(program.row("budget").view(solution.dual)[0]))
    amounts = program.column("u").view(solution.primal).copy()
    return RowsPoint(amounts, Prices(np.ascontiguousarray(worker), budget))


@dataclass(frozen=True, eq=False)
class KeptShares:
    """Shares ``amount`` of pairs ``task * workers + worker`` of open tasks, all but those that are ``free``."""

    tasks: OwnTasks
    pair: Ints
    amount: Floats
    free: Ints

    @classmethod
    def none(cls, tasks: OwnTasks) -> KeptShares:
        """Every task is free."""
        return cls(tasks, np.zeros(0, np.int64), np.zeros(0), np.arange(tasks.size))

    @property
    def load(self) -> Floats:
        """Of each worker, (m,)."""
        m = self.tasks.room.size
        return np.bincount(self.pair % m, weights=self.amount, minlength=m).astype(float)

    @property
    def paid(self) -> float:
        """What they cost."""
        arrays, (task, worker) = self.tasks.arrays, np.divmod(self.pair, self.tasks.room.size)
        row = arrays.row[task] if len(arrays.cost) > 1 else np.zeros_like(task)
        return float((arrays.cost[row, worker] * self.amount).sum())

    def without(self, some: Ints) -> KeptShares:
        """The same with some more tasks free."""
        free = np.union1d(self.free, some)
        stays = ~np.isin(self.pair // self.tasks.room.size, free)
        return KeptShares(self.tasks, self.pair[stays], self.amount[stays], free)


def even_shares(tasks: OwnTasks, amounts: Floats) -> KeptShares:
    """Shares in proportion to needs.

    amounts (rows, m): u, labels of each worker for each row, in the order of the rows' numbers.
    """
    rows, m = averaged(tasks), tasks.room.size
    kind, arrays = rows.task_class, tasks.arrays
    share = np.maximum(amounts, 0.0) / rows.tasks_in[:, None]
    evidence = np.maximum((share * rows.evidence).sum(axis=1), FAINT)
    scale = arrays.floor / evidence[kind]
    labels = scale * share.sum(axis=1)[kind]
    bad = (scale * share.max(axis=1)[kind] > 1) | (labels < arrays.fewest) | (labels > arrays.most)
    owner = np.repeat(np.arange(tasks.size), np.diff(arrays.starts))
    bad[owner[share[kind[owner], arrays.barred] > FAINT]] = True
    pair, amount = [np.zeros(0, np.int64)], [np.zeros(0)]
    for row in range(rows.tasks_in.size):
        some, who = np.flatnonzero((kind == row) & ~bad), np.flatnonzero(share[row] > FAINT)
        pair.append((some[:, None] * m + who).reshape(-1))
        amount.append((scale[some][:, None] * share[row, who]).reshape(-1))
    return KeptShares(tasks, np.concatenate(pair), np.concatenate(amount), np.flatnonzero(bad))
