"""The workers of each task's pairs."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Ints


def workers_by_task(pairs: Ints) -> dict[int, tuple[int, ...]]:
    """The workers of each task that has a pair, ascending; pairs (k, 2): task and worker."""
    ordered = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    tasks, starts = np.unique(ordered[:, 0], return_index=True)
    parts = np.split(ordered[:, 1], starts[1:])
    return {task: tuple(part.tolist()) for task, part in zip(tasks.tolist(), parts, strict=False)}  # no pair: one part
