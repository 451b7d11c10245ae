"""Tables as columns of cells, read from any kind of file, and written as CSV.

A table's file before its cells: its encoding and separator, or the name of what it is instead of a table.

Tables that are no separated text, into columns of cells: Parquet, the first sheet of a workbook, JSON.

Tables at hand in Python: pandas, Polars and Arrow tables, or columns by name, as columns of cells.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from math import isnan
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, TextIO, TypeAlias

import numpy as np

from crowdopt.errors import InputError, tell
from crowdopt.files import draft
from crowdopt.io.folders import check_target
from crowdopt.io.foreign_json import parsed, read_text, scalar

PEEK = 1 << 16  # bytes that are looked at before the file is read
SEPARATORS = ",;\t|"  # in this order where the first line has equally many
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
PACKED = "unpack it first"
FORMATS = {  # by the file's ending: what it is, and the remedy
    ".numbers": ("a Numbers sheet", "export it as CSV or Excel"),
    ".gz": ("compressed", PACKED),
    ".zip": ("compressed", PACKED),
    ".bz2": ("compressed", PACKED),
    ".xz": ("compressed", PACKED),
    ".zst": ("compressed", PACKED),
    ".feather": ("an Arrow file", "read it with pyarrow and give the table, or write it as Parquet"),
    ".arrow": ("an Arrow file", "read it with pyarrow and give the table, or write it as Parquet"),
    ".pkl": ("a pickle, which is never opened here", "write it as CSV or Parquet"),
}
BEGINNINGS = {  # by how the file begins, whatever it is called
    b"PK\x03\x04": ("a workbook", "give it its ending, such as .xlsx"),
    b"\xd0\xcf\x11\xe0": ("an old workbook", "give it the ending .xls"),
    b"\x1f\x8b": FORMATS[".gz"],
    b"PAR1": ("Parquet", "give it the ending .parquet"),
    b"%PDF": ("a PDF", "write it as CSV"),
    b"[": ("JSON", "give it the ending .json"),
    b"{": ("JSON", "give it the ending .json"),
    b"<": ("a web page or XML", "download the table itself, as CSV"),
}
MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # what Excel's "Unicode text" begins with


class TextForm(NamedTuple):
    """How the text of a table is written."""

    encoding: str
    separator: str
    skipped: int  # lines before the header: Excel's sep=;


def named_format(path: Path) -> str | None:
    """What a file with this ending is, if it is no table, with the remedy."""
    kind = FORMATS.get(path.suffix.lower())
    return None if kind is None else f"is {kind[0]}; {kind[1]}"


@contextmanager
def opened(path: Path) -> Iterator[tuple[TextIO, TextForm]]:
    """The text of a table, at its header, and how it is written; a pipe is read once."""
    with path.open("rb", buffering=PEEK) as raw:
        dialect = _dialect(path, raw)
        with io.TextIOWrapper(raw, encoding=dialect.encoding, newline="") as text:
            for _ in range(dialect.skipped):
                text.readline()
            yield text, dialect


def _dialect(path: Path, raw: BinaryIO) -> TextForm:
    start = raw.peek(PEEK)  # type: ignore[attr-defined]
    kind = named_format(path) or next(
        (f"is {what}; {remedy}" for mark, (what, remedy) in BEGINNINGS.items() if start.lstrip().startswith(mark)), None
    )
    if kind is not None:
        raise InputError(f"{path.name} {kind}")
    encoding = next((name for mark, name in MARKS.items() if start.startswith(mark)), "utf-8-sig")
    lines = start.decode(encoding, errors="ignore").splitlines()
    first = next((line for line in lines if line.strip()), "")
    stated = re.fullmatch(r"sep=(.)", first.rstrip("\r\n"))
    if stated is not None:
        return TextForm(encoding, stated[1], 1 + lines.index(first))
    return TextForm(encoding, separator_of(first), 0)


def separator_of(first: str) -> str:
    """What separates the cells of a first line: what it has most of outside of quotes."""
    bare = re.sub(r'"[^"]*"', "", first)
    return max(SEPARATORS, key=bare.count)


def not_utf8(path: Path, error: UnicodeDecodeError) -> str:
    """Where a file is not UTF-8, and what its bytes would be to Windows."""
    if error.encoding.lower().startswith("utf-16"):
        return f"is not UTF-16 text as its first bytes say (byte {error.start}); save it as UTF-8"
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as there:
                byte = line[there.start : there.start + 1]
                letter = byte.decode("cp1252", errors="replace")
                as_windows = f", {letter!r} in Windows-1252" if letter.isprintable() else ""
                return f"is not UTF-8 text (line {number}: byte 0x{byte.hex().upper()}{as_windows}); save it as UTF-8"
    return "is not UTF-8 text; save it as UTF-8"


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


MISSING = ("", "nan", "NaN", "NaT", "<NA>", "None")  # what a cell without a value prints as
NAME = "the table"  # in sentences, where a file has its name


class Frame(Protocol):
    """A table at hand: its columns by name."""

    def __getitem__(self, name: Any, /) -> Any:
        """The cells of a column."""


TableLike: TypeAlias = str | Path | Frame  # a file, or a table at hand


def is_frame(given: object) -> bool:
    """Whether this is a table at hand, and not the name of a file."""
    return not isinstance(given, str | Path)


def name_of(given: TableLike) -> str:
    """What a sentence calls the table."""
    return Path(given).name if isinstance(given, str | Path) else NAME


def opened_frame(frame: Any) -> Any:
    """A frame with cells in it: a lazy one is worked out, and what has but a stream of Arrow becomes a table."""
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):
        return frame.collect()
    lasting = not hasattr(frame, "read_all")  # a reader's stream flows once, and tables are looked at twice
    if hasattr(frame, "__arrow_c_stream__") and lasting and not hasattr(frame, "columns"):
        try:
            import pyarrow
        except ImportError:
            raise InputError(f"{type(frame).__name__} needs pyarrow: pip install 'crowdopt[frames]'") from None
        return pyarrow.table(frame)
    return frame


def cells_at_hand(frame: Frame) -> tuple[list[str], list[list[str]], int]:
    """Header, columns of cells and the number of rows, as :func:`io.tables.cells.cells_of` has them of a file."""
    frame = opened_frame(frame)
    names = columns_at_hand(frame)
    columns = [[_cell(cell) for cell in _values(frame[name])] for name in names]
    if len({len(column) for column in columns}) > 1:
        raise InputError(f"{NAME} has columns of unequal lengths; give each row a cell in every column")
    return [str(name).strip() for name in names], columns, len(columns[0])


def columns_at_hand(frame: Any) -> list[Any]:
    """Names of the columns; InputError where it is no table."""
    frame = opened_frame(frame)
    if isinstance(frame, Mapping):
        names = list(frame)
    else:  # Arrow has them under column_names, pandas and Polars under columns
        names = list(getattr(frame, "column_names", getattr(frame, "columns", ())))
    if not names:
        raise InputError(f"a table is a file, a frame, or columns by name, not {type(frame).__name__}")
    return names


def index_names(source: object) -> list[str]:
    """Names of a pandas frame's index, which is no column."""
    return [str(name) for name in getattr(getattr(source, "index", None), "names", ()) if name is not None]


def _values(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow; Polars and pandas; NumPy
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _cell(value: Any) -> str:
    text = as_text(value)
    return "" if text in MISSING and not isinstance(value, str) else text


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
