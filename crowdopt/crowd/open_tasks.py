"""Tasks that still ask something of a plan; the others are in no program, and buying nothing for them is optimal."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.crowd.group_limits import task_limits
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import CERTAIN, most_errors

NO_PAIRS = np.zeros((0, 2), np.int64)


def is_open(instance: AssignmentInstance) -> Bools:
    """Whether each task belongs in a program, (tasks,): it asks for labels, or some limit ties all tasks.

    Least loads, shares of all labels, own rows and a rule for the average tie all. A label of a task that is
    not open only costs money, capacity and room in its own limits; so some cheapest plan has none, and multipliers 0
    prove that.
    """
    return np.ones(instance.n_tasks, bool) if _ties_all(instance) else asks(instance)


def asks(instance: AssignmentInstance) -> Bools:
    """Whether each task asks for labels, (tasks,).

    It does if it lacks evidence, labels or labels of a group, if it has a fixed pair, or if under a checked rule its
    vote as it is errs more than its target.
    """
    lacks: Bools = (instance.floor > 0) | (instance.new_label_limits[0] > 0)
    lacks |= (task_limits(instance)[1] > 0).any(axis=0)
    lacks[instance.fixed[:, 0]] = True
    if instance.the_rule.checked and not instance.the_rule.average and not lacks.all():
        error = most_errors(instance, NO_PAIRS)
        lacks |= error > instance.epsilon + CERTAIN
    return lacks


def open_tasks(instance: AssignmentInstance) -> Ints:
    """The tasks that are open (:func:`is_open`); the first one where none is, as a program has a task; -> (k,)."""
    tasks = np.flatnonzero(is_open(instance))
    return tasks if tasks.size else np.zeros(1, np.int64)


def _ties_all(instance: AssignmentInstance) -> bool:
    """Whether a label of any task may serve something beside that task."""
    shares = any(group.has_share_limits for group in instance.groups)
    tied = instance.own_rows is not None or instance.min_load.any() or instance.the_rule.average
    return bool(shares or tied)
