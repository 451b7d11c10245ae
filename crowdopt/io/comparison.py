"""A comparison on disk: tables, one JSON object, a page; timings apart, because they differ between equal runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crowdopt.crowd.errors import InputError
from crowdopt.io.folder import check_target, write_text
from crowdopt.io.tables import write_table

COMPARISON = "comparison.json"
WORK = "work"  # finished rows and what they share; a second start goes on from there


def check_comparison(folder: Path, force: bool) -> None:
    """Refuse a folder that holds a finished comparison or something else.

    Raises
    ------
    InputError
        The sentence says which.
    """
    if (folder / COMPARISON).exists() and not force:
        raise InputError(f"{folder} already holds a comparison; choose another name or pass --force to replace it")
    ours = folder.is_dir() and ((folder / COMPARISON).exists() or (folder / WORK).is_dir())
    if not ours:
        check_target(folder, COMPARISON, force=folder.is_dir())


def write_comparison_tables(
    folder: Path,
    facts: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    summary: Sequence[Mapping[str, Any]],
    timings: Sequence[Mapping[str, Any]],
    page: str,
) -> None:
    """Write trials.csv, summary.csv, timings.csv, comparison.md, and comparison.json last: it marks the whole.

    Equal input and seed give equal bytes, but for timings.csv and the timings on the page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("trials.csv", rows), ("summary.csv", summary), ("timings.csv", timings)):
        if lines:
            header = list(dict.fromkeys(key for line in lines for key in line))
            columns = [[_cell(line.get(key)) for line in lines] for key in header]
            write_table(folder / name, header, columns, force=True)
    write_text(folder / "comparison.md", page)
    text = json.dumps({**facts, "policies": list(summary)}, ensure_ascii=False, indent=1, allow_nan=False)
    write_text(folder / COMPARISON, text + "\n")


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(value)
    return "" if value is None else value
