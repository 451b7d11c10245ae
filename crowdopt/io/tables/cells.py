"""Tables as columns of cells, read from any kind of file, and written as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.io.tables.folder import check_target
from crowdopt.io.tables.stored_tables import store_of
from crowdopt.io.tables.text_files import NAMES, SEPARATORS, TextForm, not_utf8, opened

CHUNK = 1 << 15  # rows that are lists at a time: fewer objects for the collector to walk over


def cells_of(path: Path) -> tuple[list[str], list[list[str]], int]:
    """Header, columns of stripped cells, and the number of rows; InputError where that cannot be read."""
    store = store_of(path)
    return _read_csv(path) if store is None else store.read(path)


def _read_csv(path: Path) -> tuple[list[str], list[list[str]], int]:
    try:
        with opened(path) as (file, dialect):
            lines = filter(None, csv.reader(file, strict=True, delimiter=dialect.separator))
            header = [name.strip() for name in next(lines, [])]
            columns = _columns(path, lines, header, dialect)
    except (OSError, UnicodeError, csv.Error) as error:
        raise InputError(f"{path.name}: {_trouble(path, error)}") from None
    if not header:
        raise InputError(f"{path.name} is empty; it needs a header line and at least one row")
    return header, columns, len(columns[0])


def _columns(path: Path, lines: Iterator[list[str]], header: list[str], dialect: TextForm) -> list[list[str]]:
    width = len(header)
    # Tuples of texts are no burden to the collector; lists that grow would be walked over again and again.
    parts: list[list[tuple[str, ...]]] = [[] for _ in range(width)]
    read = 0
    while rows := list(islice(lines, CHUNK)):
        if set(map(len, rows)) != {width}:
            for _ in lines:  # whatever else is wrong further down, such as an open quote, is said first
                pass
            short = next(row for row in rows if len(row) != width)
            place = f"{path.name}, line {_line_of(path, read + rows.index(short))}"
            what = NAMES.get(dialect.separator, repr(dialect.separator))
            remedy = f"quote cells that hold {what}"
            if len(short) < width:
                remedy = f"cells are missing: add {', '.join(header[len(short) :])} after {short[-1]!r} (blank if none)"
                if any(mark in short[0] for mark in SEPARATORS if mark != dialect.separator):
                    remedy = f"separate them by {what}, as the header is"
            raise InputError(f"{place}: {len(short)} cells where the header has {width}; {remedy}")
        read += len(rows)
        for some, cells in zip(parts, zip(*rows, strict=True), strict=True):
            some.append(tuple(map(str.strip, cells)))
    return [list(chain.from_iterable(some)) for some in parts]


def header_of(path: Path) -> list[str]:
    """Names of the columns: of a CSV file by its first line alone."""
    try:
        if store_of(path) is None:
            with opened(path) as (file, dialect):
                reader = csv.reader(file, strict=True, delimiter=dialect.separator)
                return [name.strip() for name in next(filter(None, reader))]
    except (OSError, UnicodeError, csv.Error, StopIteration):  # said when all of it is read
        pass
    return cells_of(path)[0]


def has_decimal_commas(path: Path) -> bool:
    """Whether numbers of this table may have a comma for a point: where semicolons separate its cells."""
    if store_of(path) is not None:
        return False
    with opened(path) as (_, dialect):
        return dialect.separator == ";"


def _trouble(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no such file in {'the current folder' if path.parent == Path() else path.parent}"
    if isinstance(error, UnicodeDecodeError):
        return not_utf8(path, error)
    if isinstance(error, UnicodeError):
        return "is not text as its first bytes say; save it as UTF-8"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    return f"is not CSV: {error}; check the quotes"


def place_of(path: Path, row: int) -> str:
    """Where a row of the table stands in the file, from 1 on, in words; the header is a workbook's row 1."""
    store = store_of(path)
    return f"line {_line_of(path, row)}" if store is None else f"row {row + 1 + store.above}"


def _line_of(path: Path, row: int) -> int:
    """Line of a text: blank lines and quoted line breaks count."""
    with opened(path) as (file, dialect):
        reader, before, seen = csv.reader(file, strict=True, delimiter=dialect.separator), dialect.skipped, -2
        for line in reader:
            seen += bool(line)
            if seen == row:
                return before + 1
            before = reader.line_num + dialect.skipped
    return before


def write_csv(path: Path, header: Sequence[str], columns: Iterable[Iterable[Any]]) -> None:
    """Write columns of equal length as CSV into a folder of one's own: UTF-8, LF, floats to full precision."""
    path.write_bytes(csv_text(header, columns).encode("utf-8"))


def write_table(path: Path, header: Sequence[str], columns: Iterable[Iterable[Any]], force: bool = False) -> None:
    """Write a file of its own as CSV, whole or not at all; one that is there is replaced only by force."""
    check_target(path, None, force)
    with draft(path, replace=force) as file:
        file.write(csv_text(header, columns).encode("utf-8"))


def csv_text(header: Sequence[str], columns: Iterable[Iterable[Any]]) -> str:
    """Columns of equal length as CSV."""
    rows = [header, *zip(*(plain(column) for column in columns), strict=True)]
    text = _as_csv(rows, csv.QUOTE_MINIMAL)
    # a lone CR ends a line for every reader, but csv.QUOTE_MINIMAL does not quote it before Python 3.13
    return _as_csv(rows, csv.QUOTE_NONNUMERIC) if "\r" in text else text


def _as_csv(rows: Iterable[Iterable[Any]], quoting: Literal[0, 2]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", quoting=quoting).writerows(rows)
    return text.getvalue()


def plain(column: Iterable[Any]) -> list[Any]:
    """A column as Python values, so that floats print with every digit and whole floats stay floats."""
    return column.tolist() if isinstance(column, np.ndarray) else list(column)
