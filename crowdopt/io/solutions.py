"""What somebody says solves a program: tables ``column,value`` and ``row,value``, HiGHS's solution file, objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdopt.arrays import Floats, places
from crowdopt.errors import InputError
from crowdopt.io.cells import TableLike
from crowdopt.io.program_reading import NamedProgram, read_text
from crowdopt.io.schema import TableKind
from crowdopt.io.tables import read_table

POINT, DUALS = TableKind("column,value", "a point"), TableKind("row,value", "multipliers")
HIGHS = "Model status"  # the first line of its solution files


@dataclass(frozen=True, eq=False)
class Stated:
    """A program, and what is said to solve it."""

    named: NamedProgram
    point: Floats | None  # (columns,)
    dual: Floats | None  # (rows,): by how much the objective grows with a row's sides, in the model's own sense
    claim: str = ""  # what the solver says, where the file tells it


def with_solution(stated: Stated, solution: TableLike | None, duals: TableLike | None) -> Stated:
    """The program with this solution and these multipliers, where they are given."""
    point, dual, claim = stated.point, stated.dual, stated.claim
    if isinstance(solution, str | Path) and (lines := _solution_file(Path(solution))):
        point, found, claim = _of_file(stated.named, lines, Path(solution).name)
        dual = found if found is not None else dual
    elif solution is not None:
        point = placed(stated.named.columns, *_read(solution, POINT), "column")
    if duals is not None:
        dual = placed(stated.named.rows, *_read(duals, DUALS), "row")
    return Stated(stated.named, point, dual, claim)


def _read(source: TableLike, kind: TableKind) -> tuple[list[str], list[float], str]:
    table = read_table(source, kind)
    return table.unique_ids(kind.required[0]), table.numbers("value").tolist(), table.path.name


def placed(names: Sequence[str], given: Sequence[str], values: Sequence[float], source: str, what: str) -> Floats:
    """Values by the names of a model; one that is not given is 0, as in a solver's short list."""
    place, placed = places(names), np.zeros(len(names))
    strange = next((name for name in given if name not in place), None)
    if strange is not None:
        raise InputError(f"{source}: the model has no {what} {strange!r}")
    placed[[place[name] for name in given]] = values
    if what == "column" and "CONSTANT" in place and "CONSTANT" not in given:
        placed[place["CONSTANT"]] = 1.0  # of the objective
    return placed


def _solution_file(path: Path) -> list[str]:
    lines = read_text(path) if path.is_file() else []
    return lines if lines and lines[0].startswith(HIGHS) else []


def _of_file(named: NamedProgram, lines: list[str], source: str) -> tuple[Floats | None, Floats | None, str]:
    """Point, multipliers and status of HiGHS's solution file (``write_solution_to_file``, style raw)."""
    parts: dict[tuple[str, str], Floats] = {}
    kind, k = "", 2
    while k < len(lines) and not lines[k].startswith("# Basis"):
        words = lines[k].split()
        if lines[k].startswith("# Primal") or lines[k].startswith("# Dual"):
            kind = words[1]
        if len(words) == 3 and words[0] == "#" and words[1] in ("Columns", "Rows") and words[2].isdigit():
            rows = [line.rsplit(maxsplit=1) for line in lines[k + 1 : k + 1 + int(words[2])]]
            names = named.columns if words[1] == "Columns" else named.rows
            try:
                given = [name for name, _ in rows], [float(value) for _, value in rows]
            except ValueError:
                raise InputError(f"{source}, line {k + 2}: this is no name with a number") from None
            parts[kind, words[1]] = placed(names, *given, source, words[1][:-1].lower())
            k += int(words[2])
        k += 1
    return parts.get(("Primal", "Columns")), parts.get(("Dual", "Rows")), lines[1].strip().lower()
