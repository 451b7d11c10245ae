"""Evidence of the labels that a task can still have: of workers not barred, not busy, not of a full group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.group_limits import task_limits
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.subset import of_tasks
from crowdopt.crowd.vote_errors import fewest_exact
from crowdopt.plain_kernels import for_small


def out_of_reach(instance: AssignmentInstance) -> Bools:
    """Which tasks, (tasks,), cannot be served even if all workers' time is theirs alone.

    All evidence that a task can have is less than its need; or, under a checked rule, the exact error of every vote
    that it can have is above its target; or there are fewer workers than labels that it must have.
    """
    if instance.the_rule.average:
        return np.zeros(instance.n_tasks, bool)
    evidence, count = _most(instance)
    fewest, most = instance.new_label_limits
    short: Bools = (evidence < instance.floor) | (np.minimum(count, most) < fewest)
    for g, wanted in zip(*task_limits(instance)[:2], strict=True):
        members = np.isin(np.arange(instance.n_workers), instance.groups[g].members)
        short |= _open(instance, np.broadcast_to(members, instance.accuracy.shape)).astype(np.int64) < wanted
    if instance.the_rule.checked:
        bound = instance.error_bound(instance.collected_evidence + evidence)
        doubtful = np.flatnonzero(~short & ((bound > instance.epsilon) | (most < UNLIMITED)))
        with for_small(instance.n_tasks, instance.n_workers):
            short[doubtful] = _errs_beyond(instance, doubtful)
    return short


def _most(instance: AssignmentInstance) -> tuple[Floats, Floats]:
    """The most evidence, and the most labels, that each task can have of workers with time, (tasks,)."""
    most = instance.new_label_limits[1]
    evidence = _open(instance, instance.evidence)
    limited = np.flatnonzero(most < instance.n_workers)
    if limited.size:  # the best labels of the type: at least as good as the best that the task may have
        open_evidence = np.where(instance.capacity > 0, instance.evidence, 0.0)
        best = np.cumsum(-np.sort(-open_evidence, axis=1), axis=1)
        best = np.concatenate([np.zeros((instance.n_types, 1)), best], axis=1)
        evidence[limited] = np.minimum(evidence[limited], best[instance.task_type[limited], most[limited]])
    return evidence, _open(instance, np.ones(instance.accuracy.shape))


def _open(instance: AssignmentInstance, worth: Floats | Bools) -> Floats:
    """Sum of what the labels of workers with time are worth to each task, pairs that are barred left out, (tasks,)."""
    table = np.where(instance.capacity > 0, worth, 0.0)
    total: Floats = table.sum(axis=1)[instance.task_type]
    barred = instance.barred
    lost = table[instance.task_type[barred[:, 0]], barred[:, 1]]
    return np.maximum(0.0, total - np.bincount(barred[:, 0], weights=lost, minlength=instance.n_tasks))


def _errs_beyond(instance: AssignmentInstance, tasks: Ints) -> Bools:
    """Whether no vote that each of these tasks can have keeps its target, by exact errors."""
    if not tasks.size:
        return np.zeros(0, bool)
    free = replace(
        instance, own_rows=None, groups=tuple(replace(one, min_share=0.0, max_share=1.0) for one in instance.groups)
    )
    part = of_tasks(free, tasks)
    return fewest_exact(part) > np.minimum(part.new_label_limits[1], part.n_workers)


def evidence_left(instance: AssignmentInstance) -> Floats:
    """An upper bound on the evidence that each task can still get, (tasks,): all labels it can have, other tasks aside.

    instance: with the labels that are in, and the capacities that are left; -> (tasks,): 0 for a task that can have no
    more labels, or only such as say nothing.
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
    return worth.sum(axis=1)
