"""A plan in parts: who labels what as a Parquet file for each part, and beside it the numbers that prove it.

::

    assignment/*.parquet   task, worker; a file for each part of the campaign, under its name
    workers.csv            worker,load,capacity,dual
    plan.json, run.json    what it comes to; what differs between two equal runs
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.documents import Keys, Maybe, number, one_of, read_json, whole
from crowdopt.errors import InputError
from crowdopt.io.parts.part_table import Part, arrow, write_arrow
from crowdopt.io.parts.parts_folder import PartsFolder
from crowdopt.io.plan.plan_folder import versions
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import PLAN
from crowdopt.io.tables.stored_tables import parquet_source
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import PLAN_TABLES

ASSIGNMENT = "assignment"
COUNT = whole("a whole number of at least 0", low=0)
CLAIMS = Keys(
    required={
        "form": one_of("parts"),
        "objective": number(),
        "bound": number(),
        "labels": COUNT,
        "tasks": COUNT,
        "parts": COUNT,
    },
    optional={"gap": Maybe(number())},
    open=True,
)


def write_pairs(folder: Path, part: Part, folder_of: PartsFolder, pairs: Ints) -> None:
    """Write one part's sorted pairs (k, 2) into the folder of all assignments; ``folder_of``: the workers' own."""
    pyarrow, _, _ = arrow()
    workers = pyarrow.DictionaryArray.from_arrays(pairs[:, 1].astype(np.int32), pyarrow.array(folder_of.workers))
    table = pyarrow.table({"task": part.ids.take(pyarrow.array(pairs[:, 0])), "worker": workers.cast("string")})
    write_arrow(folder / part.path.name, table)


def read_pairs_of(folder: Path, part: Part, folder_of: PartsFolder) -> Ints:
    """Task and worker of each label of one part.

    -> (k, 2).
    """
    pyarrow, compute, parquet = arrow()
    path = folder / part.path.name
    try:
        table = parquet.read_table(parquet_source(path), columns=["task", "worker"])
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{ASSIGNMENT}/{path.name} cannot be read: {said}") from None
    columns = []
    for name, known in (("task", part.ids), ("worker", pyarrow.array(folder_of.workers))):
        place = compute.fill_null(compute.index_in(table.column(name).cast("string"), value_set=known), -1)
        index = np.asarray(place.to_numpy(), dtype=np.int64)
        if (index < 0).any():
            row = int(np.flatnonzero(index < 0)[0])
            given = table.column(name)[row].as_py()
            raise InputError(f"{ASSIGNMENT}/{path.name}, row {row + 1}: {name} {given!r} is none of the campaign's")
        columns.append(index)
    return np.column_stack(columns)


def write_numbers(
    place: Path, folder: PartsFolder, load: Ints, dual: Floats, claims: dict[str, Any], facts: dict[str, Any]
) -> None:
    """Write workers.csv, plan.json and run.json beside the assignments.

    dual (workers,): multipliers of the capacities; claims, facts: of plan.json beside versions, and of run.json.
    """
    columns: list[Any] = [list(folder.workers), load, folder.capacity, dual]
    write_csv(place / "workers.csv", ["worker", "load", "capacity", "dual"], columns)
    for name, content in ((PLAN, {**claims, "versions": versions()}), ("run.json", facts)):
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (place / name).write_text(text, encoding="utf-8", newline="\n")


def read_numbers(place: Path, folder: PartsFolder) -> tuple[dict[str, Any], Table]:
    """The claims of a plan in parts, and the table of its workers: load, capacity and multiplier of each.

    -> workers: in the campaign's order.
    """
    claims: dict[str, Any] = read_json(place / PLAN, CLAIMS, "plan")
    table = read_table(place / "workers.csv", PLAN_TABLES["workers"])
    if tuple(table["worker"]) != folder.workers:
        raise InputError(f"{place / 'workers.csv'} does not have the campaign's workers in their order")
    return claims, table
