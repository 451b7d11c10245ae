"""A table's file before its cells: its encoding and separator, or the name of what it is instead of a table."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

from crowdopt.errors import InputError

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
