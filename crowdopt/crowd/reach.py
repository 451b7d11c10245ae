"""What tasks still ask of a plan, and whether the labels that they can still have give it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints, alike
from crowdopt.crowd.group_limits import membership, task_limits
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.subset import of_tasks
from crowdopt.crowd.vote_errors import CERTAIN, fewest_exact, most_errors
from crowdopt.kernels import for_small


def open_tasks(instance: AssignmentInstance) -> Ints:
    """The tasks that are open (:func:`is_open`); the first one where none is, as a program has a task; -> (k,)."""
    tasks = np.flatnonzero(is_open(instance))
    return tasks if tasks.size else np.zeros(1, np.int64)


def is_open(instance: AssignmentInstance) -> Bools:
    """Whether each task belongs in a program, (tasks,): it asks for labels, or some limit ties all tasks.

    Least loads, shares of all labels, own rows and a rule for the average tie all. A label of a task that is
    not open only costs money, capacity and room in its own limits; so some cheapest plan has none, and multipliers 0
    prove that.
    """
    tied = instance.own_rows is not None or instance.min_load.any() or instance.the_rule.average
    if tied or any(group.has_share_limits for group in instance.groups):
        return np.ones(instance.n_tasks, bool)
    return asks(instance)


def asks(instance: AssignmentInstance) -> Bools:
    """Whether each task asks for labels, (tasks,).

    It does if it lacks evidence, labels or labels of a group, if it has a fixed pair, or if under a checked rule its
    vote as it is errs more than its target.
    """
    lacks: Bools = (instance.floor > 0) | (instance.new_label_limits[0] > 0)
    lacks |= (task_limits(instance)[1] > 0).any(axis=0)
    lacks[instance.fixed[:, 0]] = True
    if instance.the_rule.checked and not instance.the_rule.average and not lacks.all():
        lacks |= most_errors(instance, np.zeros((0, 2), np.int64)) > instance.epsilon + CERTAIN
    return lacks


def is_exhausted(instance: AssignmentInstance) -> Bools:
    """Which tasks, (tasks,), can have no more labels, or only such as say nothing."""
    kind, row, able = _workers_left(instance)
    informed = able & (instance.evidence[row] > 0)
    return (_sums(instance, kind, informed) <= 0) | (instance.new_label_limits[1] <= 0)


def out_of_reach(instance: AssignmentInstance) -> Bools:
    """Which tasks, (tasks,), cannot be served even if all workers' time is theirs alone.

    All evidence that a task can have is less than its need; or, under a checked rule, the exact error of every vote
    that it can have is above its target; or there are fewer workers than labels that it must have.
    """
    if instance.the_rule.average:
        return np.zeros(instance.n_tasks, bool)
    (kind, row, able), (fewest, most) = _workers_left(instance), instance.new_label_limits
    worth = instance.evidence[row]
    worth[~able] = 0.0
    evidence, few = _sums(instance, kind, worth), np.flatnonzero(most < instance.n_workers)
    if few.size:  # the best labels of the kind: at least as good as the best that the task may have
        best = np.cumsum(-np.sort(-worth, axis=1), axis=1)[kind[few], most[few] - 1]
        evidence[few] = np.minimum(evidence[few], np.where(most[few] > 0, best, 0.0))
    short: Bools = (evidence < instance.floor) | (np.minimum(_sums(instance, kind, able), most) < fewest)
    limited, wanted, _ = task_limits(instance)
    for inside, labels in zip(membership(instance)[limited], wanted, strict=True):
        short |= _sums(instance, kind, able & inside) < labels
    if instance.the_rule.checked:
        bound = instance.error_bound(instance.collected_evidence + evidence)
        doubtful = np.flatnonzero(~short & ((bound > instance.epsilon) | (most < UNLIMITED)))
        if doubtful.size:  # no vote that they can have keeps their target, by exact errors
            part = of_tasks(replace(instance, own_rows=None, groups=()), doubtful)
            with for_small(instance.n_tasks, instance.n_workers):
                short[doubtful] = fewest_exact(part) > np.minimum(part.new_label_limits[1], part.n_workers)
    return short


def _workers_left(instance: AssignmentInstance) -> tuple[Ints, Ints, Bools]:
    """The kind of each task, the type of each kind, and who has time and may still label it, (kinds, workers).

    Tasks of a kind have one type, and as many labels as they may of the same groups; pairs are not looked at.
    """
    limited, _, most = task_limits(instance)
    full = most.T == 0
    kind, first = alike(instance.task_type, full)
    able = (instance.capacity > 0) & ~(full[first] @ membership(instance)[limited])
    return kind, instance.task_type[first], able


def _sums(instance: AssignmentInstance, kind: Ints, worth: Floats | Bools) -> Floats:
    """What all labels that each task can have are worth together, pairs that are barred left out, (tasks,)."""
    task, worker = instance.barred.T
    lost = np.bincount(task, worth[kind[task], worker], instance.n_tasks)
    return np.maximum(0.0, worth.sum(axis=1)[kind] - lost)
