"""Limits of groups and own rows, loosened by as little as a plan of whole labels takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.explain.joint_shortage import BlockedLimit, joint_shortage
from crowdopt.assign.explain.questions import Probe
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.group_limits import has_joint_limits
from crowdopt.crowd.groups import Group
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.vote_errors import relaxation
from crowdopt.errors import InputError

STEPS = ((0, 1.0), (0, 1.1), (1, 1.3), (2, 1.7), (3, 2.5))  # labels more than, and times, what shares of labels take
NEAR = 1e-6  # labels; a share of a label that is solver noise
GRID = 1e-4  # of shares, so that what is printed can be typed

Loosened = tuple[str, float, AssignmentInstance, Ints]  # in words, how many limits, the instance and a plan for it


def loosened_limits(instance: AssignmentInstance, probe: Probe) -> Loosened | None:
    """The joint limits that are in the way, loosened together; else one group's limits dropped.

    -> (str, float, AssignmentInstance, (k, 2) array) or None: None where there are no such limits, or no plan was
    found.
    """
    if not has_joint_limits(instance):
        return None
    free = relaxation(instance)
    lack = joint_shortage(free, classes_of(free, joint=True), probe)
    if lack is None or lack.blocked is None:
        return None
    tries = _loosened(instance, lack.blocked) if lack.blocked else _without_one(instance)
    for after in tries:
        pairs = None if probe.clock.over else probe.find(after)
        if pairs is not None:
            used = _used(instance, after, pairs)
            changes = _changes(instance, used)
            return ("loosen " + "; ".join(changes), float(len(changes)), used, pairs) if changes else None
    return None


def _loosened(instance: AssignmentInstance, blocked: list[BlockedLimit]) -> Iterator[AssignmentInstance]:
    for number, factor in STEPS:
        groups = tuple(_wider(group, blocked, number, factor) for group in instance.groups)
        rows = instance.own_rows
        if rows is not None:
            amount = {limit: np.zeros(len(rows.names)) for limit in ("lower", "upper")}
            for one in blocked:
                if one.limit in amount:
                    amount[one.limit][list(rows.names).index(one.name)] = np.ceil(one.amount * factor - NEAR)
            rows = replace(rows, lower=rows.lower - amount["lower"], upper=rows.upper + amount["upper"])
        try:
            yield replace(instance, groups=groups, own_rows=rows)
        except InputError:  # the rule promises nothing where so many of a family label one task
            return


def _wider(group: Group, blocked: list[BlockedLimit], number: int, factor: float) -> Group:
    for one in blocked:
        if one.name == group.name:
            labels = int(np.ceil(one.each * factor - NEAR)) + number
            if one.limit == "max_per_task":
                group = replace(group, max_per_task=min(len(group.members), (group.max_per_task or 0) + labels))
            elif one.limit == "min_per_task":
                group = replace(group, min_per_task=max(0, group.min_per_task - labels))
            elif one.limit == "max_share" and one.share is not None:
                wider = one.share + (factor - 1) * (one.share - group.max_share)
                group = replace(group, max_share=min(1.0, float(np.ceil(wider / GRID) * GRID)))
            elif one.limit == "min_share" and one.share is not None:
                wider = one.share - (factor - 1) * (group.min_share - one.share)
                group = replace(group, min_share=max(0.0, float(np.floor(wider / GRID) * GRID)))
    return group


def _without_one(instance: AssignmentInstance) -> Iterator[AssignmentInstance]:
    """Shares of labels would do: without the limits of one group whole labels may do too."""
    for k, group in enumerate(instance.groups):
        if group.has_limits:
            most = len(group.members) if group.dependent else None
            free = replace(group, min_per_task=0, max_per_task=most, min_share=0.0, max_share=1.0)
            try:
                yield replace(instance, groups=(*instance.groups[:k], free, *instance.groups[k + 1 :]))
            except InputError:
                continue


def _used(instance: AssignmentInstance, after: AssignmentInstance, pairs: Ints) -> AssignmentInstance:
    """No limit looser than the plan needs it."""
    every = np.concatenate([instance.collected, pairs])
    groups = []
    for old, new in zip(instance.groups, after.groups, strict=True):
        mine = np.isin(every[:, 1], old.members)
        labels = np.bincount(every[mine, 0], minlength=instance.n_tasks)
        share = float(mine.mean()) if mine.size else 0.0
        if new.max_per_task != old.max_per_task and old.max_per_task is not None:
            new = replace(new, max_per_task=max(old.max_per_task, int(labels.max())))
        if new.min_per_task != old.min_per_task:
            new = replace(new, min_per_task=min(old.min_per_task, int(labels.min())))
        if new.max_share != old.max_share:
            new = replace(new, max_share=max(old.max_share, min(1.0, float(np.ceil(share / GRID) * GRID))))
        if new.min_share != old.min_share:
            new = replace(new, min_share=min(old.min_share, float(np.floor(share / GRID) * GRID)))
        groups.append(new)
    return replace(after, groups=tuple(groups))


def _changes(before: AssignmentInstance, after: AssignmentInstance) -> list[str]:
    words = []
    for old, new in zip(before.groups, after.groups, strict=True):
        for name in ("min_per_task", "max_per_task", "min_share", "max_share"):
            was, now = getattr(old, name), getattr(new, name)
            if was != now:
                words.append(f"group {old.name}: {name} = {now:.4g} in place of {was:.4g}")
    if before.own_rows is not None and after.own_rows is not None:
        for name in ("lower", "upper"):
            sides = zip(
                before.own_rows.names, getattr(before.own_rows, name), getattr(after.own_rows, name), strict=True
            )
            words += [
                f"row {row}: {name} side {now:.6g} in place of {was:.6g}" for row, was, now in sides if was != now
            ]
    return words
