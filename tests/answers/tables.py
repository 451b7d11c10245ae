"""Label tables to try, sparse and with every oddity: tasks and workers without labels, classes without labels."""

from __future__ import annotations

import numpy as np

from crowdopt.crowd.labels import Labels


def drawn(
    seed: int, tasks: int = 12, workers: int = 7, classes: int = 3, share: float = 0.6
) -> tuple[Labels, np.ndarray]:
    """One-coin labels of about that share of all pairs, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, tasks)
    skill = rng.beta(4, 2, workers)
    there = rng.random((tasks, workers)) < share
    there[0], there[:, 0] = False, False
    there[1, 1] = True
    task, worker = np.nonzero(there)
    wrong = (truth[task] + rng.integers(1, classes, task.size)) % classes
    label = np.where(rng.random(task.size) < skill[worker], truth[task], wrong)
    order = rng.permutation(task.size)
    ids = tuple(tuple(f"{kind}{k}" for k in range(n)) for kind, n in (("t", tasks), ("w", workers), ("c", classes)))
    return Labels(task[order], worker[order], label[order], *ids), truth


def rows(labels: Labels) -> list[tuple[int, int, int]]:
    """The table as triples."""
    return list(zip(labels.task.tolist(), labels.worker.tolist(), labels.label.tolist(), strict=True))
