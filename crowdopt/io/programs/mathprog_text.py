"""Data sections of GNU MathProg, piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from crowdopt.errors import InputError

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*")
LONGEST = 100  # characters of a symbol that GLPK takes


def symbol(name: str) -> str:
    """An id as GLPK reads it, in quotes where it must be."""
    if len(name) > LONGEST or "\n" in name:
        raise InputError(f"GLPK takes ids of up to {LONGEST} characters on one line, not {name[:20]!r}...")
    return name if PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def set_of(name: str, members: Sequence[str]) -> str:
    """``set NAME := a b c;``."""
    return f"set {name} := {' '.join(members)};"


def vector(name: str, keys: Sequence[str], values: Iterable[object]) -> str:
    """``param NAME := key value, key value;``."""
    return f"param {name} := {', '.join(f'{key} {_text(value)}' for key, value in zip(keys, values, strict=True))};"


def table(name: str, rows: Sequence[str], columns: Sequence[str], values: Iterable[Iterable[object]]) -> str:
    """A parameter of two indices, a line a row; values (rows, columns) numbers."""
    body = [f"{row} {' '.join(map(_text, entries))}" for row, entries in zip(rows, values, strict=True)]
    return f"param {name} : {' '.join(columns)} :=\n" + "\n".join(body) + ";"


def section(lines: Iterable[str]) -> str:
    """The lines between ``data;`` and ``end;``."""
    return "\n".join(["data;", "", *lines, "", "end;"]) + "\n"


def _text(value: object) -> str:
    return value if isinstance(value, str) else f"{float(value):.17g}"  # type: ignore[arg-type]
