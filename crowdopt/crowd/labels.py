"""The label table: who gave which task which label, as index arrays; and what labels are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Ints, coded
from crowdopt.errors import InputError

# Kinds of labels: runs count and pay them apart
GOLD = "gold"  # on a task whose answer is known, to learn a worker's skill
EXPLORATION = "exploration"  # gold of preliminary workers, before the stream
WORK = "work"  # on a task whose answer is wanted
REPAIR = "repair"  # the same, after the last arrival
CHECK = "check"  # by an expert, on a finished answer: what claims are held against
TESTER = "tester"  # by all labelers, to learn their skills from the majority
REPEAT = "repeat"  # on an earlier tester once more

REFUSED = -1  # in place of a label that cannot be had


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
        """Build from three columns of ids; tasks and workers keep their order of appearance, classes are sorted.

        Raises InputError if there is no label, or a worker labelled a task twice.
        """
        if not task:
            raise InputError("there is no label; a label table needs at least one row")
        tasks, workers = tuple(dict.fromkeys(task)), tuple(dict.fromkeys(worker))
        i, j, names = coded(task, tasks), coded(worker, workers), tuple(sorted({*label, *classes}))
        _, first, counts = np.unique(i * len(workers) + j, return_index=True, return_counts=True)
        if (counts > 1).any():
            k = int(first[counts > 1][0])
            raise InputError(f"worker {worker[k]} labelled task {task[k]} more than once; keep one label of each pair")
        return cls(i, j, coded(label, names), tasks, workers, names)

    @property
    def counts(self) -> Ints:
        """Labels each worker gave, shape (workers,)."""
        return np.bincount(self.worker, minlength=len(self.workers))

    @property
    def per_task(self) -> Ints:
        """Labels each task got, shape (tasks,)."""
        return np.bincount(self.task, minlength=len(self.tasks))


def tally(labels: Labels, truth: Ints, task_type: Ints, types: int) -> tuple[Ints, Ints]:
    """Gold tallies of real labels.

    truth (tasks,): index of each task's true class, -1 where it is not known; task_type (tasks,): type of each task; ->
    correct, asked (types, workers).
    """
    true, workers = truth[labels.task], len(labels.workers)
    cell = task_type[labels.task] * workers + labels.worker
    right, known = (true >= 0) & (true == labels.label), true >= 0
    correct, asked = (np.bincount(cell[some], minlength=types * workers) for some in (right, known))
    return correct.reshape(types, workers), asked.reshape(types, workers)
