"""Groups, shares and own rows, counted anew pair by pair."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance

JointBreak = tuple[str, str, float, "int | None"]  # which limit, whose, by how much, and the task that lacks


def joint_breaks(instance: AssignmentInstance, pairs: Ints, shares: Floats, tolerance: float) -> list[JointBreak]:
    """Every joint limit that the pairs exceed by more than the tolerance: which, whose, and by how much.

    shares (k,): share of each; -> list of (str, str, float, int or None): the last is the task that has less than it
    asks for.
    """
    found: list[JointBreak] = []
    every = np.concatenate([pairs, instance.collected])
    weight = np.concatenate([shares, np.ones(len(instance.collected))])
    total, n = float(weight.sum()), instance.n_tasks
    for group in instance.groups:
        inside = np.zeros(instance.n_workers, bool)
        inside[list(group.members)] = True
        mine = inside[every[:, 1]]
        each = np.bincount(every[mine, 0], weight[mine], n)
        lacks = group.min_per_task - each
        for task in np.flatnonzero(lacks > tolerance).tolist():
            owner = f"task {instance.task_id(task)}"
            found.append((f"lacks labels of group {group.name}", owner, float(lacks[task]), task))
        if group.max_per_task is not None:  # labels already in cannot be taken back
            had = np.bincount(instance.collected[inside[instance.collected[:, 1]], 0], minlength=n)
            over = each - np.maximum(group.max_per_task, had)
            for task in np.flatnonzero(over > tolerance).tolist():
                owner = f"task {instance.task_id(task)}"
                found.append((f"has more labels of group {group.name} than it may", owner, float(over[task]), None))
        part, owner = float(weight[mine].sum()), f"group {group.name}"
        found.append(("has more than its share", owner, part - group.max_share * total, None))
        found.append(("has less than its share", owner, group.min_share * total - part, None))
    return [one for one in found + _own_breaks(instance, pairs, shares) if one[2] > tolerance]


def _own_breaks(instance: AssignmentInstance, pairs: Ints, shares: Floats) -> list[JointBreak]:
    rows = instance.own_rows
    if rows is None:
        return []
    amount = {(i, j): share for (i, j), share in zip(pairs.tolist(), shares.tolist(), strict=True)}
    sums, size = [0.0] * len(rows.names), [1.0] * len(rows.names)
    for row, (i, j), value in zip(rows.row.tolist(), rows.pairs.tolist(), rows.coefficient.tolist(), strict=True):
        term = value * amount.get((i, j), 0.0)  # a large number of a pair that the plan does not have excuses nothing
        sums[row] += term
        size[row] = max(size[row], abs(term))
    found: list[JointBreak] = []
    for row, name in enumerate(rows.names):
        for what, side, sign in (("is too small", rows.lower[row], -1), ("is too large", rows.upper[row], 1)):
            if np.isfinite(side):
                amount_over = sign * (sums[row] - side) / max(size[row], abs(side))
                found.append((what, f"row {name}", float(amount_over), None))
    return found
