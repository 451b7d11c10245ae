"""Workers and tasks told alike: an instance without limits that tell single ones apart but hardly bind.

Barred pairs, small groups with a most per task and own rows make every worker a class, and pairs make every
task a row of its own; so do capacities that differ. Without them the instance is a relaxation: what its
plans cost at least, all plans do. Its plans keep these limits too once workers of a class, or the sets of tasks of a
class, have changed places (crowdopt.assign.engine.seating).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.assign.plan import Duals
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.group_limits import has_joint_limits, task_limits
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import AssignmentInstance

FEW = 400  # tasks told apart up to which each is a row of its own
MANY = 100  # classes of workers from which on it is worth while
PART = 0.1  # of the workers that a small group has at most
ENTRIES = 20_000_000  # of own rows, written out


def loosened(instance: AssignmentInstance) -> AssignmentInstance | None:
    """The instance without such limits; None where that brings little."""
    if len(instance.fixed) or _is_wide(instance):
        return None
    workers = _with_workers_alike(instance)
    return _with_tasks_alike(instance) if workers is None else workers


def _with_tasks_alike(instance: AssignmentInstance) -> AssignmentInstance | None:
    """Without the pairs and own rows that make many tasks rows by themselves.

    Without joint limits other methods look at single tasks, and lose nothing where most needs differ.
    """
    own = instance.own_rows
    told = instance.barred[:, 0] if own is None else np.concatenate([instance.barred[:, 0], own.pairs[:, 0]])
    if np.unique(told).size <= FEW:
        return None
    loose = may_repeat(replace(instance, forbidden=np.zeros((0, 2), np.int64), own_rows=None))
    if not has_joint_limits(instance) and classes_of(loose, joint=True).tasks_in.size > FEW:
        return None
    return loose


def _is_wide(instance: AssignmentInstance) -> bool:
    own = instance.own_rows
    return own is not None and len(own.names) * instance.n_tasks * instance.n_workers > ENTRIES


def _with_workers_alike(instance: AssignmentInstance) -> AssignmentInstance | None:
    own = instance.own_rows
    small = [_is_small(group, instance.n_workers) for group in instance.groups]
    told = [instance.barred[:, 1], *([] if own is None else [own.pairs[:, 1]])]
    told += [np.array(group.members, np.int64) for group, gone in zip(instance.groups, small, strict=True) if gone]
    apart = np.unique(np.concatenate(told)).size
    # where several of a family may label a task the need is that of the largest number: one such family stays
    deepest = max((_allowed(group) for group in instance.groups), default=1)
    if deepest > 1:
        small[next(k for k, group in enumerate(instance.groups) if _allowed(group) == deepest)] = False
    groups = tuple(group for group, gone in zip(instance.groups, small, strict=True) if not gone)
    nothing = np.zeros((0, 2), np.int64)
    loose = may_repeat(replace(instance, groups=groups, forbidden=nothing, own_rows=None))
    if (loose.dependence != instance.dependence).any():
        return None
    plain = instance.n_workers if apart >= MANY else classes_of(instance, joint=True).workers_in.size
    worth_it = plain >= MANY and 2 * classes_of(loose, joint=True, pooled=True).workers_in.size <= plain
    return loose if worth_it else None


def may_repeat(instance: AssignmentInstance) -> AssignmentInstance:
    """An instance of its own, in which a worker whose label is in may give the task one more: any of a class may."""
    loose = replace(instance)
    vars(loose)["barred"] = loose.forbidden
    return loose


def _is_small(group: Group, workers: int) -> bool:
    return group.min_per_task == 0 and not group.has_share_limits and len(group.members) <= PART * workers


def _allowed(group: Group) -> int:
    return min(group.max_per_task or 1, len(group.members)) if group.dependent else 1


def of_all(instance: AssignmentInstance, loose: AssignmentInstance, duals: Duals) -> Duals:
    """Multipliers of the loosened instance as those of the instance: 0 for the limits that it is without."""
    joint = dict(duals.joint)
    if "group" in joint:
        kept = {loose.groups[g].name: row for g, row in zip(task_limits(loose)[0], joint["group"], strict=True)}
        names = [instance.groups[g].name for g in task_limits(instance)[0]]
        joint["group"] = np.array([kept.get(name, np.zeros(instance.n_tasks)) for name in names])
    if instance.own_rows is not None and loose.own_rows is None:
        joint["own"] = np.zeros(len(instance.own_rows.names))
    return replace(duals, joint=joint)
