"""Tasks: which type they are of, how sure they must be, how many labels they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints, places
from crowdopt.crowd.gold.checks import ids, integers, per
from crowdopt.crowd.stated.stated_part import UNLIMITED, StatedPart, filled, refuse_entries, refuse_excess
from crowdopt.errors import InputError


@dataclass(frozen=True, eq=False, init=False)
class StatedTasks(StatedPart):
    """The tasks of an instance; each array is what the instance says of it."""

    task_type: Ints
    epsilon: Floats
    demand: Floats
    min_labels: Ints
    max_labels: Ints
    tasks: Sequence[str] | None

    @property
    def n_tasks(self) -> int:
        """Tasks, n."""
        return len(self.task_type)

    @property
    def task_ids(self) -> list[str]:
        """The id of each task, (tasks,)."""
        return [self.task_id(i) for i in range(self.n_tasks)]

    @property
    def task_places(self) -> dict[str, int]:
        """The task of each id."""
        return places(self.task_ids)

    def cells(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Type and worker of each pair (k, 2): where tables of (types, workers) have it."""
        return self.task_type[pairs[:, 0]], pairs[:, 1]

    @property
    def one_target(self) -> float | None:
        """The error target of every task; None where tasks have different ones."""
        return float(self.epsilon[0]) if (self.epsilon == self.epsilon[0]).all() else None

    def task_id(self, task: int) -> str:
        """Id of a task."""
        return str(task) if self.tasks is None else self.tasks[task]

    def _check_tasks(self, types: int) -> None:
        self._keep("task_type", integers("task_type", np.arange(types) if self.task_type is None else self.task_type))
        if self.task_type.ndim != 1 or self.task_type.size == 0:
            raise InputError("task_type must be a list with one row of accuracy per task, and there must be a task")
        n, kinds, task = self.n_tasks, self.task_type, ("task", self.task_id)
        self._keep("tasks", ids("tasks", self.tasks, n))
        self._keep("epsilon", per("epsilon", self.epsilon, n, "task", np.float64))
        self._keep("demand", per("demand", self.demand, n, "task", np.float64))
        self._keep("min_labels", per("min_labels", filled(self.min_labels, 0), n, "task", np.int64))
        self._keep("max_labels", per("max_labels", filled(self.max_labels, UNLIMITED), n, "task", np.int64))
        refuse_entries(kinds, "task_type", (kinds < 0) | (kinds >= types), "must be a row of accuracy", task)
        outside = ~((self.epsilon > 0) & (self.epsilon < 0.5))
        refuse_entries(self.epsilon, "epsilon", outside, "must lie strictly between 0 and 1/2 (0.05 is 5 %)", task)
        bad = ~((self.demand >= 0) & (self.demand < np.inf))
        refuse_entries(self.demand, "demand", bad, "must be finite and at least 0", task)
        refuse_entries(self.min_labels, "min_labels", self.min_labels < 0, "must be at least 0", task)
        refuse_entries(self.max_labels, "max_labels", self.max_labels < 0, "must be at least 0", task)
        refuse_excess(self.min_labels, self.max_labels, "as min_labels", "max_labels", task)
