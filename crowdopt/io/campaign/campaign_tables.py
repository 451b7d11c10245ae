"""The tables of a campaign folder, and the ids that tie them together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crowdopt.arrays import Ints, places
from crowdopt.errors import InputError, meant, plain, tell
from crowdopt.io.tables.stored_tables import ENDINGS
from crowdopt.io.tables.table_columns import TEXTS, Table, find_table, read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES


def optional_table(folder: Path, name: str) -> Table | None:
    """A table of the campaign, or None if it is not there."""
    path = find_table(folder, name.partition(" ")[0])
    if path is None:
        return None
    table = read_table(path, CAMPAIGN_TABLES[name])
    return table.labelled() if name == "collected" else table


def needed_table(folder: Path, name: str) -> Table:
    """A table that every campaign has."""
    table = optional_table(folder, name)
    if table is None:
        shape = CAMPAIGN_TABLES[name].header
        raise InputError(f"there is no {name}.csv in {folder}; it is a table with the header {shape}")
    return table


def tell_unread(folder: Path) -> None:
    """Say which tables of a folder no campaign reads; InputError where only case or blanks keep it from that."""
    known = {"gold_tasks", *(name.partition(" ")[0] for name in CAMPAIGN_TABLES)}  # the former is for live
    unread = []
    for path in sorted(folder.iterdir()):
        ending, is_read = path.suffix.lower(), path.stem in known and path.suffix in ENDINGS
        if is_read or ending not in (*ENDINGS, *TEXTS) or path.name[0] in ".~" or not path.is_file():
            continue
        near = meant(path.stem, known)
        if near is None and ending in (".txt", ".json", ".jsonl", ".ndjson"):  # they hold much else than tables
            continue
        there = [file for ending in ENDINGS if near and (file := folder / f"{near}{ending}").exists()]
        if any(map(path.samefile, there)):  # where the file system takes capitals for small letters
            continue
        if near and not there and plain(path.stem) == near:
            raise InputError(f"{path.name} is looked for as {near}.csv; rename it")
        unread.append(f"{path.name} (did you mean {near}.csv?)" if near and not there else path.name)
    if unread:
        unread.sort(key=lambda name: "(" not in name)
        more = f" and {len(unread) - 5} more" if len(unread) > 5 else ""
        tell(f"{folder} has tables that no campaign reads: {', '.join(unread[:5])}{more}")


def refuse_empty(*tables: Table) -> None:
    """InputError where a table has no row."""
    for table in tables:
        if table.rows == 0:
            raise InputError(f"{table.path.name} has a header but no rows; a campaign needs tasks and workers")


def refuse_repeats(table: Table, keys: Ints, column: str, what: str) -> None:
    """Refuse a table in which a key, (rows,), stands twice; the complaint names the column and what it has."""
    if (row := second_of(keys.tolist())) is not None:
        raise table.error(row, column, f"{what} was there before; give it one row")


def second_of(keys: Sequence[Hashable]) -> int | None:
    """The first row whose key stands in one before, if any does."""
    if len(set(keys)) == len(keys):
        return None
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    return next(row for row, key in enumerate(keys) if first[key] < row)


@dataclass
class Ids:
    """The ids of a campaign and their places."""

    tasks: list[str]
    workers: list[str]
    types: list[str]
    task: dict[str, int] = field(init=False)
    worker: dict[str, int] = field(init=False)
    type: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.task, self.worker, self.type = map(places, (self.tasks, self.workers, self.types))

    def workers_of(self, table: Table) -> Ints:
        """The worker of each row."""
        remedy = "a worker who has left stays in workers.csv with capacity 0; add that row, or correct the name"
        return table.places("worker", self.worker, remedy)

    def cells(self, table: Table) -> tuple[Ints, Ints]:
        """Type and worker of each row of a table with columns worker[, type]; type -1 stands for every type."""
        workers = self.workers_of(table)
        if "type" not in table:
            return np.full(table.rows, -1), workers
        return table.places("type", self.type, "no task is of that type"), workers

    def pairs(self, table: Table) -> Ints:
        """Task and worker of each row, each pair once."""
        tasks = table.places("task", self.task, "add it to the tasks table or drop the row")
        workers = self.workers_of(table)
        refuse_repeats(table, tasks * len(self.workers) + workers, "worker", "this pair")
        return np.column_stack([tasks, workers])
