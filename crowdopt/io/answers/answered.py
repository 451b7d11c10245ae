"""A table of answers as an audit takes it: the answer to each task, and what error is claimed for it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from crowdopt.arrays import Floats
from crowdopt.errors import InputError
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import ANSWERS


@dataclass(frozen=True, eq=False)
class AnsweredTable:
    """Answers in the order of their table."""

    path: Path  # the file they were read from
    digest: str  # SHA-256 of its bytes, as ``sha256sum`` prints it
    tasks: tuple[str, ...]  # each task and its answer
    labels: tuple[str, ...]  # an empty answer is a wrong one
    claims: Floats | None  # (tasks,): claimed probability that each is wrong


def read_answered(path: str | Path) -> AnsweredTable:
    """Read what ``aggregate`` wrote: a table, or a folder with an answers.csv in it.

    Columns task and label (or answer), and optionally error or confidence, a probability; others are ignored.
    """
    place = Path(path)
    place = place / "answers.csv" if place.is_dir() else place
    table = read_table(place, ANSWERS)
    column = next((name for name in ("label", "answer") if name in table), None)
    if column is None:
        raise InputError(f"{place.name}, line 1: there is no column 'label' (or 'answer') with the answers")
    if not table.rows:
        raise InputError(f"{place.name} has no answers; an audit needs at least one")
    claims = None
    for name in ("error", "confidence"):
        if name in table and claims is None:
            claims = table.numbers(name)
            outside = (claims < 0) | (claims > 1)
            if outside.any():
                raise table.error(int(outside.argmax()), name, "is no probability; it must lie in [0, 1]")
            claims = claims if name == "error" else 1 - claims
    tasks, labels = tuple(table.unique_ids("task")), tuple(table[column])
    return AnsweredTable(place, sha256(place.read_bytes()).hexdigest(), tasks, labels, claims)
