"""Labels of open tasks as they are dealt and mended: who has which task, and what is left of workers' capacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.assign.linear.own_tasks import OwnTasks
from crowdopt.assign.linear.sweep import Prices
from crowdopt.core.clock import Clock

TABLE = 4_000_000  # rows x workers up to which all rows' prices are kept
NODES, CLOSE = 300, 1e-5  # of the search for one task's set; relative
ASKED, AT_LEAST = 20, 300  # tasks whose regret is computed for each label that a worker has too many; and at least
PART = 4_000  # tasks served between two looks at the clock


@dataclass(eq=False)
class Served:
    """Labels ``hands[k, :held[k]]`` of each open task (-1: none yet) and ``left`` capacities, mended at some prices."""

    tasks: OwnTasks
    prices: Prices
    hands: NDArray[Any]
    held: Ints
    left: Ints

    def __post_init__(self) -> None:
        from crowdopt.assign.parts import serving_kernels

        self._kernels: Any = serving_kernels
        rows, m = self.tasks.arrays.worth.shape
        kept = rows if rows * m <= TABLE and self.tasks.is_shared else 1
        self._counter = serving_kernels.Counter(
            np.empty((kept, m)), np.empty((kept, m), np.int64), np.zeros(kept if kept == rows else 1, np.int64),
            np.empty(m), np.zeros(1, np.int64),
        )  # fmt: skip
        self.reprice(self.prices)

    @classmethod
    def none(cls, tasks: OwnTasks, prices: Prices, width: int, kind: Any) -> Served:
        """No labels yet."""
        hands, held = np.zeros((tasks.size, width), kind), np.full(tasks.size, -1)
        return cls(tasks, prices, hands, held, tasks.room.copy())

    def reprice(self, prices: Prices) -> None:
        """Take other prices."""
        self.prices = prices
        self._kernels.fill(self._counter, self.tasks.arrays, self._pay)

    def copy(self) -> Served:
        """The same labels, to be changed apart."""
        return Served(self.tasks, self.prices, self.hands.copy(), self.held.copy(), self.left.copy())

    def slack(self) -> Floats:
        """Evidence beyond what a task of a plan gets, (k,)."""
        have = np.zeros(self.tasks.size)
        arrays = self.tasks.arrays
        for t in range(self.hands.shape[1]):
            some = np.flatnonzero(self.held > t)
            have[some] += arrays.worth[arrays.row[some], self.hands[some, t]]
        return have - self.tasks.target

    @property
    def is_whole(self) -> bool:
        """Whether every task has a set and no worker too many."""
        return bool((self.held >= 0).all() and (self.left >= 0).all())

    def pairs(self) -> Ints:
        """The labels as pairs of the instance."""
        return self.tasks.pairs(self.hands, np.maximum(self.held, 0))

    def serve(self, queue: Ints, over: int = -1) -> int:
        """Give tasks their cheapest sets of workers with capacity left; see kernels."""
        return int(self._kernels.serve(np.ascontiguousarray(queue), *self._state(), over))

    def serve_all(self, queue: Ints, clock: Clock) -> int:
        """The same in parts, as long as there is time; how many took another set."""
        taken = 0
        for part in np.array_split(queue, max(1, -(-queue.size // PART))):
            if clock.over:
                break
            taken += self.serve(part)
        return taken

    def shed(self, rng: np.random.Generator, clock: Clock) -> bool:
        """Take labels from workers who have too many where that costs least; whether none has too many any more."""
        for _ in range(4 * self.left.size):
            worker = int(self.left.argmin())
            if self.left[worker] >= 0 or clock.over:
                break
            excess = int(-self.left[worker])
            queue = self._tasks_of(worker)
            asked = max(AT_LEAST, ASKED * excess)
            if queue.size > asked:
                queue = rng.choice(queue, asked, replace=False)
            regret = np.empty(queue.size)
            self._kernels.regrets(queue, *self._state(), regret)
            able = np.flatnonzero(np.isfinite(regret))
            if not self.serve(queue[able[np.argsort(regret[able], kind="stable")]], worker):
                self.drop(queue[:excess])
        return bool((self.left >= 0).all())

    def _tasks_of(self, worker: int) -> Ints:
        dealt = np.arange(self.hands.shape[1]) < self.held[:, None]
        return np.flatnonzero(((self.hands == worker) & dealt).any(axis=1))

    def drop(self, some: Ints) -> None:
        """Take all labels of some tasks back."""
        for k in some.tolist():
            np.add.at(self.left, self.hands[k, : max(0, self.held[k])].astype(np.int64), 1)
            self.held[k] = -1

    @property
    def arrays(self) -> Any:
        """What compiled loops read and write of it."""
        return self._kernels.HandsHeld(self.left, self.hands, self.held)

    @property
    def _pay(self) -> Any:
        from crowdopt.assign.least_set import Pay

        return Pay(self.prices.worker, 1.0 - self.prices.budget)

    def _state(self) -> tuple[Any, ...]:
        from crowdopt.assign.least_set import SetEffort

        effort = SetEffort(NODES, CLOSE)
        return self.tasks.arrays, self.tasks.target, self._counter, self._pay, effort, self.arrays
