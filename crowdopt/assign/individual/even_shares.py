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
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.rows import averaged

FAINT = 1e-12  # a smaller share is none


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
