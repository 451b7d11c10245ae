"""A plan folder as plain values, for whoever shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.errors import InputError
from crowdopt.io.plan.stored_plan import read_claims
from crowdopt.io.plan.stored_policy import is_policy
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import PLAN_TABLES

ROWS = 2000  # tasks or workers that are listed one by one
PARTS = 10  # of a worker's capacity that are told apart where workers are not listed


def plan_overview(folder: str | Path) -> dict[str, Any]:
    """What a page of a plan shows.

    folder: a plan folder; -> ``claims``, as plan.json has them; ``tasks``, ``workers`` and ``pairs``, lists of rows,
    cut at ROWS tasks and workers; ``labels_per_task`` and ``use_of_capacity``, counts over all of them; ``busy`` and
    ``full`` workers; ``errors``, smallest, mean and largest.
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
    }


def _workers(place: Path) -> Table:
    return read_table(place / "workers.csv", PLAN_TABLES["workers"])


def _rows(table: Table, columns: tuple[str, ...], name: str) -> list[dict[str, Any]]:
    """The first rows with their numbers; a column without multipliers is left out."""
    there = [column for column in columns if column in table and "" not in table[column]]
    values = {column: table.numbers(column)[:ROWS].tolist() for column in there}
    return [{name: one, **{column: values[column][k] for column in there}} for k, one in enumerate(table[name][:ROWS])]


def _counted(labels: Floats) -> list[dict[str, Any]]:
    """How many tasks get how many labels; shares of labels are rounded up."""
    size, count = np.unique(np.ceil(labels - 1e-9), return_counts=True)
    return [{"labels": int(a), "tasks": int(b)} for a, b in zip(size, count, strict=True)]


def _used(load: Floats, capacity: Floats) -> list[dict[str, Any]]:
    """How many workers have how much of their capacity used, in tenths; whoever has none is left out."""
    able = capacity > 0
    tenth = np.minimum(PARTS - 1, np.floor(PARTS * load[able] / capacity[able]).astype(int))
    count = np.bincount(tenth, minlength=PARTS)
    return [{"from": k / PARTS, "to": (k + 1) / PARTS, "workers": int(count[k])} for k in range(PARTS)]
