"""What labels a task can still have are worth: whoever is left is not barred, not busy, not of a group that is full."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import AssignmentInstance


def evidence_left(instance: AssignmentInstance) -> Floats:
    """Evidence of all labels that each task can still have, others' wishes aside, (tasks,): at most so much comes.

    Parameters
    ----------
    instance : AssignmentInstance
        With the labels that are in, and the capacities that are left.

    Returns
    -------
    (tasks,) array
        0 for a task that can have no more labels, or only such as say nothing.
    """
    n = instance.n_tasks
    worth = np.where(instance.capacity > 0, instance.evidence[instance.task_type], 0.0)
    worth[tuple(instance.barred.T)] = 0.0
    for group in instance.groups:
        if group.max_per_task is not None:
            members = np.array(group.members)
            mine = instance.collected[np.isin(instance.collected[:, 1], members), 0]
            full = np.bincount(mine, minlength=n) >= group.max_per_task
            worth[np.ix_(np.flatnonzero(full), members)] = 0.0
    worth[instance.new_label_limits[1] <= 0] = 0.0
    left: Floats = worth.sum(axis=1)
    return left
