"""crowd-kit's tables: task, worker (performer in old ones), label; with what else is known of a label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.exchange.bridge import Bridge, Wishes
from crowdopt.io.tables.cells import cells_of
from crowdopt.io.tables.foreign_json import seconds
from crowdopt.io.tables.table_columns import Table

TRUE, FALSE = {"true", "yes", "1"}, {"", "false", "no", "0"}


def read_crowd_kit(path: Path, wishes: Wishes) -> Annotations:
    """The rows of a table; columns seconds, when, cancelled and gold are kept where they are there."""
    return with_gold(rows_of(path, ("task",), ("worker", "performer"), ("label",)), path.name)


def rows_of(path: Path, tasks: Sequence[str], workers: Sequence[str], labels: Sequence[str]) -> list[Annotation]:
    """Rows of a table of labels; tasks, workers, labels: names that the column may have."""
    header, columns, size = cells_of(path)
    table = Table(path, dict(zip(header, columns, strict=True)), size)
    if len(set(header)) < len(header):
        raise InputError(f"{path.name}, line 1: a column appears twice; keep one of them")
    task, worker = (table.ids(_column(path, header, names)) for names in (tasks, workers))
    label = table[_column(path, header, labels)]
    empty = [""] * size
    time, when, cancelled, gold = (table.columns.get(name, empty) for name in ("seconds", "when", "cancelled", "gold"))
    for name, cells in (("cancelled", cancelled), ("gold", gold)):
        odd = next((row for row, cell in enumerate(cells) if cell.lower() not in TRUE | FALSE), None)
        if odd is not None:
            raise table.error(odd, name, f"{cells[odd]!r} is neither yes nor no; true labels are given with --truth")
    return [
        Annotation(
            task[row],
            worker[row],
            label[row],
            _number(time[row]),
            when[row],
            cancelled=cancelled[row].lower() in TRUE or not label[row],
            gold=gold[row].lower() in TRUE,
            place=f"row {row + 1}",
        )
        for row in range(size)
    ]


def _column(path: Path, header: Sequence[str], names: Sequence[str]) -> str:
    found = next((name for name in names if name in header), None)
    if found is None:
        raise InputError(f"{path.name}, line 1: there is no column {' or '.join(map(repr, names))}; name it so")
    return found


def _number(cell: str) -> float | None:
    try:
        return seconds(float(cell))
    except ValueError:
        return None


BRIDGE = Bridge(name="crowd-kit", what="a table task,worker,label", read=read_crowd_kit)
