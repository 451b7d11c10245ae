"""Tasks that no worker may label any more: whoever is left is barred, busy, or of a group that is full."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.crowd.instance import AssignmentInstance


def exhausted(instance: AssignmentInstance, pairs: Ints, new: Ints) -> Bools:
    """Whether each task can have no more labels once these are in, (tasks,).

    Parameters
    ----------
    instance : AssignmentInstance
        As it was before the new labels.
    pairs, new : (k, 2) int
        Task and worker of each label there is, and of those that are new.

    Returns
    -------
    (tasks,) array
    """
    n, m = instance.n_tasks, instance.n_workers
    room = instance.capacity - np.bincount(new[:, 1], minlength=m) > 0
    able = (instance.evidence[instance.task_type] > 0) & room
    for barred in (instance.forbidden, pairs):
        able[tuple(barred.T)] = False
    for group in instance.groups:
        if group.max_per_task is not None:
            members = np.array(group.members)
            labels = np.bincount(pairs[np.isin(pairs[:, 1], members), 0], minlength=n)
            able[np.ix_(np.flatnonzero(labels >= group.max_per_task), members)] = False
    able[np.bincount(pairs[:, 0], minlength=n) >= instance.max_labels] = False
    closed: Bools = ~np.any(able, axis=1)
    return closed
