"""An instance restricted to some of its tasks, or some of its workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.instance import AssignmentInstance

PAIRS = ("forbidden", "fixed", "collected")


def of_tasks(instance: AssignmentInstance, tasks: Ints) -> AssignmentInstance:
    """The instance with some tasks alone, in that order; workers and all their limits stay as they are.

    Parameters
    ----------
    instance : AssignmentInstance
    tasks : (k,) int
        Each once.

    Returns
    -------
    AssignmentInstance
        Its task k is ``tasks[k]``; all types stay.
    """
    return replace(
        instance,
        task_type=instance.task_type[tasks],
        epsilon=instance.epsilon[tasks],
        demand=instance.demand[tasks],
        min_labels=instance.min_labels[tasks],
        max_labels=instance.max_labels[tasks],
        prior=instance.prior[tasks] if instance.prior.ndim > 1 else instance.prior,
        tasks=[instance.task_id(int(i)) for i in tasks],
        types=[instance.type_id(k) for k in range(instance.n_types)],
        **_pairs(instance, tasks, instance.n_tasks, side=0),
    )


def of_workers(instance: AssignmentInstance, workers: Ints, ids: Sequence[str] | None = None) -> AssignmentInstance:
    """The instance with some workers alone, in that order; tasks and all their limits stay as they are.

    Parameters
    ----------
    instance : AssignmentInstance
    workers : (k,) int
        One who stands here several times is copied; the pairs stay with the first.
    ids : sequence of str, optional
        What these workers are called; default: 0, 1, 2, ...

    Returns
    -------
    AssignmentInstance
        Its worker k is ``workers[k]``.
    """
    return replace(
        instance,
        accuracy=instance.accuracy[:, workers],
        capacity=instance.capacity[workers],
        cost=instance.cost[:, workers],
        min_load=instance.min_load[workers],
        workers=ids,
        **_pairs(instance, workers, instance.n_workers, side=1),
    )


def _pairs(instance: AssignmentInstance, chosen: Ints, count: int, side: int) -> dict[str, Any]:
    """The pairs of those chosen, renumbered."""
    place = np.full(count, -1, np.int64)
    place[chosen[::-1]] = np.arange(chosen.size)[::-1]
    moved = {name: getattr(instance, name).copy() for name in PAIRS}
    for pairs in moved.values():
        pairs[:, side] = place[pairs[:, side]]
    return {name: pairs[pairs[:, side] >= 0] for name, pairs in moved.items()}
