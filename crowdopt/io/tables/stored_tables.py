"""Tables that are no separated text, into columns of cells: Parquet, the first sheet of a workbook, JSON."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from crowdopt.errors import InputError, tell
from crowdopt.io.tables.foreign_json import parsed, read_text, scalar

Grid: TypeAlias = tuple[list[str], list[list[str]], int]  # names of the columns, the columns, the number of rows
ROWS = "a table is a list of rows, each an object of column and value, or an object of columns"


def parquet_source(path: Path) -> Any:
    """What pyarrow reads a file from: its name, or its bytes where the name is not UTF-8, which pyarrow refuses."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        import pyarrow

        with path.open("rb") as file:
            return pyarrow.BufferReader(pyarrow.py_buffer(mmap(file.fileno(), 0, access=ACCESS_READ)))
    return path


def as_text(cell: Any) -> str:
    """A cell as CSV would have it: whole numbers without a point, nothing for None."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return str(cell).strip()


def _read_parquet(path: Path) -> Grid:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise _needs(path, "pyarrow") from None
    try:
        table = parquet.read_table(parquet_source(path))
        columns = [[as_text(cell) for cell in column.to_pylist()] for column in table.columns]
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise _unreadable(path, "Parquet", error) from None
    return [str(name).strip() for name in table.column_names], columns, table.num_rows


def _read_workbook(path: Path) -> Grid:
    """The first sheet, with the header in its first row; other sheets are told."""
    try:
        import python_calamine
    except ImportError:
        raise _needs(path, "python-calamine") from None
    try:
        with path.open("rb") as file:
            book = python_calamine.CalamineWorkbook.from_filelike(file)
            names = book.sheet_names
            rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False) if names else []
    except (OSError, ValueError, python_calamine.CalamineError) as error:
        raise _unreadable(path, "a workbook", error) from None
    if not rows:
        raise InputError(f"{path.name} has nothing in its first sheet; it needs a header row and at least one row")
    if len(names) > 1:
        tell(f"{path.name}: the first sheet, {names[0]!r}, is read; the other {len(names) - 1} are not")
    header, *cells = [[as_text(cell) for cell in row] for row in rows]
    return header, [list(column) for column in zip(*cells, strict=True)] or [[] for _ in header], len(cells)


def _read_json(path: Path) -> Grid:
    """A list of rows, a row a line, or columns by name; as pandas, Polars and most programs write them."""
    text = read_text(path)
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and all(line.strip().startswith("{") for line in lines[:2]):
        return _of_objects(path, [parsed(line, f"{path.name}, row {k}") for k, line in enumerate(lines, 1)])
    value = parsed(text, path.name)
    if isinstance(value, dict) and value and all(isinstance(column, list | dict) for column in value.values()):
        columns = [list(column.values()) if isinstance(column, dict) else column for column in value.values()]
        if len(set(map(len, columns))) > 1:
            raise InputError(f"{path.name} has columns of unequal lengths; give each row a cell in every column")
        value = [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]
    return _of_objects(path, [value] if isinstance(value, dict) else value)


def _of_objects(path: Path, rows: Any) -> Grid:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path.name} holds no table; {ROWS}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [[_value(path, k, name, row.get(name)) for k, row in enumerate(rows, 1)] for name in names]
    return [name.strip() for name in names], columns, len(rows)


def _value(path: Path, row: int, column: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    text = scalar(value)
    if text is None:
        what = "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "no finite number"
        raise InputError(f"{path.name}, row {row}, column {column}: holds {what}; a cell of a table is one value")
    return text


def _needs(path: Path, library: str) -> InputError:
    return InputError(f"{path.name} needs {library}: pip install 'crowdopt[frames]'; or save it as CSV")


def _unreadable(path: Path, what: str, error: Exception) -> InputError:
    said = " ".join(str(error).split())[:200]
    return InputError(f"{path.name} cannot be read as {what}: {said}")


class StoredKind(NamedTuple):
    """How tables with an ending are read, and how many rows stand above the first of theirs."""

    read: Callable[[Path], Grid]
    above: int = 0


STORES = {
    ".parquet": StoredKind(_read_parquet),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), StoredKind(_read_workbook, above=1)),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), StoredKind(_read_json)),
}
ENDINGS = (".csv", *STORES)  # what a table's name may end in, as a campaign's folder is looked through


def store_of(path: Path) -> StoredKind | None:
    """How a table is read that is no separated text; None where it is text."""
    return STORES.get(path.suffix.lower())


def named_alike(path: Path, name: str) -> str:
    """What a copy of a table is called so that it is read as the table is: another name, the same kind of file."""
    return f"{name}{path.suffix.lower() if store_of(path) else '.csv'}"
