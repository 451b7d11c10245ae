"""Labels that a plan's tasks can spare, for tasks that are short where everybody who could help is busy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance


@dataclass(eq=False)
class Surplus:
    """Who labels what (``held``: each task's workers; ``busy``: each worker's tasks), and what is over, (tasks,)."""

    instance: AssignmentInstance
    held: list[set[int]]
    busy: list[set[int]]
    over: Floats  # (tasks,): evidence beyond the need; below 0 where a task is short
    locked: set[tuple[int, int]]  # set of (task, worker): fixed pairs, which stay, and barred ones, which cannot come
    # whether a task of theirs may have a label to spare. What is over hardly ever grows, so who had none once is not
    # asked again
    willing: Bools  # (workers,)

    @classmethod
    def of(cls, instance: AssignmentInstance, pairs: Ints) -> Surplus:
        """As the pairs have it."""
        held: list[set[int]] = [set() for _ in range(instance.n_tasks)]
        busy: list[set[int]] = [set() for _ in range(instance.n_workers)]
        for task, worker in pairs.tolist():
            held[task].add(worker)
            busy[worker].add(task)
        locked = {(task, worker) for task, worker in np.concatenate([instance.fixed, instance.barred]).tolist()}
        over, willing = instance.supply(pairs) - instance.residual_need, np.ones(instance.n_workers, bool)
        return cls(instance, held, busy, over, locked, willing)

    def moved(self) -> Ints:
        """Pairs, sorted, in which short tasks, the shortest first, have what others can spare, as far as they can."""
        for task in np.argsort(self.over, kind="stable").tolist():
            if self.over[task] >= -COVERAGE:
                break
            self._serve(task)
        rows = [(task, worker) for task, workers in enumerate(self.held) for worker in sorted(workers)]
        return np.array(rows, np.int64).reshape(-1, 2)

    def _serve(self, task: int) -> None:
        """Workers in order of price per evidence, each from the task that can spare them best."""
        kind = self.instance.task_type[task]
        worth, cost = self.instance.evidence[kind], self.instance.cost[kind]
        able = np.flatnonzero((worth > 0) & self.willing)
        for worker in able[np.argsort(cost[able] / worth[able], kind="stable")].tolist():
            if self.over[task] >= -COVERAGE:
                return
            if (task, worker) in self.locked or worker in self.held[task]:
                continue
            other = self._spares(worker)
            if other is None:
                self.willing[worker] = False
            else:
                self._move(worker, other, task)

    def _spares(self, worker: int) -> int | None:
        """The task that is left with most without the worker, if that is enough."""
        tasks = np.array(sorted(k for k in self.busy[worker] if (k, worker) not in self.locked), np.int64)
        if tasks.size == 0:
            return None
        left = self.over[tasks] - self.instance.evidence[self.instance.task_type[tasks], worker]
        best = int(left.argmax())
        return int(tasks[best]) if left[best] >= -COVERAGE / 2 else None  # sums round

    def _move(self, worker: int, source: int, target: int) -> None:
        evidence, kind = self.instance.evidence, self.instance.task_type
        self.over[source] -= evidence[kind[source], worker]
        self.over[target] += evidence[kind[target], worker]
        self.held[source].remove(worker)
        self.held[target].add(worker)
        self.busy[worker].remove(source)
        self.busy[worker].add(target)
