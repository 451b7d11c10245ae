"""Tables of known columns. Every complaint names file, line, column and remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Ints, places
from crowdopt.errors import InputError, meant, tell
from crowdopt.io.tables.cells import cells_of, has_decimal_commas, header_of, place_of
from crowdopt.io.tables.frames import NAME, TableLike, cells_at_hand, columns_at_hand, index_names, is_frame
from crowdopt.io.tables.stored_tables import ENDINGS, store_of
from crowdopt.io.tables.table_kinds import Extras, TableKind
from crowdopt.io.tables.text_files import FORMATS, named_format
from crowdopt.io.tables.tidying import MISSING, Cells, tell_doubtful, tidied

T = TypeVar("T")
TEXTS = (".tsv", ".txt", ".tab")  # endings of texts that may well be the table that is looked for
_WHOLE = re.compile(r"(\d+)\.0*")  # a whole number that a data frame gave a point
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}[.,]\d{3}")  # a whole number with its thousands set off, or a decimal one
_DECIMAL = re.compile(r"-?(?![1-9]\d{0,2}[.,]\d{3}$)\d*([.,])\d+")  # no whole number in any case


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equally many cells, stripped of surrounding blanks."""

    path: Path
    columns: dict[str, list[str]]
    rows: int
    at_hand: bool = False  # a frame, whose rows count from 0, and no file
    extras: dict[str, list[str]] = field(default_factory=dict)  # columns that are passed on, where the kind keeps them
    place: Ints | None = None  # (rows,): row of the file that each row stands in; None where none was left out

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> list[str]:
        return self.columns[name]

    def error(self, row: int, column: str, message: str) -> InputError:
        """The complaint about one cell, with its line counted in the file."""
        row = row if self.place is None else int(self.place[row])
        place = f"row {row}" if self.at_hand else place_of(self.path, row)
        return InputError(f"{self.path.name}, {place}, column {column}: {message}")

    def only(self, kept: Bools) -> Table:
        """Some of the rows; kept (rows,)."""
        columns = {**self.columns, **{f"\0{name}": column for name, column in self.extras.items()}}
        cells = Cells(self.path.name, list(columns), list(columns.values()), self.rows, self.place).only(kept)
        named = dict(zip(cells.header, cells.columns, strict=True))
        extras = {name: named.pop(f"\0{name}") for name in self.extras}
        return replace(self, columns=named, rows=cells.rows, extras=extras, place=cells.place)

    def labelled(self, name: str = "label") -> Table:
        """The rows whose label was given; those without one are told, and so are labels that are almost alike."""
        labels = set(self.columns[name])
        tell_doubtful(self.path.name, labels - MISSING)
        if not labels & MISSING or not labels - MISSING:
            return self
        kept = np.array([cell not in MISSING for cell in self.columns[name]], bool)
        tell(f"{self.path.name}: {int((~kept).sum())} row(s) without a label left out")
        return self.only(kept)

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

    def places(self, name: str, known: Iterable[str], remedy: str) -> NDArray[np.int64]:
        """A column of ids as indices into the known ones; a dictionary says which index each has."""
        column, known = self.columns[name], known if isinstance(known, dict) else places(known)
        try:
            return np.fromiter((known[cell] for cell in column), np.int64, self.rows)
        except KeyError:
            row = next(k for k, cell in enumerate(column) if cell not in known)
            near = meant(column[row], list(known)[:10000])
            hint = f" (did you mean {near!r}?)" if near else ""
            raise self.error(row, name, f"unknown {name} {column[row]!r}{hint}; {remedy}") from None

    def numbers(self, name: str, empty: float | None = None) -> NDArray[np.float64]:
        """A column of finite numbers; an empty cell reads as ``empty``, if that is given."""
        return np.array(self._parsed(name, _finite, empty, "is not a finite number"), dtype=np.float64)

    def counts(self, name: str, empty: int | None = None) -> NDArray[np.int64]:
        """A column of whole numbers of at least 0."""
        values = self._parsed(name, _count, empty, "is not a whole number of at least 0")
        return np.array(values, dtype=np.int64)

    def _parsed(self, name: str, parse: Callable[[str], T], empty: T | None, complaint: str) -> list[T]:
        self._ask_back(name, parse is _count)
        values: list[T] = []
        for row, cell in enumerate(self.columns[name]):
            if cell == "" and empty is not None:
                values.append(empty)
                continue
            try:
                values.append(parse(cell))
            except ValueError:
                pointed = _pointed(cell)
                if pointed is not None and not self.at_hand and has_decimal_commas(self.path):
                    pointed_column = [_pointed(one) or one for one in self.columns[name]]
                    return replace(self, columns={name: pointed_column})._parsed(name, parse, empty, complaint)
                what = "is empty" if cell == "" else f"{cell!r} {complaint}"
                raise self.error(row, name, f"{what}; {_remedy(cell)}") from None
        return values

    def _ask_back(self, name: str, whole: bool) -> None:
        """Refuse 1.000 if no other cell shows what its mark means: whole numbers need none, semicolons allow both."""
        column = self.columns[name]
        doubtful = [row for row, cell in enumerate(column) if _THOUSANDS.fullmatch(cell)]
        marks = {_DECIMAL.sub(r"\1", cell) for cell in column if doubtful and _DECIMAL.fullmatch(cell)}
        row = next((row for row in doubtful if marks != {column[row][-4]}), None)
        if row is None:
            return
        if not (whole and column[row][-4] == ".") and not (self.path.is_file() and has_decimal_commas(self.path)):
            return
        thousand, share = re.sub("[.,]", "", column[row]), f"{float(column[row].replace(',', '.')):.12g}"
        share += "0" * bool(_THOUSANDS.fullmatch(share))  # 1.2340 is no thousand
        raise self.error(row, name, f"{column[row]!r} can mean {thousand} or {share}; write which one")


def _finite(cell: str) -> float:
    value = float(cell)
    if not np.isfinite(value) or "_" in cell:
        raise ValueError(cell)
    return value


def _count(cell: str) -> int:
    if not cell.isascii() or len(cell) > 15:
        raise ValueError(cell)
    if not cell.isdecimal():
        whole = _WHOLE.fullmatch(cell)
        if whole is None:
            raise ValueError(cell)
        cell = whole[1]
    return int(cell)


def _pointed(cell: str) -> str | None:
    return cell.replace(",", ".") if re.fullmatch(r"-?\d*,\d+", cell) else None


def _remedy(cell: str) -> str:
    share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", cell)
    if share is not None:
        return f"write the share, {float(share[1]) / 100:.12g}"
    amount = re.fullmatch(r"(?:[$€£]|EUR|USD|GBP)?\s*(\d+(?:\.\d+)?)\s*(?:[$€£]|EUR|USD|GBP)?", cell)
    if amount is not None and amount[1] != cell:
        return f"write the number alone, {amount[1]}"
    if re.fullmatch(r"\d{1,3}(,\d{3})+", cell):
        return f"write it without commas, {cell.replace(',', '')}"
    return f"write a point, {_pointed(cell)}" if _pointed(cell) else "write a plain number such as 3"


def find_table(folder: Path, name: str) -> Path | None:
    """``name`` with an ending of a table in a folder; None if none is there, and nothing else that is called so."""
    there = [path for ending in ENDINGS if (path := folder / f"{name}{ending}").exists()]
    if len(there) > 1:
        raise InputError(f"{folder} has both {there[0].name} and {there[1].name}; keep one of them")
    if not there:
        _refuse_others(folder, name)
    return there[0] if there else None


def table_in(folder: Path, name: str) -> Path:
    """The table of this name in a folder; ``name.csv`` where there is none, which its reader then misses."""
    return find_table(folder, name) or folder / f"{name}.csv"


def _refuse_others(folder: Path, name: str) -> None:
    """A table that is there, but not as a campaign has it, is not passed over."""
    for ending in (*FORMATS, *TEXTS):
        path = folder / f"{name}{ending}"
        if path.exists():
            raise InputError(f"{path.name} {named_format(path) or f'is looked for as {name}.csv; rename it'}")
    if folder.is_dir() and (folder / f"{name}.CSV").exists():
        raise InputError(f"{name}.CSV is looked for as {name}.csv; rename it")


def read_table(source: TableLike, kind: TableKind) -> Table:
    """Read a table of a known kind, without what spreadsheets and data frames leave in it.

    source: a file of one of ENDINGS, any other is text; or a table at hand (io.tables.frames).
    """
    path = Path(source) if isinstance(source, str | Path) else Path(NAME)
    header, columns, rows = cells_of(path) if isinstance(source, str | Path) else cells_at_hand(source)
    # Tables that only this program writes hold what it wrote.
    cells = Cells(path.name, header, columns, rows)
    cells = cells if kind.extras is Extras.REFUSED else tidied(cells)
    complaint = kind.complaint(cells.header)
    if complaint is not None:
        index = next((name for name in index_names(source) if name in kind.required), None)
        also = "" if index is None else f"; {index!r} is the frame's index: give frame.reset_index()"
        first = "" if store_of(path) else ", line 1"
        raise InputError(f"{path.name}{first}: {complaint}{also}")
    named = dict(zip(cells.header, cells.columns, strict=True))
    known = {name: column for name, column in named.items() if name in kind.required or name in kind.optional}
    others = {name: column for name, column in named.items() if name not in known}
    extras = others if kind.extras is Extras.KEPT else {}
    return Table(path, known, cells.rows, is_frame(source), extras, cells.place)


def has_column(source: TableLike, name: str) -> bool:
    """Whether a table has a column of this name."""
    names = header_of(Path(source)) if isinstance(source, str | Path) else map(str, columns_at_hand(source))
    return name in names


def is_folder(path: Path) -> bool:
    """Whether the path is a folder that can be listed."""
    return path.is_dir() and os.access(path, os.R_OK | os.X_OK)
