"""The state of belief among more than two classes: log-likelihoods of classes in place of log odds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Floats, Ints, sealed
from crowdopt.crowd.difficulty.hard_tasks import LARGEST, Difficulty
from crowdopt.online.beliefs.grid import GRID
from crowdopt.online.beliefs.state import ONCE, Beliefs, Ids, SkillArrays, SkillPrior


class ClassLabels(NamedTuple):
    """Labels in the order in which they came, for compiled loops.

    ``start`` is (workers + 1,): worker j's are those from start[j] to start[j + 1]. The others are (labels,): the task,
    the class that the label says, and the accuracy with which it counts.
    """

    start: Ints
    task: Ints
    label: Ints
    message: Floats


class ClassTasks(NamedTuple):
    """What is known of tasks, for compiled loops.

    ``kind``, ``level``, ``best`` and ``chance`` are (tasks,): type, level (crowdopt.online.beliefs.grid), likeliest
    class, chance of being hard. ``easy`` and ``hard`` are (tasks, classes): log-likelihoods of the task's labels, less
    those of guesses, if a class is true and the task is easy or hard.
    """

    kind: Ints
    level: Floats
    best: Ints
    easy: Floats
    hard: Floats
    chance: Floats


class ClassBeliefs(Beliefs):
    """Belief propagation over tasks of K classes: one coin, wrong answers uniform over the other classes.

    A task's posterior is exact for labels of the accuracies that the messages say: all K classes are heeded, not the
    likeliest two alone.

    kind (tasks,): tau(i).
    """

    once = (*(name for name in ONCE if name not in ("odds", "sums")), "levels", "best", "easy", "hard")
    per_label = ("task", "label", "message")

    def __init__(self, kind: Ints, types: int, workers: int, classes: int) -> None:
        self.classes = classes
        super().__init__(kind, types, workers)

    def _begin(self, tasks: int) -> None:
        self.label, self.levels, self.best = np.zeros(0, np.int64), np.zeros(tasks), np.zeros(tasks, np.int64)
        self.easy, self.hard = np.zeros((tasks, self.classes)), np.zeros((tasks, self.classes))

    @property
    def level(self) -> Floats:
        """How sure each task is (crowdopt.online.beliefs.grid), (tasks,)."""
        return self.levels

    @property
    def answer(self) -> Ints:
        """The likeliest class of each task; -1 where nothing is known."""
        some = np.bincount(self.task[: self.labels], minlength=self.kind.size) > 0
        return np.where(some, self.best, -1)

    def table(self) -> tuple[Ints, Ints, Ints]:
        """Task, worker and class of every label so far."""
        came, labels = int(self.came[0]), self.labels
        worker = np.repeat(np.arange(came), np.diff(self.start[: came + 1]))
        return self.task[:labels], worker, self.label[:labels]

    @property
    def _edges(self) -> Floats:
        return np.asarray((self.classes * self.message[: self.labels] - 1) / (self.classes - 1))

    def _hear(self, worker: int, tasks: Ids, labels: Ints) -> None:
        from crowdopt.online.beliefs.class_kernels import hear_of_classes

        hear_of_classes(worker, tasks, labels, *self._arrays, self._how, GRID)

    def _add_up(self, difficulty: Difficulty) -> None:
        from crowdopt.online.beliefs.class_kernels import add_up

        labels, _, tasks = self._arrays
        add_up(self.labels, labels, tasks, self._how)

    def _sweep(self, first: int, last: int) -> None:
        from crowdopt.online.beliefs.class_kernels import sweep_of_classes

        sweep_of_classes(first, last, *self._arrays, self._how, SkillPrior(GRID, self.prior, self.alike[0]))

    @property
    def _how(self) -> Floats:
        """``h, s``; no worker of skill 1 can be wrong more often than always, which bounds s from below."""
        return np.array([self.difficulty.share, max(self.difficulty.left, -LARGEST / (self.classes - 1))])

    @property
    def _arrays(self) -> tuple[ClassLabels, SkillArrays, ClassTasks]:
        return (
            ClassLabels(self.start, self.task, self.label, self.message),
            SkillArrays(self.gold, self.asked, self.agreement, self.density, self.weight),
            ClassTasks(sealed(self.kind), self.levels, self.best, self.easy, self.hard, self.hard_chance),
        )


def beliefs_of(kind: Ints, types: int, workers: int, classes: int) -> Beliefs:
    """The state of belief for so many classes; kind (tasks,): tau(i)."""
    return Beliefs(kind, types, workers) if classes == 2 else ClassBeliefs(kind, types, workers, classes)
