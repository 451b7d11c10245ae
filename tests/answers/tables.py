"""Label tables to try, sparse and with every oddity: tasks and workers without labels, classes without labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.crowd.labels import Labels


def table(task: ArrayLike, worker: ArrayLike, label: ArrayLike, tasks: int, workers: int, classes: int = 2) -> Labels:
    """Labels of tasks t0, t1, ..., workers w0, ... and classes c0, ..."""
    ids = (tuple(f"{kind}{k}" for k in range(n)) for kind, n in (("t", tasks), ("w", workers), ("c", classes)))
    return Labels(*(np.asarray(part, np.int64) for part in (task, worker, label)), *ids)


def coins(accuracy: ArrayLike, classes: int) -> np.ndarray:
    """One-coin workers as tables: the chance of each label given each class, (workers, classes, classes)."""
    right = np.asarray(accuracy, float)[:, None, None]
    return np.where(np.eye(classes, dtype=bool), right, (1 - right) / (classes - 1))


def drawn(seed, tasks=12, workers=7, classes=3, each=None, chance=None, hard=(0.0, None)) -> tuple[Labels, np.ndarray]:
    """Labels and the truth: so many of each task, or of about .6 of all pairs, with oddities.

    By tables like those of ``coins``; ``hard``: a share of the tasks on which others hold.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, tasks)
    tables = coins(rng.beta(4, 2, workers), classes) if chance is None else chance
    order = rng.random((tasks, workers))
    there = order < 0.6 if each is None else order.argsort(axis=1).argsort(axis=1) < each
    if each is None:
        there[0], there[:, 0], there[1, 1] = False, False, True
    task, worker = np.nonzero(there)
    is_hard = rng.random(tasks) < hard[0]
    law = np.stack([tables, tables if hard[1] is None else hard[1]])[is_hard[task].astype(int), worker, truth[task]]
    label = (rng.random(task.size)[:, None] > law[:, :-1].cumsum(axis=1)).sum(axis=1)
    rows = rng.permutation(task.size)
    return table(task[rows], worker[rows], label[rows], tasks, workers, classes), truth


def likelihood(labels: Labels, chance: np.ndarray) -> np.ndarray:
    """``P(labels | class)`` of each task, (tasks, classes), multiplied out."""
    total = np.ones((len(labels.tasks), chance.shape[1]))
    np.multiply.at(total, labels.task, chance[labels.worker, :, labels.label])
    return total


def shares(weights: np.ndarray) -> np.ndarray:
    """Rows that add up to 1; uniform where all are 0."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), 1 / weights.shape[1])
