"""Label tables to try, sparse and with every oddity: tasks and workers without labels, classes without labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crowdopt.crowd.labels import Labels


def table(task: ArrayLike, worker: ArrayLike, label: ArrayLike, tasks: int, workers: int, classes: int = 2) -> Labels:
    """Labels of tasks t0, t1, ..., workers w0, ... and classes c0, ..."""
    ids = (tuple(f"{kind}{k}" for k in range(n)) for kind, n in (("t", tasks), ("w", workers), ("c", classes)))
    return Labels(*(np.asarray(part, np.int64) for part in (task, worker, label)), *ids)


def drawn(
    seed: int,
    tasks: int = 12,
    workers: int = 7,
    classes: int = 3,
    *,
    share: float = 0.6,
    each: int | None = None,
    skill: ArrayLike | None = None,
    confusion: np.ndarray | None = None,
    hard: tuple[float, float] = (0.0, 1.0),
) -> tuple[Labels, np.ndarray]:
    """Labels and the truth: of about a share of all pairs (below 1 with oddities), or so many of each task.

    One coin by the workers' skills, or by tables, (workers, classes, classes); ``hard``: on that share of the tasks
    only such a part of the edge is left, and the mean edge is that of the skills.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, tasks)
    skills = rng.beta(4, 2, workers) if skill is None else np.asarray(skill, dtype=float)
    order = rng.random((tasks, workers))
    there = order < share if each is None else order.argsort(axis=1).argsort(axis=1) < each
    if each is None and share < 1:
        there[0], there[:, 0] = False, False
        there[1, 1] = True
    task, worker = np.nonzero(there)
    scale = np.where(rng.random(tasks) < hard[0], hard[1], 1.0) / (1 - hard[0] * (1 - hard[1]))
    right = np.minimum(1 / classes + scale[task] * (skills[worker] - 1 / classes), 1)[:, None]
    law = np.where(np.arange(classes) == truth[task, None], right, (1 - right) / (classes - 1))
    law = law if confusion is None else confusion[worker, truth[task]]
    label = (rng.random(task.size)[:, None] > law[:, :-1].cumsum(axis=1)).sum(axis=1)
    rows = rng.permutation(task.size)
    return table(task[rows], worker[rows], label[rows], tasks, workers, classes), truth


def rows(labels: Labels) -> list[tuple[int, int, int]]:
    """The table as triples."""
    return list(zip(labels.task.tolist(), labels.worker.tolist(), labels.label.tolist(), strict=True))
