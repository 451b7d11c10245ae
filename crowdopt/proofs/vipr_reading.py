"""What a VIPR file is about: its program held against one that is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple, TypeAlias

from crowdopt.errors import InputError
from crowdopt.proofs.exact_program import ExactProgram

Row: TypeAlias = tuple[str, frozenset[tuple[str, Fraction]]]  # L, E or G; factor of each column, and the side of ""


class FileHead(NamedTuple):
    """The program of a file, and its claim."""

    whole: frozenset[str]
    goal: Mapping[str, Fraction]
    rows: frozenset[Row]
    low: Fraction | None  # None: no bound is claimed


def read_head(path: Path) -> FileHead:
    """Everything before the solutions; raises InputError where that is no program of a minimum."""
    try:
        with path.open(encoding="utf-8") as file:
            return _head(word for line in file if not line.startswith("%") for word in line.split())
    except (StopIteration, RuntimeError):
        error: object = "it ends early"
    except (OSError, ValueError, ZeroDivisionError) as found:
        error = found
    raise InputError(f"{path.name} is no VIPR file of a minimum with a range: {error}")


def foreign_part(head: FileHead, exact: ExactProgram, names: Sequence[str]) -> str:
    """What a file assumes that the program does not say, in words; empty: its bound is one of the program's.

    Fewer constraints, or fewer whole columns, prove as well.
    """
    named = [name.replace("%", "$") for name in names]
    if {name: cost for name, cost in zip(named, exact.cost, strict=True) if cost} != head.goal:
        return "its objective is another one"
    if head.whole - {name for name, whole in zip(named, exact.integer, strict=True) if whole}:
        return "it takes columns for whole that need not be"
    own = set()
    for sense, side, columns, values in exact.constraints:
        row = {named[k]: value for k, value in zip(columns, values, strict=True)}
        own |= {_scaled(one, row, side) for one in ("LG" if sense == "E" else "") + sense}
    more = len(head.rows - own)
    return f"{more} of its constraints are not the program's" if more else ""


def _head(words: Iterator[str]) -> FileHead:
    _expect(words, "VER", "1.0", "VAR")
    columns = [next(words).replace("%", "$") for _ in range(int(next(words)))]
    _expect(words, "INT")
    whole = frozenset(columns[int(next(words))] for _ in range(int(next(words))))
    _expect(words, "OBJ", "min")
    goal = _pairs(words, columns, next(words), {})
    _expect(words, "CON")
    count = int(next(words))
    next(words)
    rows = frozenset(_row(words, columns, goal) for _ in range(count))
    _expect(words, "RTP", "range")
    low = next(words)
    return FileHead(whole, goal, rows, None if low == "-inf" else Fraction(low))


def _expect(words: Iterator[str], *wanted: str) -> None:
    for word in wanted:
        found = next(words)
        if found != word:
            raise ValueError(f"{word} expected, not {found[:40]}")


def _row(words: Iterator[str], columns: Sequence[str], goal: Mapping[str, Fraction]) -> Row:
    next(words)  # its name
    sense, side = next(words), Fraction(next(words))
    return _scaled(sense, _pairs(words, columns, next(words), goal), side)


def _pairs(
    words: Iterator[str], columns: Sequence[str], size: str, goal: Mapping[str, Fraction]
) -> Mapping[str, Fraction]:
    if size == "OBJ":
        return goal
    pairs = [(int(next(words)), Fraction(next(words))) for _ in range(int(size))]
    if any(not 0 <= k < len(columns) for k, _ in pairs) or len({k for k, _ in pairs}) < len(pairs):
        raise ValueError("a column is there twice, or not at all")
    return {columns[k]: value for k, value in pairs if value}


def _scaled(sense: str, row: Mapping[str, Fraction], side: Fraction) -> Row:
    """The row so that the first column, by name, has factor 1."""
    if sense not in "LEG" or not row:
        return sense, frozenset({("", side), *row.items()})
    first = row[min(row)]
    turned = {"L": "G", "G": "L"}.get(sense, sense) if first < 0 else sense
    return turned, frozenset([("", side / first), *((name, value / first) for name, value in row.items())])
