"""The label table: who gave which task which label, as index arrays; and what labels are asked for.

An order of workers who are asked one after another, until a score of their labels leaves its limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


ASK, ANSWER, EXPERT = "ask", "answer", "expert"
Votes = tuple[tuple[int, int, int], ...]  # asker, class of the label, how many; in that order


@dataclass(frozen=True)
class AskingOrder:
    """An order between two classes: each label adds a whole number to a score that begins at 0.

    Before worker n, and after the last: at ``low[n]`` or less the answer is class 0, at ``high[n]`` or more class 1.
    Between them worker n is asked; after the last the expert is.
    """

    workers: tuple[int, ...]  # each once
    adds: tuple[tuple[int, int], ...]  # what a label of class 0 and of class 1 adds, for each worker
    low: tuple[int, ...]  # one more than workers
    high: tuple[int, ...]

    def turn(self, labels: Mapping[int, int]) -> tuple[str, int]:
        """What comes after these labels: ASK and the worker, ANSWER and the class, or EXPERT and -1.

        labels: of workers by number; those who are not asked by this order do not count.
        """
        score = 0
        for n, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if not low < score < high:
                return ANSWER, int(score > low)
            if n < len(self.workers):
                if self.workers[n] not in labels:
                    return ASK, self.workers[n]
                score += self.adds[n][labels[self.workers[n]]]
        return EXPERT, -1

    def heard(self, labels: Mapping[int, int]) -> tuple[int, int]:
        """How many of its workers have been heard, one after another, and their score."""
        heard = next((n for n, worker in enumerate(self.workers) if worker not in labels), len(self.workers))
        return heard, sum(self.adds[n][labels[self.workers[n]]] for n in range(heard))


@dataclass(frozen=True)
class OrderShare:
    """A share of the tasks of a kind with these votes follows this order; votes by worker."""

    kind: int
    votes: Votes
    order: AskingOrder
    share: float
    tasks: float  # expected
