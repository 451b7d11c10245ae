"""The index of our instance library: what is known of each program, by whom and since when; the programs are drawn."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from crowdopt.bench.harness.judge import CLOSED
from crowdopt.bench.harness.library import FACTS, KNOWN
from crowdopt.errors import InputError
from crowdopt.io.tables.cells import write_csv

SHIPPED = "library.csv"  # in assets
COLUMNS = (*FACTS, "status", *KNOWN, "proof", "settled", "date", "sha256", "origin", "licence")
EASY, HARD, OPEN = "easy", "hard", "open"  # HiGHS settles it as it comes; another method does; none does
NUMBERS = ("value", "bound", "vouched")
WHOLE = ("seed", "columns", "rows", "entries", "integers")


def shipped() -> dict[str, dict[str, Any]]:
    """The index that comes with the package, by file."""
    return read_index(Path(str(files("crowdopt.bench") / "assets" / SHIPPED)))


def read_index(path: Path) -> dict[str, dict[str, Any]]:
    """A row for each file; numbers are numbers, and what is not there is None."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
            return {row["file"]: _read(row) for row in rows}
    except (OSError, UnicodeError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise InputError(f"{path} is no index of an instance library: {error}") from None


def write_index(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write rows as :func:`read_index` reads them."""
    write_csv(path, COLUMNS, [["" if row[name] is None else row[name] for row in rows] for name in COLUMNS])


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    return sha256(path.read_bytes()).hexdigest()


def with_better(row: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The row with what the other, of the same program, knows better: its value, its bound, who settles it."""
    found, names = dict(row), set(row["settled"].split())
    if beats(other["value"], row["value"], -1):
        found |= {key: other[key] for key in ("value", "date")}
        names = set()
    if not beats(row["value"], other["value"], -1):
        names |= set(other["settled"].split())
    if beats(other["bound"], row["bound"], 1):
        found |= {key: other[key] for key in ("bound", "proof", "date")}
    if beats(other["vouched"], row["vouched"], 1):
        found |= {key: other[key] for key in ("vouched", "by")}
    found["settled"] = " ".join(sorted(names))
    return found | {"status": status_of(found)}


def beats(new: float | None, old: float | None, sign: int) -> bool:
    """Whether a value (sign -1) or a bound (sign 1) is better than what was known, by more than rounding."""
    return new is not None and (old is None or sign * (new - old) > CLOSED * max(1.0, abs(old)))


def status_of(row: dict[str, Any]) -> str:
    """easy, hard or open: by who settles it, and by whether value and proven bound meet."""
    value, bound = row["value"], row["bound"]
    meets = value is not None and bound is not None and value - bound <= CLOSED * max(1.0, abs(value))
    if "highs" in row["settled"].split():
        return EASY
    return HARD if row["settled"] or meets else OPEN


def counts(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """How many of each status."""
    found = [row["status"] for row in rows]
    return {status: found.count(status) for status in (EASY, HARD, OPEN)}


def _read(row: dict[str, str]) -> dict[str, Any]:
    numbers = {name: float(row[name]) if row[name] else None for name in NUMBERS}
    return {name: row[name] for name in COLUMNS} | numbers | {name: int(row[name]) for name in WHOLE}
