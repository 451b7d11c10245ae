"""Tables of known columns. Every complaint names file, line, column and remedy."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.errors import InputError
from crowdopt.io.tables.cells import cells_of, header_of, line_of
from crowdopt.io.tables.frames import NAME, TableLike, cells_at_hand, columns_at_hand, is_frame

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equally many cells, stripped of surrounding blanks."""

    path: Path
    columns: dict[str, list[str]]
    rows: int
    at_hand: bool = False  # a frame, whose rows count from 0, and no file

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> list[str]:
        return self.columns[name]

    def error(self, row: int, column: str, message: str) -> InputError:
        """The complaint about one cell, with its line counted in the file."""
        place = f"row {row}" if self.at_hand else f"line {line_of(self.path, row)}"
        return InputError(f"{self.path.name}, {place}, column {column}: {message}")

    def ids(self, name: str) -> list[str]:
        """A column of ids; InputError at the first empty one."""
        column = self.columns[name]
        if "" in column:
            raise self.error(column.index(""), name, "is empty; every row needs an id here")
        return column

    def unique_ids(self, name: str) -> list[str]:
        """A column of ids that must all differ."""
        column = self.ids(name)
        if len(set(column)) < len(column):
            seen: set[str] = set()
            for row, cell in enumerate(column):
                if cell in seen:
                    raise self.error(row, name, f"{cell!r} was there before; give each {name} one row")
                seen.add(cell)
        return column

    def places(self, name: str, known: dict[str, int], remedy: str) -> NDArray[np.int64]:
        """A column of ids as indices into the known ones."""
        column = self.columns[name]
        try:
            return np.fromiter((known[cell] for cell in column), np.int64, self.rows)
        except KeyError:
            row = next(k for k, cell in enumerate(column) if cell not in known)
            near = get_close_matches(column[row], list(known)[:10000], n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise self.error(row, name, f"unknown {name} {column[row]!r}{hint}; {remedy}") from None

    def numbers(self, name: str, empty: float | None = None) -> NDArray[np.float64]:
        """A column of finite numbers; an empty cell reads as ``empty``, if that is given."""
        return np.array(self._parsed(name, _finite, empty, "is not a finite number"), dtype=np.float64)

    def counts(self, name: str, empty: int | None = None) -> NDArray[np.int64]:
        """A column of whole numbers of at least 0."""
        values = self._parsed(name, _count, empty, "is not a whole number of at least 0")
        return np.array(values, dtype=np.int64)

    def _parsed(self, name: str, parse: Callable[[str], T], empty: T | None, complaint: str) -> list[T]:
        values: list[T] = []
        for row, cell in enumerate(self.columns[name]):
            if cell == "" and empty is not None:
                values.append(empty)
                continue
            try:
                values.append(parse(cell))
            except ValueError:
                what = "is empty" if cell == "" else f"{cell!r} {complaint}"
                raise self.error(row, name, f"{what}; write a plain number such as 3") from None
        return values


def _finite(cell: str) -> float:
    value = float(cell)
    if not np.isfinite(value) or "_" in cell:
        raise ValueError(cell)
    return value


def _count(cell: str) -> int:
    if not cell.isdecimal() or not cell.isascii() or len(cell) > 15:
        raise ValueError(cell)
    return int(cell)


def find_table(folder: Path, name: str) -> Path | None:
    """``name.csv`` or ``name.parquet`` in a folder; None if neither is there."""
    there = [path for path in (folder / f"{name}.csv", folder / f"{name}.parquet") if path.exists()]
    if len(there) > 1:
        raise InputError(f"{folder} has both {name}.csv and {name}.parquet; keep one of them")
    return there[0] if there else None


def read_table(source: TableLike, required: Sequence[str], optional: Sequence[str] = (), extras: bool = False) -> Table:
    """Read a table whose header has the required columns, and of others only the optional ones (unless ``extras``).

    source: CSV, or Parquet where pyarrow is there; or a table at hand (io.tables.frames); required, optional: columns
    that must be there, and that may be; extras: whether other columns are ignored; else they are refused. Raises
    InputError if the file is missing, unreadable, not UTF-8, empty, ragged, or its header is wrong.
    """
    path = Path(source) if isinstance(source, str | Path) else Path(NAME)
    header, columns, rows = cells_of(path) if isinstance(source, str | Path) else cells_at_hand(source)
    _check_header(path, header, required, optional, extras)
    wanted = [*required, *optional]
    kept = {name: columns[k] for k, name in enumerate(header) if name in wanted}
    return Table(path, kept, rows, at_hand=is_frame(source))


def has_column(source: TableLike, name: str) -> bool:
    """Whether a table has a column of this name."""
    names = header_of(Path(source)) if isinstance(source, str | Path) else map(str, columns_at_hand(source))
    return name in names


def _check_header(
    path: Path, header: Sequence[str], required: Sequence[str], optional: Sequence[str], extras: bool
) -> None:
    known = [*required, *optional]
    shape = ",".join(required) + "".join(f"[,{name}]" for name in optional)
    for name in required:
        if name not in header:
            raise InputError(f"{path.name}, line 1: there is no column {name!r}; the header must be {shape}")
    if len(set(header)) < len(header):
        raise InputError(f"{path.name}, line 1: a column appears twice; the header must be {shape}")
    strange = [name for name in header if name not in known]
    if strange and not extras:
        near = get_close_matches(strange[0], known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(f"{path.name}, line 1: unknown column {strange[0]!r}; {hint}the header must be {shape}")


def is_folder(path: Path) -> bool:
    """Whether the path is a folder that can be listed."""
    return path.is_dir() and os.access(path, os.R_OK | os.X_OK)
