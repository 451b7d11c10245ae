"""Groups and own rows as tables of a campaign: groups.csv, rows.csv."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import coded
from crowdopt.crowd.groups import Group, OwnRows
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError, meant, tell
from crowdopt.io.campaign.campaign_tables import Ids, optional_table
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.label_table import pair_ids
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES

MOST = 20_000_000  # entries of all rows together, once empty cells stand for all workers


FAMILY = {"dependent": True}  # what holds of a family unless campaign.toml says otherwise


def with_families(workers: Table, settings: dict[str, Any]) -> dict[str, Any]:
    """The limits of groups with those of the families that a column of workers.csv names."""
    names = {name for name in _families(workers) if name}
    stated = settings.get("groups", {})
    return stated | {name: FAMILY | stated.get(name, {}) for name in sorted(names)}


def _families(workers: Table) -> list[str]:
    return workers["family"] if "family" in workers else []  # noqa: SIM401 a table is no dict


def read_groups(folder: Path, workers: Table, ids: Ids, settings: dict[str, Any]) -> list[Group]:
    """The groups of groups.csv, and families of workers.csv, with the limits of campaign.toml."""
    table, limits = optional_table(folder, "groups"), settings.get("groups", {})
    members: dict[str, list[int]] = {}
    for worker, family in enumerate(_families(workers)):
        members.setdefault(family, []).append(worker)
    families = {name for name in members if name}
    members.pop("", None)
    if table is not None:
        for row, (worker, group) in enumerate(zip(ids.workers_of(table).tolist(), table.ids("group"), strict=True)):
            if group in families:
                raise table.error(
                    row, "group", f"{group!r} is a family of {workers.path.name} too; name one of them anew"
                )
            if worker in members.setdefault(group, []):
                raise table.error(row, "group", f"the worker is in {group!r} already; give each membership one row")
            members[group].append(worker)
    strange = next((name for name in limits if name not in members), None)
    if strange is not None:
        near = meant(strange, members)
        hint = f"did you mean {near!r}? " if near else ""
        raise InputError(
            f"campaign.toml: no worker is in the group {strange!r}; {hint}groups.csv (worker,group) says who"
        )
    idle = [repr(name) for name in members if not limits.get(name)]
    if idle and table is not None:
        what = f"{', '.join(idle[:5])}{' and more' if len(idle) > 5 else ''}: campaign.toml sets no limit for them"
        tell(f"{table.path.name}: nothing depends on the group(s) {what}, such as [groups.NAME] max_per_task = 1")
    return [Group(name, tuple(those), **limits.get(name, {})) for name, those in members.items()]


def read_own(folder: Path, ids: Ids) -> OwnRows | None:
    """The rows of rows.csv; None where there is none."""
    table = optional_table(folder, "rows")
    return None if table is None else _rows(table, ids)


def read_rows(path: TableLike, instance: AssignmentInstance) -> OwnRows:
    """Rows of a table row,task,worker,coefficient[,lower][,upper].

    An empty task or worker stands for all of them. Sides are stated in any line of a row; where several lines state one
    they must agree; a row needs a side.
    """
    ids = Ids(
        instance.task_ids,
        instance.worker_ids,
        [],
    )
    return _rows(read_table(path, CAMPAIGN_TABLES["rows"]), ids)


def _rows(table: Table, ids: Ids) -> OwnRows:
    names = list(dict.fromkeys(table.ids("row")))
    row = coded(table["row"], names)
    everything = {"task": {**ids.task, "": -1}, "worker": {**ids.worker, "": -1}}
    task = table.places("task", everything["task"], "add it to the tasks table or drop the row")
    worker = table.places("worker", everything["worker"], "add it to the workers table or drop the row")
    value = table.numbers("coefficient")
    sides = [_sides(table, name, row, len(names), end) for name, end in (("lower", -np.inf), ("upper", np.inf))]
    open_ended = np.flatnonzero(np.isinf(sides[0]) & np.isinf(sides[1]))
    if open_ended.size:
        raise table.error(
            int(np.flatnonzero(row == open_ended[0])[0]), "row", "has no side; give it a lower or an upper"
        )
    n, m = len(ids.tasks), len(ids.workers)
    counts = np.where(task < 0, n, 1) * np.where(worker < 0, m, 1)
    if counts.sum() > MOST:
        raise InputError(f"{table.path.name} comes to {counts.sum()} entries, more than {MOST}; name fewer pairs")
    # entries of a line: all tasks where it names none, and for each of them all workers where it names none
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    step = np.repeat(np.where(worker < 0, m, 1), counts)
    named = np.repeat(task, counts), np.repeat(worker, counts)
    flat = np.column_stack(
        [np.where(named[0] < 0, place // step, named[0]), np.where(named[1] < 0, place % step, named[1])]
    )
    return OwnRows(tuple(names), np.repeat(row, counts), flat, np.repeat(value, counts), *sides)


def _sides(table: Table, name: str, row: Any, count: int, absent: float) -> Any:
    sides = np.full(count, absent)
    if name not in table:
        return sides
    stated = table.numbers(name, empty=absent)
    for line in np.flatnonzero(np.isfinite(stated)).tolist():
        if np.isfinite(sides[row[line]]) and sides[row[line]] != stated[line]:
            raise table.error(line, name, f"says {stated[line]:g}, but an earlier line of the row {sides[row[line]]:g}")
        sides[row[line]] = stated[line]
    return sides


def write_groups(instance: AssignmentInstance, folder: Path) -> None:
    """groups.csv of an instance, where it has any."""
    pairs = [(instance.worker_id(j), group.name) for group in instance.groups for j in group.members]
    if pairs:
        write_csv(folder / "groups.csv", ["worker", "group"], zip(*pairs, strict=True))


def write_rows(instance: AssignmentInstance, folder: Path) -> None:
    """rows.csv of an instance, where it has any; its sides stand in the first line of each row."""
    rows = instance.own_rows
    if rows is None:
        return
    first = np.zeros(rows.row.size, bool)
    first[np.unique(rows.row, return_index=True)[1]] = True
    if len(set(rows.row.tolist())) < len(rows.names):
        raise InputError("an own row without entries cannot be written as a table; drop it")
    columns: list[Any] = [
        [rows.names[k] for k in rows.row.tolist()],
        *pair_ids(instance, rows.pairs),
        rows.coefficient,
        *(
            [
                repr(float(side[k])) if there and np.isfinite(side[k]) else ""
                for k, there in zip(rows.row, first, strict=True)
            ]
            for side in (rows.lower, rows.upper)
        ),
    ]
    write_csv(folder / "rows.csv", ["row", "task", "worker", "coefficient", "lower", "upper"], columns)
