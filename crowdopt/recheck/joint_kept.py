"""Groups, shares and rows of one's own, counted anew pair by pair; and what their multipliers take part in proving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.stored_plan import StoredPlan
from crowdopt.recheck.findings import Report

PER_TASK, MOST_SHARE, LEAST_SHARE, OWN = "per_task", "max_share", "min_share", "row"  # as limits.csv names them


def joint_breaks(instance: AssignmentInstance, pairs: Ints, shares: Floats) -> list[tuple[str, str, float]]:
    """Every joint limit: which, whose, and by how much the pairs exceed it (at most 0 where they keep it).

    Parameters
    ----------
    instance : AssignmentInstance
    pairs : (k, 2) int
        Task and worker of each label.
    shares : (k,) float
        Share of each.

    Returns
    -------
    list of (str, str, float)
    """
    found = []
    every = np.concatenate([pairs, instance.collected])
    weight = np.concatenate([shares, np.ones(len(instance.collected))])
    for group in instance.groups:
        inside = np.array([worker in set(group.members) for worker in range(instance.n_workers)])
        mine = inside[every[:, 1]]
        each = np.zeros(instance.n_tasks)
        np.add.at(each, every[mine, 0], weight[mine])
        had = np.bincount(instance.collected[inside[instance.collected[:, 1]], 0], minlength=instance.n_tasks)
        for task in range(instance.n_tasks):
            owner = f"task {instance.task_id(task)}"
            found.append((f"lacks labels of group {group.name}", owner, group.min_per_task - each[task]))
            if group.max_per_task is not None:  # labels already in cannot be taken back
                most = max(group.max_per_task, int(had[task]))
                found.append((f"has more labels of group {group.name} than it may", owner, each[task] - most))
        total, part = float(weight.sum()), float(weight[mine].sum())
        found.append(("has more than its share", f"group {group.name}", part - group.max_share * total))
        found.append(("has less than its share", f"group {group.name}", group.min_share * total - part))
    return found + _own_breaks(instance, pairs, shares)


def _own_breaks(instance: AssignmentInstance, pairs: Ints, shares: Floats) -> list[tuple[str, str, float]]:
    rows = instance.own_rows
    if rows is None:
        return []
    amount = {(i, j): share for (i, j), share in zip(pairs.tolist(), shares.tolist(), strict=True)}
    sums, size = [0.0] * len(rows.names), [1.0] * len(rows.names)
    for row, (i, j), value in zip(rows.row.tolist(), rows.pairs.tolist(), rows.coefficient.tolist(), strict=True):
        sums[row] += value * amount.get((i, j), 0.0)
        size[row] = max(size[row], abs(value))
    found = []
    for row, name in enumerate(rows.names):
        for what, side, sign in (("is too small", rows.lower[row], -1), ("is too large", rows.upper[row], 1)):
            if np.isfinite(side):
                amount_over = sign * (sums[row] - side) / max(size[row], abs(side))
                found.append((what, f"row {name}", float(amount_over)))
    return found


@dataclass(frozen=True, eq=False)
class JointPull:
    """What multipliers of joint rows bring to a bound: ``terms`` by themselves, ``pull`` (n, m) off each pair's cost.

    ``size`` (n, m) bounds what was added up for each pair, so that rounding can be taken off.
    """

    terms: Floats
    pull: Floats
    size: Floats


def joint_pull(instance: AssignmentInstance, stored: StoredPlan, report: Report) -> JointPull | None:
    """The multipliers in limits.csv, evaluated row by row; None where there are none."""
    table = stored.limits
    if table is None:
        return None
    n, m = instance.n_tasks, instance.n_workers
    group = {one.name: one for one in instance.groups}
    task = {instance.task_id(i): i for i in range(n)}
    own = {} if instance.own_rows is None else {name: k for k, name in enumerate(instance.own_rows.names)}
    pull, size, terms = np.zeros((n, m)), np.zeros((n, m)), [0.0]
    entries = zip(table["limit"], table["name"], table["task"], table.numbers("dual").tolist(), strict=True)
    for limit, name, where, dual in entries:
        known = own if limit == OWN else group
        if name not in known or limit not in (PER_TASK, MOST_SHARE, LEAST_SHARE, OWN):
            report.complain(table.path.name, f"has a multiplier of {limit} {name}, which the campaign does not have")
            continue
        row = np.zeros((n, m))
        if limit == OWN:
            assert instance.own_rows is not None
            mine = instance.own_rows.row == own[name]
            np.add.at(row, tuple(instance.own_rows.pairs[mine].T), instance.own_rows.coefficient[mine])
            low, high = float(instance.own_rows.lower[own[name]]), float(instance.own_rows.upper[own[name]])
        else:
            inside = np.isin(np.arange(m), group[name].members)
            had = instance.collected[inside[instance.collected[:, 1]], 0]
            if limit == PER_TASK:
                if where not in task:
                    report.complain(table.path.name, f"has a multiplier of the unknown task {where!r}")
                    continue
                row[task[where]] = inside
                before, most = int((had == task[where]).sum()), group[name].max_per_task
                low = max(0, group[name].min_per_task - before)
                high = np.inf if most is None else max(0, most - before)
            else:
                share = group[name].max_share if limit == MOST_SHARE else group[name].min_share
                row[:] = inside - share
                side = share * len(instance.collected) - had.size
                low, high = (-np.inf, side) if limit == MOST_SHARE else (side, np.inf)
        held = low if dual > 0 else high
        if not np.isfinite(held):
            continue  # it pulls on a side that is not there
        terms.append(dual * held)
        pull += dual * row
        size += np.abs(dual * row)
    return JointPull(np.array(terms), pull, size * (4 + table.rows))
