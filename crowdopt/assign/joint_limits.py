"""Limits that tie pairs together beyond tasks and workers: groups, shares of all labels, own rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.group_limits import labels_had, membership, task_limits
from crowdopt.crowd.groups import UNBOUNDED
from crowdopt.crowd.instance import AssignmentInstance

JointExcess = tuple[str, Floats, Callable[[int], str]]  # limit, by how much each is broken, whose each is


def joint_excess(
    instance: AssignmentInstance, pairs: Ints, shares: Floats, excused: Bools | None = None
) -> list[JointExcess]:
    """By how much pairs break the limits of groups and the own rows; at most 0 where they do not.

    An own row's excess is in units of its largest number, where that is above 1: sums of large numbers are no sharper.

    shares (k,): share of each label, 1 for whole ones; excused (tasks,): may have fewer labels of a group than it asks
    for; -> list of (str, (k,) array, callable): which limit, by how much each of its owners breaks it, and an
    owner's name.
    """
    own = [*_of_shares(instance, pairs, shares), *_own(instance, pairs, shares)]
    return [*_of_tasks(instance, pairs, shares, excused), *own]


def _of_tasks(instance: AssignmentInstance, pairs: Ints, shares: Floats, excused: Bools | None) -> list[JointExcess]:
    found: list[JointExcess] = []
    limited, fewest, most = task_limits(instance)
    for k, g in enumerate(limited):
        mine = np.isin(pairs[:, 1], instance.groups[g].members)
        labels = np.bincount(pairs[mine, 0], shares[mine], instance.n_tasks)
        name = instance.groups[g].name
        few = fewest[k] - labels
        few = few if excused is None else np.where(excused, 0.0, few)
        found.append((f"has too few labels of group {name}", few, _task(instance)))
        over = np.where(most[k] == UNBOUNDED, -1.0, labels - most[k])
        found.append((f"has too many labels of group {name}", over, _task(instance)))
    return found


def _task(instance: AssignmentInstance) -> Callable[[int], str]:
    return lambda task: f"task {instance.task_id(task)}"


def _of_shares(instance: AssignmentInstance, pairs: Ints, shares: Floats) -> list[JointExcess]:
    if not any(group.has_share_limits for group in instance.groups):
        return []
    member = membership(instance)
    all_labels = float(shares.sum()) + len(instance.collected)
    found: list[JointExcess] = []
    for g, group in enumerate(instance.groups):
        mine = float(shares[member[g, pairs[:, 1]]].sum()) + float(labels_had(instance, g).sum())
        over, under = mine - group.max_share * all_labels, group.min_share * all_labels - mine
        found.append(("has more than its share of all labels", np.array([over]), _named(f"group {group.name}")))
        found.append(("has less than its share of all labels", np.array([under]), _named(f"group {group.name}")))
    return found


def _named(name: str) -> Callable[[int], str]:
    return lambda _: name


def _own(instance: AssignmentInstance, pairs: Ints, shares: Floats) -> list[JointExcess]:
    rows = instance.own_rows
    if rows is None:
        return []
    amount = np.zeros((instance.n_tasks, instance.n_workers))
    amount[pairs[:, 0], pairs[:, 1]] = shares
    terms = rows.coefficient * amount[rows.pairs[:, 0], rows.pairs[:, 1]]
    sums, scale = np.bincount(rows.row, terms, len(rows.names)), np.ones(len(rows.names))
    np.maximum.at(scale, rows.row, np.abs(terms))  # what takes part: a large number of a pair that is not there is none

    def against(side: Floats) -> Floats:
        return np.maximum(scale, np.where(np.isfinite(side), np.abs(side), 0.0))

    def owner(row: int) -> str:
        return f"row {rows.names[row]}"

    return [
        ("is below its lower side", (rows.lower - sums) / against(rows.lower), owner),
        ("is above its upper side", (sums - rows.upper) / against(rows.upper), owner),
    ]
