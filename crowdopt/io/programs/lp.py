"""Programs in the CPLEX LP format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from crowdopt.core.program import Block, Program
from crowdopt.io.programs.mps import numbers
from crowdopt.io.programs.naming import LP, OBJECTIVE, Ids, check_unique, names_of

WIDTH = 120  # characters in a line, where a single name leaves room: readers refuse more than 560


def text(program: Program, ids: Ids) -> str:
    """The program in the CPLEX LP format, a minimum as everywhere here; every number is exact.

    Not every reader of this format knows rows with two sides: such a row becomes two, ``capacity.lower(ada)`` and
    ``capacity.upper(ada)``. A row without sides is left out.
    """
    columns = names_of(program.columns, ids, LP)
    lines = [f"\\ {LP.spell(program.name)}", *[f"\\ {program.about}"] * bool(program.about)]
    lines += ["Minimize", *_objective(program, columns)]
    lines += ["Subject To", *_rows(program, columns, ids)]
    lines += ["Bounds", *_bounds(program, columns), *_integers(program, columns), "End"]
    return "\n".join(lines) + "\n"


def _objective(program: Program, columns: list[str]) -> Iterator[str]:
    named = np.flatnonzero((program.cost != 0) | (np.diff(program.matrix.indptr) == 0))
    return _sum(f"{OBJECTIVE}:", numbers(program.cost[named]), [columns[k] for k in named.tolist()])


def _rows(program: Program, columns: list[str], ids: Ids) -> Iterator[str]:
    matrix = program.matrix.tocsr()
    matrix.sum_duplicates()
    ends, index, entries = matrix.indptr.tolist(), matrix.indices.tolist(), numbers(matrix.data)
    sides = list(_sides(program, ids))
    check_unique([name for name, *_ in sides])
    for name, row, side in sides:
        span = slice(ends[row], ends[row + 1])
        names = [columns[k] for k in index[span]]
        yield from _sum(f"{name}:", entries[span] or ["0"], names or columns[:1])
        yield f" {side}"


def _sides(program: Program, ids: Ids) -> Iterator[tuple[str, int, str]]:
    """Name, row and side of each line, block by block; a row with two sides comes twice."""
    below, above = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
    equal = below & (program.row_lower == program.row_upper)
    low, high = numbers(program.row_lower), numbers(program.row_upper)
    plain, lower, upper = (names_of(_suffixed(program.rows, end), _also(ids, end), LP) for end in _ENDS)
    for row in range(below.size):
        if equal[row]:
            yield plain[row], row, f"= {low[row]}"
            continue
        both = below[row] and above[row]
        if below[row]:
            yield (lower if both else plain)[row], row, f">= {low[row]}"
        if above[row]:
            yield (upper if both else plain)[row], row, f"<= {high[row]}"


_ENDS = ("", ".lower", ".upper")


def _suffixed(blocks: Sequence[Block], end: str) -> list[Block]:
    return [replace(block, name=block.name + end) for block in blocks]


def _also(ids: Ids, end: str) -> Ids:
    return {name + end: axes for name, axes in ids.items()}


def _sum(head: str, entries: list[str], names: list[str]) -> Iterator[str]:
    """``head: + 0.64 y(a,b) - z(b) ...``, broken into lines of WIDTH characters or one term."""
    line = f" {head}"
    for entry, name in zip(entries, names, strict=True):
        sign, size = ("-", entry[1:]) if entry.startswith("-") else ("+", entry)
        term = f" {sign} {name}" if size == "1" else f" {sign} {size} {name}"
        if len(line) + len(term) > WIDTH:
            yield line
            line = " "
        line += term
    yield line


def _bounds(program: Program, columns: list[str]) -> list[str]:
    stated = np.flatnonzero((program.lower != 0) | np.isfinite(program.upper))
    low, high = numbers(program.lower[stated]), numbers(program.upper[stated])
    return [_bound(columns[k], down, up) for k, down, up in zip(stated.tolist(), low, high, strict=True)]


def _bound(name: str, down: str, up: str) -> str:
    if down == up:
        return f" {name} = {down}"
    if down == "-inf" and up == "inf":
        return f" {name} free"
    return f" {name} >= {down}" if up == "inf" else f" {down} <= {name} <= {up}"


def _integers(program: Program, columns: list[str]) -> list[str]:
    whole = [f" {columns[k]}" for k in np.flatnonzero(program.integer).tolist()]
    return ["Generals", *whole] if whole else []
