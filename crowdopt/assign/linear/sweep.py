"""Every open task priced once: the bound at some prices, each task's set, and what the sets ask of workers.

``g(w, b) = sum_i K_i(w, b) + sum_j (L_j [w_j]+ - M_j [w_j]-) + b B``  with
``K_i = max_l min sum_j ((1 - b) c_ij - w_j - l) y_j + l k_i  s.t.  sum_j q_ij y_j >= C_i, y binary``, a lower bound on
every plan whatever w and b <= 0 are.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.linear.own_tasks import OwnTasks
from crowdopt.core.clock import Clock

GROUPS = 48  # of tasks, each with a line of its own in the model of the bound
CLOSE = 2e-6  # relative; how far a bound may stay below its set
NODES, ALONE = 300, 4_000  # that are spent on a task to begin with, where tasks share rows and where they do not
WIDTH = 8  # labels a set may have beyond twice those at the lowest prices


@dataclass(frozen=True, eq=False)
class Prices:
    """Multipliers of what links tasks, in the house's sign: ``worker`` (m,), > 0 only for least loads; ``budget``."""

    worker: Floats
    budget: float = 0.0


@dataclass(frozen=True, eq=False)
class Sweep:
    """What pricing every task at ``prices`` brought."""

    prices: Prices
    # K_i, the price of evidence in the linear program of it, and the multiplier l of the task's limits on labels
    value: Floats  # (k,)
    rate: Floats  # (k,)
    limit: Floats  # (k,)
    # a set of each task; held is -1 where none is known
    hands: Ints  # (k, width)
    held: Ints  # (k,)
    # what the sets of each group ask of workers, and cost without multipliers
    load: Floats  # (groups, m)
    paid: Floats  # (groups,)
    bound: float  # g, the fixed labels' price included; inf: some task has no set at all


class Sweeper:
    """Prices the open tasks of an instance again and again, with so many threads, in so many groups.

    ``width`` is the room for a set's labels; worked out where it is not given.
    """

    def __init__(self, tasks: OwnTasks, threads: int, groups: int = GROUPS, width: int | None = None) -> None:
        from crowdopt.assign.linear import sweep_kernels

        self.tasks, self.threads, self._kernels = tasks, threads, sweep_kernels
        self.groups = min(groups, max(1, tasks.size))
        self.width = self._width() if width is None else width
        self.type = np.int16 if tasks.room.size < np.iinfo(np.int16).max else np.int32

    def _width(self) -> int:
        """Room for the labels of a set: twice what the neediest task of a row takes of the best workers, and a few."""
        arrays, most = self.tasks.arrays, 1
        first = np.flatnonzero(np.diff(arrays.row, prepend=-1))
        for some in np.array_split(first, max(1, first.size * self.tasks.room.size // 500_000)):
            if not some.size:
                continue
            best = np.cumsum(-np.sort(-arrays.worth[arrays.row[some]], axis=1), axis=1)
            need = np.maximum.reduceat(arrays.floor, first)[np.searchsorted(first, some)]
            most = max(most, int((best < need[:, None]).sum(axis=1).max()) + 1)
        most = max(most, int(arrays.fewest.max(initial=0)))
        return min(self.tasks.room.size, 2 * most + WIDTH)

    def sweep(self, prices: Prices, clock: Clock, close: float = CLOSE, nodes: int = NODES) -> Sweep | None:
        """Price every task; None where the time ends before the last one."""
        tasks, m = self.tasks, self.tasks.room.size
        from crowdopt.assign.least_set import Pay, SetEffort
        from crowdopt.assign.linear.sweep_kernels import Found, TaskGroup

        value, rate, limit = np.zeros((3, tasks.size))
        hands, held = np.zeros((tasks.size, self.width), self.type), np.zeros(tasks.size, np.int64)
        found = Found(value, rate, limit, hands, held, np.zeros((self.groups, m)), np.zeros(self.groups))
        pay, effort = Pay(prices.worker, 1.0 - prices.budget), SetEffort(nodes, close)

        def price(group: int) -> bool:
            if not clock.over:
                self._kernels.price_group(TaskGroup(group, self.groups), tasks.arrays, pay, effort, found)
            return not clock.over

        if not all(self._each(price)):
            return None
        bound = float(value.sum()) + linked(tasks, prices)
        return Sweep(prices, *found, bound)

    def _each(self, price: Callable[[int], bool]) -> list[bool]:
        """One group after another, or several at a time where threads allow."""
        if self.threads == 1:
            return [price(group) for group in range(self.groups)]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(price, range(self.groups)))


def linked(tasks: OwnTasks, prices: Prices) -> float:
    """What the rows that link tasks, and the fixed labels, add to the bound."""
    worker = prices.worker
    rows = float((np.where(worker > 0, tasks.least, tasks.room) * worker).sum())
    budget = 0.0 if tasks.budget is None else prices.budget * tasks.budget
    return rows + budget + tasks.constant
