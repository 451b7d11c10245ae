"""Sets that pricing met: the columns of a master that chooses among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.individual.prices.own_tasks import OwnTasks
from crowdopt.assign.individual.prices.sweep import Prices
from crowdopt.programs.own_sets import KnownSets

PAD = -1  # in a row of workers, behind the last one


@dataclass(eq=False)
class SetsMet:
    """Sets ``workers[s]`` of tasks ``task[s]``, descending and padded with PAD; each once, all good for a plan."""

    tasks: OwnTasks
    task: Ints
    workers: NDArray[Any]

    @classmethod
    def none(cls, tasks: OwnTasks, width: int, kind: Any) -> SetsMet:
        """No set yet."""
        return cls(tasks, np.zeros(0, np.int64), np.zeros((0, width), kind))

    def add(self, hands: NDArray[Any], held: Ints, some: Ints | None = None) -> None:
        """Add each task's set, or those of some tasks; one that would not do in a plan is left out."""
        index = np.flatnonzero(held >= 0) if some is None else some[held[some] >= 0]
        inside = np.arange(hands.shape[1]) < held[index][:, None]
        rows = np.where(inside, hands[index], PAD)
        rows = -np.sort(-rows, axis=1)  # descending, so that the padding comes last
        wide = self.workers.shape[1]
        if rows.shape[1] < wide:
            rows = np.pad(rows, ((0, 0), (0, wide - rows.shape[1])), constant_values=PAD)
        rows, small = rows[:, :wide], (held[index] <= wide)
        index, rows = index[small], rows[small]
        good = self._is_good(index, rows)
        task = np.concatenate([self.task, index[good]])
        workers = np.concatenate([self.workers, rows[good]])
        order = np.lexsort((*workers.T, task))
        task, workers = task[order], workers[order]
        new = np.ones(task.size, bool)
        new[1:] = (task[1:] != task[:-1]) | (workers[1:] != workers[:-1]).any(axis=1)
        self.task, self.workers = task[new], workers[new]

    def _is_good(self, task: Ints, rows: NDArray[Any]) -> NDArray[np.bool_]:
        arrays, size = self.tasks.arrays, (rows != PAD).sum(axis=1)
        have = np.zeros(task.size)
        for t in range(rows.shape[1]):
            there = rows[:, t] != PAD
            have[there] += arrays.worth[arrays.row[task[there]], rows[there, t]]
        enough = have >= self.tasks.target[task]
        return np.asarray(enough & (size >= arrays.fewest[task]) & (size <= arrays.most[task]))

    def costs(self, worker: Floats | None = None, pay: float = 1.0) -> Floats:
        """Price of each set, ``sum (pay c_ij - w_j)``."""
        arrays, total = self.tasks.arrays, np.zeros(self.task.size)
        one_row = len(arrays.cost) == 1
        for t in range(self.workers.shape[1]):
            there = self.workers[:, t] != PAD
            j = self.workers[there, t].astype(np.int64)
            row = 0 if one_row else arrays.row[self.task[there]]
            total[there] += pay * arrays.cost[row, j] - (0.0 if worker is None else worker[j])
        return total

    def nearest(self, prices: Prices, most: int) -> SetsMet:
        """The sets that cost least beyond the best one of their task at these prices; that one is always among them."""
        price = self.costs(prices.worker, 1.0 - prices.budget)
        first = np.flatnonzero(np.diff(self.task, prepend=-1))
        least = np.repeat(np.minimum.reduceat(price, first), np.diff(np.append(first, self.task.size)))
        regret = price - least
        if regret.size > most:
            bar = max(0.0, float(np.partition(regret, most)[most]))
            kept = np.flatnonzero(regret <= bar)[: 2 * most] if bar > 0 else np.flatnonzero(regret <= 0)
            kept = np.union1d(kept, self._best(price, first))
        else:
            kept = np.arange(regret.size)
        return SetsMet(self.tasks, self.task[kept], self.workers[kept])

    def _best(self, price: Floats, first: Ints) -> Ints:
        order = np.lexsort((price, self.task))
        return order[first]

    def known(self, kept: Ints, number: Ints) -> KnownSets:
        """Some sets as columns, tasks numbered anew by ``number``."""
        workers = self.workers[kept]
        inside = workers != PAD
        starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        part = SetsMet(self.tasks, self.task[kept], workers)
        return KnownSets(number[self.task[kept]], part.costs(), starts, workers[inside].astype(np.int64))
