"""A comparison on disk: tables and one JSON object; timings apart, because they differ between equal runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crowdopt.documents import write_json
from crowdopt.errors import InputError
from crowdopt.io.tables.cells import write_table
from crowdopt.io.tables.folder import check_target

COMPARISON = "comparison.json"
WORK = "work"  # finished rows and what they share; a second start goes on from there


def check_comparison(folder: Path, force: bool, mark: str = COMPARISON) -> None:
    """Refuse a folder that holds a finished comparison or something else; ``mark`` is the file that tells it."""
    if (folder / mark).exists() and not force:
        raise InputError(f"{folder} already holds a comparison; choose another name or pass --force to replace it")
    ours = folder.is_dir() and ((folder / mark).exists() or (folder / WORK).is_dir())
    if not ours:
        check_target(folder, mark, force=folder.is_dir())


def write_comparison_tables(
    folder: Path,
    facts: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    summary: Sequence[Mapping[str, Any]],
    timings: Sequence[Mapping[str, Any]],
) -> None:
    """Write trials.csv, summary.csv, timings.csv, and comparison.json last: it marks the whole.

    Equal input and seed give equal bytes, but for timings.csv.

    facts: what comparison.json says beside the summary; rows, summary, timings: lines of the tables; a key is a column.
    """
    write_lines(folder, {"trials.csv": rows, "summary.csv": summary, "timings.csv": timings})
    write_json(folder / COMPARISON, {**facts, "policies": list(summary)})


def write_lines(folder: Path, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Write lists of lines as CSV tables, one column for each key; a table without lines is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in tables.items():
        if lines:
            header = list(dict.fromkeys(key for line in lines for key in line))
            columns = [[_cell(line.get(key)) for line in lines] for key in header]
            write_table(folder / name, header, columns, force=True)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(value)
    return "" if value is None else value
