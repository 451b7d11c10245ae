"""A comparison on disk: tables and one JSON object; timings apart, because they differ between equal runs.

Explanations as a folder of tables.

Studies of asking on disk: skills and label tables in, tables and one JSON object out.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import FLAG, TEXT, Each, Keys, Shape, read_json, write_json
from crowdopt.errors import InputError
from crowdopt.io.cells import TableLike, write_csv, write_table
from crowdopt.io.folders import check_target, new_folder
from crowdopt.io.schema import LABELERS
from crowdopt.io.tables import Table, read_labels, read_table, read_truth, read_types

COMPARISON = "comparison.json"
WORK = "work"  # finished rows and what they share; a second start goes on from there


def check_comparison(folder: Path, force: bool, mark: str = COMPARISON) -> None:
    """Refuse a folder that holds a finished comparison or something else; ``mark`` is the file that tells it."""
    if (folder / mark).exists() and not force:
        raise InputError(f"{folder} already holds a comparison; choose another name or pass --force to replace it")
    ours = folder.is_dir() and ((folder / mark).exists() or (folder / WORK).is_dir())
    if not ours:
        check_target(folder, mark, force=folder.is_dir())


def write_comparison_tables(
    folder: Path,
    facts: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    summary: Sequence[Mapping[str, Any]],
    timings: Sequence[Mapping[str, Any]],
) -> None:
    """Write trials.csv, summary.csv, timings.csv, and comparison.json last: it marks the whole.

    Equal input and seed give equal bytes, but for timings.csv.

    facts: what comparison.json says beside the summary; rows, summary, timings: lines of the tables; a key is a column.
    """
    write_lines(folder, {"trials.csv": rows, "summary.csv": summary, "timings.csv": timings})
    write_json(folder / COMPARISON, {**facts, "policies": list(summary)})


def write_lines(folder: Path, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Write lists of lines as CSV tables, one column for each key; a table without lines is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in tables.items():
        if lines:
            header = list(dict.fromkeys(key for line in lines for key in line))
            columns = [[_cell(line.get(key)) for line in lines] for key in header]
            write_table(folder / name, header, columns, force=True)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(value)
    return "" if value is None else value


EXPLANATION = "explain.json"  # the file that tells a folder of ours


def write_explanation(
    instance: AssignmentInstance,
    facts: dict[str, Any],
    tables: dict[str, dict[str, Any]],
    folder: Path,
    force: bool = False,
    pictures: Mapping[str, bytes] | None = None,
) -> None:
    """Write ``explain.json``, one CSV per table, and pictures, whole or not at all.

    Tables whose first column is ``task`` or ``worker`` are about all of them, and get the ids.

    facts: what ``explain.json`` says; tables: name -> column -> cells; ``task`` or ``worker`` without cells stands for
    all of them; pictures: file name -> content.
    """
    ids = {
        "task": instance.task_ids,
        "worker": instance.worker_ids,
    }
    with new_folder(folder, EXPLANATION, force) as new:
        for name, table in tables.items():
            columns = {ids_of: ids[ids_of] for ids_of in ids if table.get(ids_of, 0) is None}
            columns |= {column: values for column, values in table.items() if values is not None}
            write_csv(new / f"{name}.csv", list(columns), columns.values())
        for name, content in (pictures or {}).items():
            (new / name).write_bytes(content)
        write_json(new / EXPLANATION, facts)


TOLD: dict[str, Shape] = {"said": Each(TEXT), "feasible": FLAG}


def read_explanation(folder: Path) -> dict[str, Any]:
    """What was written: ``facts`` as explain.json has them, and ``tables``, their columns of cells by name."""
    tables = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        tables[path.stem] = dict(zip(header, zip(*rows, strict=True), strict=False))
    return {"facts": read_json(folder / EXPLANATION, Keys(TOLD, open=True)), "tables": tables}


LEARNING = "learning.json"


def read_skills(path: TableLike, cost: float, classes: int) -> dict[str, Any]:
    """Arrays of a skill table ``worker[,type or at],accuracy[,price]``: accuracy, cost, classes, at, names.

    A campaign's skills.csv will do.

    cost: of a label where the table has no prices.
    """
    table = read_table(path, LABELERS)
    if "type" in table and "at" in table:
        raise InputError(f"{table.path.name}: a task has a type or a context (at), not both; keep one of the columns")
    if not table.rows:
        raise InputError(f"{table.path.name} has no labeler; it needs at least one row")
    names = tuple(dict.fromkeys(table.ids("worker")))
    kind, at = _kinds(table)
    worker = table.places("worker", names, "")
    values, count = table.numbers("accuracy"), int(kind.max()) + 1
    accuracy = np.full((count, len(names)), np.nan)
    accuracy[kind, worker] = values
    if np.unique(kind * len(names) + worker).size < worker.size or np.isnan(accuracy).any():
        needs = "each worker needs one accuracy for each type or context, and no second one"
        raise InputError(f"{table.path.name}: {needs}")
    if not ((values >= 0) & (values <= 1)).all():
        row = int(np.flatnonzero(~((values >= 0) & (values <= 1)))[0])
        raise table.error(row, "accuracy", "must lie between 0 and 1")
    price = np.full(len(names), cost)
    if "price" in table:
        price[worker] = table.numbers("price")
        if (price[worker] != table.numbers("price")).any():
            raise InputError(f"{table.path.name}: a worker has two different prices; give each one price")
    return {"accuracy": accuracy, "cost": price, "classes": classes, "at": at, "names": names}


def _kinds(table: Table) -> tuple[Ints, Floats | None]:
    """Row of the skill table for each line, and where on [0, 1] the rows are."""
    if "at" in table:
        at, kind = np.unique(table.numbers("at"), return_inverse=True)
        if at.size < 2 or at[0] < 0 or at[-1] > 1:
            raise InputError(
                f"{table.path.name}: contexts (at) must lie between 0 and 1, and there must be two or more"
            )
        return kind.reshape(-1).astype(np.int64), at
    if "type" not in table:
        return np.zeros(table.rows, np.int64), None
    return table.places("type", list(dict.fromkeys(table.ids("type"))), ""), None


def read_table_of_labels(labels: TableLike, truth: TableLike, types: TableLike | None, cost: float) -> dict[str, Any]:
    """A label table: label (tasks, workers), truth, context, cost, classes, names.

    labels, truth: tables task,worker,label and task,label; types: table task,type; default: all tasks are of one type;
    cost: of every label; -> name -> what it is, as above.
    """
    table = read_labels(labels)
    known = read_truth(truth, table)
    label = np.full((len(table.tasks), len(table.workers)), -1, np.int64)
    label[table.task, table.worker] = table.label
    return {
        "label": label,
        "truth": known,
        "context": read_types(types, table.tasks)[0],
        "cost": np.full(len(table.workers), cost),
        "classes": max(len(table.classes), int(known.max()) + 1),
        "names": tuple(table.workers),
    }


def write_learning(folder: Path, facts: Mapping[str, Any], tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Write the tables, and learning.json last: it marks the whole.

    Equal input and seed give equal bytes, but for timings.csv.

    facts: what learning.json says; tables: file name -> its lines; a key is a column.
    """
    write_lines(folder, tables)
    write_json(folder / LEARNING, facts)
