"""Whom could be hired, read from tables; whom to hire, written as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.crowd.errors import InputError
from crowdopt.crowd.selection import SelectionInstance
from crowdopt.io.tables import Table, read_table, write_table
from crowdopt.selection import Selection

Ints: TypeAlias = NDArray[np.int64]


def read_candidates(
    gold: str | Path,
    classes: int = 2,
    most: int | None = None,
    workers: str | Path | None = None,
    money: float | None = None,
    required: Sequence[str] = (),
    barred: Sequence[str] = (),
    fewest: dict[str, int] | None = None,
) -> SelectionInstance:
    """A selection instance from gold tallies and, where there is one, a table of workers.

    Parameters
    ----------
    gold : path
        Columns worker, correct, asked; with a column type, a worker's types are added up.
    workers : path, optional
        Columns worker, and price or group or both (others are ignored); it must have every worker of the gold.
    required, barred : ids of workers
    fewest : dict of group to number, optional

    Raises
    ------
    InputError
        If a table cannot be used; the sentence says file, line, column and remedy.
    """
    names, correct, asked = read_gold(gold)
    place = {name: k for k, name in enumerate(names)}
    limits: dict[str, Any] = {} if workers is None else _of_workers(read_workers(workers), place)
    if fewest:
        limits["fewest"] = _fewest(fewest, limits.get("groups"))
    return SelectionInstance(
        correct,
        asked,
        classes,
        most,  # type: ignore[arg-type]
        money=money,
        required=_places("required", required, place),
        barred=_places("barred", barred, place),
        workers=names,
        **limits,
    )


def read_gold(path: str | Path) -> tuple[tuple[str, ...], Ints, Ints]:
    """Workers in order of appearance, and their tallies over all types."""
    table = read_table(Path(path), ("worker", "correct", "asked"), ("type",), extras=True)
    keys = list(zip(table.ids("worker"), table["type"] if "type" in table else [""] * table.rows, strict=True))
    if len(set(keys)) < len(keys):
        row = next(k for k, key in enumerate(keys) if key in keys[:k])
        raise table.error(row, "worker", f"{keys[row][0]!r} was there before; give each worker (and type) one row")
    if not keys:
        raise InputError(f"{table.path.name} has no worker; it needs at least one row")
    names = tuple(dict.fromkeys(table["worker"]))
    place = {name: k for k, name in enumerate(names)}
    at = np.fromiter((place[name] for name in table["worker"]), np.int64, table.rows)
    tallies = [np.zeros(len(names), np.int64) for _ in range(2)]
    for tally, column in zip(tallies, ("correct", "asked"), strict=True):
        np.add.at(tally, at, table.counts(column))
    return names, tallies[0], tallies[1]


def read_workers(path: str | Path) -> Table:
    """A table of workers with a price, a group, or both."""
    table = read_table(Path(path), ("worker",), ("price", "group"), extras=True)
    if "price" not in table and "group" not in table:
        raise InputError(f"{table.path.name} has neither a column price nor a column group; add one, or leave it out")
    return table


def write_hired(selection: Selection, path: Path, force: bool = False) -> None:
    """The hired as a table, best first, with what speaks for each and the vote's weight; whole or not at all."""
    instance, who = selection.instance, selection.members
    header = ["worker", "correct", "asked", "gain", "weight"]
    columns: list[Any] = [[instance.worker_id(i) for i in who.tolist()]]
    columns += [part[who] for part in (instance.correct, instance.asked, instance.gain, instance.weight)]
    if instance.price is not None:
        header.append("price")
        columns.append(instance.price[who])
    write_table(path, header, columns, force)


def _of_workers(table: Table, place: dict[str, int]) -> dict[str, Any]:
    known = {name: k for k, name in enumerate(table.unique_ids("worker"))}
    lacking = next((name for name in place if name not in known), None)
    if lacking is not None:
        raise InputError(f"{table.path.name} has no row for worker {lacking!r}, who has gold; add one")
    rows = [known[name] for name in place]
    found: dict[str, Any] = {}
    if "price" in table:
        found["price"] = table.numbers("price")[rows]
    if "group" in table:
        cells = table.ids("group")
        names = tuple(sorted(set(cells)))
        found["groups"] = names
        found["group"] = np.array([names.index(cells[row]) for row in rows])
    return found


def _fewest(fewest: dict[str, int], groups: tuple[str, ...] | None) -> Ints:
    if groups is None:
        raise InputError("a least number per group needs groups; give a table of workers with a column group")
    unknown = next((name for name in fewest if name not in groups), None)
    if unknown is not None:
        raise InputError(f"there is no group {unknown!r}; the groups are {', '.join(groups[:20])}")
    return np.array([fewest.get(name, 0) for name in groups])


def _places(what: str, names: Sequence[str], place: dict[str, int]) -> Ints:
    unknown = next((name for name in names if name not in place), None)
    if unknown is not None:
        raise InputError(f"the {what} worker {unknown!r} has no gold; check the id, or ask the worker some first")
    return np.array([place[name] for name in names], dtype=np.int64)
