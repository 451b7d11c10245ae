"""A plan folder as plain values, for its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, places
from crowdopt.errors import InputError
from crowdopt.io.plan.stored_plan import read_claims
from crowdopt.io.plan.stored_policy import is_policy
from crowdopt.io.tables.table_columns import Table, has_column, read_table
from crowdopt.io.tables.table_kinds import PLAN_TABLES

ROWS = 100  # tasks or workers that are listed one by one
STORIES = 195_000  # bytes of a page for stories of tasks and workers; a page has 300 kB
POINTS = 100  # of the curve of errors
DIGITS = 4  # of numbers in stories
PARTS = 10  # of a worker's capacity that are told apart where workers are not listed


def plan_overview(folder: str | Path) -> dict[str, Any]:
    """What a page of a plan shows.

    folder: a plan folder; -> ``claims``, as plan.json has them; ``tasks``, ``workers`` and ``pairs``, lists of rows,
    cut at ROWS tasks and workers; ``labels_per_task`` and ``use_of_capacity``, counts over all of them; ``busy`` and
    ``full`` workers; ``errors``, smallest, mean and largest; ``curve``, tasks at POINTS places of their order by error;
    ``stories``, of every task and worker, None where that is too much for a page.
    """
    place = Path(folder)
    claims = read_claims(place)
    if is_policy(claims):
        raise InputError(
            f"{place} is an adaptive plan, which has no page; policy.csv has it all, and explain what it costs"
        )
    tasks, workers = read_table(place / "tasks.csv", PLAN_TABLES["tasks"]), _workers(place)
    given = read_table(place / "assignment.csv", PLAN_TABLES["assignment"])
    shown = set(tasks["task"][:ROWS])
    pairs = [pair for pair in zip(given["task"], given["worker"], strict=True) if pair[0] in shown]
    load, capacity = workers.numbers("load"), workers.numbers("capacity")
    error = tasks.numbers("exact_error" if "exact_error" in tasks else "error_bound")
    return {
        "claims": claims,
        "tasks": _rows(tasks, ("labels", "error_bound", "exact_error", "evidence", "need"), "task"),
        "workers": _rows(workers, ("load", "capacity", "dual"), "worker"),
        "pairs": [{"task": task, "worker": worker} for task, worker in pairs],
        "labels_per_task": _counted(tasks.numbers("labels")),
        "use_of_capacity": _used(load, capacity),
        "busy": int((load > 0).sum()),
        "full": int(((load > 0) & (load >= capacity - 1e-9)).sum()),
        "errors": {"least": float(error.min()), "mean": float(error.mean()), "most": float(error.max())},
        "curve": _curve(tasks["task"], error),
        "stories": _stories(tasks, workers, given, _weights(place)),
    }


def _curve(names: list[str], error: Floats) -> list[dict[str, Any]]:
    """Tasks in ascending order of error: all of them, or the first, the last and POINTS - 2 between."""
    order = np.argsort(error, kind="stable")
    places = np.unique(np.linspace(0, len(order) - 1, min(POINTS, len(order))).round().astype(int)).tolist()
    return [{"place": k + 1, "task": names[order[k]], "error": float(error[order[k]])} for k in places]


def _weights(place: Path) -> dict[str, float]:
    """Worker -> weight of their vote, of those whose votes weigh alike in every type; none by class."""
    path = place / "weights.csv"
    if not path.exists() or has_column(path, "class"):
        return {}
    table = read_table(path, PLAN_TABLES["weights"])
    known: dict[str, set[float]] = {}
    for worker, weight in zip(table["worker"], table.numbers("weight").tolist(), strict=True):
        known.setdefault(worker, set()).add(weight)
    return {worker: weights.pop() for worker, weights in known.items() if len(weights) == 1}


def _stories(tasks: Table, workers: Table, given: Table, weights: dict[str, float]) -> dict[str, Any] | None:
    """Columns of all tasks and workers, and each task's workers by their row; short numbers."""
    if 2 * given.rows > STORIES:  # the place of a worker takes two bytes at least
        return None
    place = places(workers["worker"])
    by: dict[str, list[int]] = {name: [] for name in tasks["task"]}
    for task, worker in zip(given["task"], given["worker"], strict=True):
        if task not in by:
            raise InputError(f"assignment.csv has task {task!r}, tasks.csv has not; solve again")
        if worker not in place:
            raise InputError(f"assignment.csv has worker {worker!r}, workers.csv has not; solve again")
        by[task].append(place[worker])
    columns = {
        "task": _short(tasks, ("exact_error", "error_bound", "evidence", "need")),
        "worker": _short(workers, ("load", "capacity", "dual")),
    }
    if weights:
        columns["worker"]["weight"] = [_cut(weights[name]) if name in weights else None for name in workers["worker"]]
    names = {"task": tasks["task"], "worker": workers["worker"]}
    told = {"names": names, "columns": columns, "by": list(by.values())}
    return told if len(json.dumps(told, ensure_ascii=False, separators=(",", ":"))) <= STORIES else None


def _short(table: Table, columns: tuple[str, ...]) -> dict[str, Any]:
    """Columns of short numbers; a number alone where it is the same in all rows."""
    there = [name for name in columns if name in table and "" not in table[name]]
    short = {name: [_cut(value) for value in table.numbers(name).tolist()] for name in there}
    return {name: values[0] if len(set(values)) == 1 else values for name, values in short.items()}


def _cut(value: float) -> float:
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def _workers(place: Path) -> Table:
    return read_table(place / "workers.csv", PLAN_TABLES["workers"])


def _rows(table: Table, columns: tuple[str, ...], name: str) -> list[dict[str, Any]]:
    there = [column for column in columns if column in table and "" not in table[column]]
    values = {column: table.numbers(column)[:ROWS].tolist() for column in there}
    return [{name: one, **{column: values[column][k] for column in there}} for k, one in enumerate(table[name][:ROWS])]


def _counted(labels: Floats) -> list[dict[str, Any]]:
    size, count = np.unique(np.ceil(labels - 1e-9), return_counts=True)
    return [{"labels": int(a), "tasks": int(b)} for a, b in zip(size, count, strict=True)]


def _used(load: Floats, capacity: Floats) -> list[dict[str, Any]]:
    able = capacity > 0
    tenth = np.minimum(PARTS - 1, np.floor(PARTS * load[able] / capacity[able]).astype(int))
    count = np.bincount(tenth, minlength=PARTS)
    return [{"from": k / PARTS, "to": (k + 1) / PARTS, "workers": int(count[k])} for k in range(PARTS)]
