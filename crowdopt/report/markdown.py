"""Text for Markdown pages: whatever an id or a title holds is shown as it is, and never taken for markup."""

from __future__ import annotations

from collections.abc import Sequence

MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "\\|", "\n": " ", "\r": " ", "`": "\\`"})


def escaped(text: object) -> str:
    """A text without HTML and without what would end a cell of a table."""
    return str(text).translate(MARKUP)


def rows_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, its cells escaped."""
    return [f"| {' | '.join(map(escaped, cells))} |" for cells in (head, ["---"] * len(head), *rows)]
