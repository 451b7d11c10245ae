"""Groups and own rows as plain JSON: in plan.json, in place of a campaign's, and in archives."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.crowd.groups import Group, OwnRows
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import COUNT, FLAG, NUMBER, TEXT, Each, Keys, Maybe, Shape, Value, is_number
from crowdopt.errors import InputError

ENTRY = Value(
    "a task, a worker and a number",
    lambda value: (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[0], str)
        and isinstance(value[1], str)
        and is_number(value[2])
    ),
)
LIMITS: dict[str, Shape] = {
    "min_per_task": COUNT,
    "max_per_task": Maybe(COUNT),
    "min_share": NUMBER,
    "max_share": NUMBER,
    "dependent": FLAG,
}
GROUPS = Each(
    Keys(
        required={"workers": Each(TEXT)},
        optional=LIMITS,
    ),
    dict,
)
ROWS = Each(Keys(required={"entries": Each(ENTRY)}, optional={"lower": Maybe(NUMBER), "upper": Maybe(NUMBER)}), dict)


def written_groups(instance: AssignmentInstance) -> Any:
    """Groups by name: workers' ids and limits."""
    return {
        group.name: {
            "workers": [instance.worker_id(j) for j in group.members],
            **{key: getattr(group, key) for key in LIMITS},
        }
        for group in instance.groups
    }


def recorded_groups(instance: AssignmentInstance, value: Any) -> list[Group]:
    """The groups that were written, with the instance's workers."""
    worker = instance.worker_places
    found = []
    for name, said in value.items():
        limits = {key: limit for key, limit in said.items() if key != "workers"}
        members = tuple(_known(worker, one, "worker") for one in said["workers"])
        found.append(Group(name, members, **limits))
    return found


def written_rows(instance: AssignmentInstance) -> Any:
    """Own rows by name: entries by ids, and finite sides."""
    rows = instance.own_rows
    if rows is None:
        return {}
    found: dict[str, Any] = {}
    for k, name in enumerate(rows.names):
        sides = {"lower": float(rows.lower[k]), "upper": float(rows.upper[k])}
        found[name] = {"entries": [], **{end: side if np.isfinite(side) else None for end, side in sides.items()}}
    for k, (i, j), value in zip(rows.row.tolist(), rows.pairs.tolist(), rows.coefficient.tolist(), strict=True):
        found[rows.names[k]]["entries"].append([instance.task_id(i), instance.worker_id(j), value])
    return found


def recorded_rows(instance: AssignmentInstance, value: Any) -> OwnRows | None:
    """The rows that were written, with the instance's tasks and workers."""
    if not value:
        return None
    task = instance.task_places
    worker = instance.worker_places
    row, pairs, coefficient = [], [], []
    for k, said in enumerate(value.values()):
        for one, other, number in said["entries"]:
            row.append(k)
            pairs.append((_known(task, one, "task"), _known(worker, other, "worker")))
            coefficient.append(float(number))
    sides = [
        np.array([absent if said.get(end) is None else float(said[end]) for said in value.values()])
        for end, absent in (("lower", -np.inf), ("upper", np.inf))
    ]
    flat = np.array(pairs, np.int64).reshape(-1, 2)
    return OwnRows(tuple(value), np.array(row, np.int64), flat, np.array(coefficient), *sides)


def _known(place: dict[str, int], name: str, what: str) -> int:
    if name not in place:
        raise InputError(f"groups or rows in place of the campaign's name the unknown {what} {name[:60]!r}")
    return place[name]
