"""cleanlab's multiannotator labels: a row for each task, a column for each worker."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.exchange.bridge import Bridge, Wishes
from crowdopt.io.tables.cells import cells_of
from crowdopt.io.tables.table_columns import Table

NONE = {"", "nan", "none", "<na>", "null"}  # how pandas writes that there is no label
IDS = ("", "task", "index", "unnamed: 0")  # how a column of ids is called


def read_wide(path: Path, wishes: Wishes) -> Annotations:
    """A wide table: the first column is the task's id if it is called so, else tasks are numbered from 0."""
    header, columns, rows = cells_of(path)
    named = wishes.key or next((name for name in header[:1] if name.lower() in IDS), None)
    workers = [name for name in header if name != named]
    if (named is not None and named not in header) or len(set(header)) < len(header) or not all(workers):
        raise InputError(f"{path.name}, line 1: each column needs a name of its own, a worker's or the tasks'")
    if not workers:
        raise InputError(f"{path.name}, line 1: there is a column for the tasks but none for a worker")
    table = Table(path, dict(zip(header, columns, strict=True)), rows)
    tasks = [str(row) for row in range(rows)] if named is None else table.unique_ids(named)
    given = [
        Annotation(task, worker, _class(table[worker][row]), place=f"row {row + 1}, column {worker}")
        for row, task in enumerate(tasks)
        for worker in workers
        if table[worker][row].lower() not in NONE
    ]
    _refuse_text(path.name, given)
    return with_gold(given, path.name)


def _refuse_text(name: str, given: list[Annotation]) -> None:
    """InputError for a column of texts, ids or notes: what no other column says, where others say the same."""
    said: dict[str, set[str]] = {}
    cells = Counter(row.worker for row in given)
    for row in given:
        said.setdefault(row.worker, set()).add(row.label)
    others = Counter(label for labels in said.values() for label in labels)
    alone = {worker for worker, labels in said.items() if all(others[label] == 1 for label in labels)}
    for worker in said:
        is_text = len(said[worker]) > max(2, cells[worker] / 2)
        if worker in alone and len(said) > 1 and (is_text or len(alone) + 1 < len(said)):
            raise InputError(
                f"{name}, line 1: column {worker!r} is no worker's: no other column has its labels; take it out, or if "
                f"it holds the tasks' ids, name it (--key {worker})"
            )


def _class(cell: str) -> str:
    """A class as it was before pandas made floats of a column with gaps."""
    return cell[:-2] if cell.endswith(".0") and cell[:-2].lstrip("-").isdecimal() else cell


BRIDGE = Bridge(name="cleanlab", what="a wide table: a row for each task, a column for each worker", read=read_wide)
