"""The label table: which worker gave which task which label, as index arrays over sorted-by-appearance ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Ints, coded
from crowdopt.errors import InputError


@dataclass(frozen=True, eq=False)
class Labels:
    """k labels: ``task[k]``, ``worker[k]``, ``label[k]`` index the id lists ``tasks``, ``workers``, ``classes``."""

    task: Ints
    worker: Ints
    label: Ints
    tasks: tuple[str, ...]
    workers: tuple[str, ...]
    classes: tuple[str, ...]

    @classmethod
    def from_columns(
        cls, task: Sequence[str], worker: Sequence[str], label: Sequence[str], classes: Sequence[str] = ()
    ) -> Labels:
        """Build from three columns of ids; tasks and workers keep their order of appearance, classes are sorted."""
        if not task:
            raise InputError("there is no label; a label table needs at least one row")
        names = tuple(sorted(set(label) | set(classes)))
        tasks, task_index = _index(task)
        workers, worker_index = _index(worker)
        _refuse_repeats(task_index, worker_index, tasks, workers)
        return cls(task_index, worker_index, coded(label, names), tasks, workers, names)

    @property
    def counts(self) -> Ints:
        """Labels each worker gave, shape (workers,)."""
        return np.bincount(self.worker, minlength=len(self.workers))

    @property
    def per_task(self) -> Ints:
        """Labels each task got, shape (tasks,)."""
        return np.bincount(self.task, minlength=len(self.tasks))

    def of_workers(self, chosen: Ints) -> Labels:
        """The labels of some workers alone; tasks, workers and classes keep their indices."""
        kept = np.isin(self.worker, chosen)
        return replace(self, task=self.task[kept], worker=self.worker[kept], label=self.label[kept])


def _index(column: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    names = tuple(dict.fromkeys(column))
    return names, coded(column, names)


def _refuse_repeats(task: Ints, worker: Ints, tasks: Sequence[str], workers: Sequence[str]) -> None:
    keys, first, counts = np.unique(task * len(workers) + worker, return_index=True, return_counts=True)
    if keys.size < task.size:
        k = int(first[counts > 1][0])
        raise InputError(
            f"worker {workers[worker[k]]} labelled task {tasks[task[k]]} more than once; keep one label of each pair"
        )


def tally(labels: Labels, truth: Mapping[str, str] | Ints, task_type: Ints, types: int) -> tuple[Ints, Ints]:
    """Gold tallies of real labels.

    truth (tasks,): index of each task's true class, -1 where it is not known; task_type (tasks,): type of each task; ->
    correct, asked (types, workers).
    """
    known = np.asarray(truth)[labels.task] >= 0
    cell = task_type[labels.task] * len(labels.workers) + labels.worker
    size = types * len(labels.workers)
    right = known & (np.asarray(truth)[labels.task] == labels.label)
    shape = (types, len(labels.workers))
    correct = np.bincount(cell[right], minlength=size).reshape(shape)
    return correct, np.bincount(cell[known], minlength=size).reshape(shape)
