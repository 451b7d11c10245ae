"""The page of an instance library: every program with what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crowdopt.files import write_text
from crowdopt.report.page import Page, PageTable, Section, html

COLUMNS = (
    "file",
    "kind",
    "columns",
    "rows",
    "entries",
    "integers",
    "value",
    "bound",
    "vouched",
    "by",
    "origin",
    "licence",
)
NOTES = {
    "integers": "columns that must be whole",
    "value": "of the best point known, FILE.point.csv",
    "bound": "what the multipliers in FILE.multipliers.csv prove",
    "vouched": "a higher bound, on the word of the method beside it",
}
CHECKED = "Values and bounds follow from the files beside the programs: python3 check.py recomputes them in fractions."
UNKNOWN = (
    "Nothing was solved: with --time-limit 60 best values, bounds and their certificates stand beside the programs."
)


def library_page(rows: Sequence[dict[str, Any]], folder: Path) -> None:
    """Write ``index.html`` into the library's folder; rows: a row for each program, as ``index.csv`` has it."""
    known = sum(row["value"] is not None for row in rows)
    closed = sum(row["value"] is not None and _is_closed(row) for row in rows)
    verdict = [
        f"{len(rows)} programs; of {known} a point is known, of {closed} it is proven, or vouched, to be the best."
    ]
    columns = {name: name for name in COLUMNS if name in rows[0]}
    said = CHECKED if known else UNKNOWN
    table = PageTable(columns, rows, NOTES, said)
    page = Page("An instance library", verdict, [Section("Programs", [table])])
    write_text(folder / "index.html", html(page), replace=True)


def _is_closed(row: dict[str, Any]) -> bool:
    bound = row["bound"] if row["vouched"] is None else row["vouched"]
    return bound is not None and row["value"] - bound <= 1e-6 * max(1.0, abs(row["value"]))
