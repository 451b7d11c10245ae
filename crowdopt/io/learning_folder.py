"""Studies of asking on disk: skills and label tables in, tables and one JSON object out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.documents import write_json
from crowdopt.errors import InputError
from crowdopt.io.comparison_folder import write_lines
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.label_table import read_labels, read_truth, read_types
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import LABELERS

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
