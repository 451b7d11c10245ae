"""Points of a program as files ``.sol``: a line ``name value`` for each column that is not 0, as solvers write it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crowdopt.arrays import Floats, places
from crowdopt.errors import InputError
from crowdopt.files import write_text
from crowdopt.io.programs.mps import numbers

HEADS = ("=obj=", "#", "solution status:", "objective value:", "no solution")  # of lines that are about the point
COLUMNS, ROWS = "# Columns", "# Rows"  # HiGHS has the point between such lines
ALIASES = ("%", "$")  # files of proof have the latter in names where programs have the former


def write_sol(path: Path, names: Sequence[str], point: Floats, value: float) -> None:
    """Write the point, its value first; point (columns,)."""
    there = np.flatnonzero(point)
    lines = [f"{names[k]} {text}" for k, text in zip(there.tolist(), numbers(point[there]), strict=True)]
    write_text(path, "\n".join([f"=obj= {numbers(np.array([value]))[0]}", *lines]) + "\n")


def read_sol(path: Path, names: Sequence[str]) -> Floats:
    """The point in a file, (columns,): columns that it does not name are 0. Raises InputError, with the line."""
    place = places(name.replace(*ALIASES) for name in names)
    point = np.zeros(len(names))
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    first, last = (next((k for k, line in enumerate(lines) if line.startswith(head)), None) for head in (COLUMNS, ROWS))
    for number, line in enumerate(lines[first:last], 1 + (first or 0)):
        words = line.split()
        if not words or line.lower().startswith(HEADS):
            continue
        if len(words) < 2 or words[0].replace(*ALIASES) not in place:
            raise InputError(
                f"{path.name}, line {number}: {words[0]} is no column of this program, or has no value; "
                "write a line NAME VALUE for each column that is not 0"
            )
        try:
            point[place[words[0].replace(*ALIASES)]] = float(words[1])
        except ValueError:
            raise InputError(f"{path.name}, line {number}: {words[1]} is no number") from None
    if not np.isfinite(point).all():
        raise InputError(f"{path.name}: a value is not finite; write numbers")
    return point
