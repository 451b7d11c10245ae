"""Programs in free MPS."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats
from crowdopt.core.program import Program
from crowdopt.io.programs.naming import MPS, OBJECTIVE, Ids, names_of

START, STOP = " MARKER 'MARKER' 'INTORG'", " MARKER 'MARKER' 'INTEND'"  # around a run of integer columns


def text(program: Program, ids: Ids) -> str:
    """The program in free MPS, a minimum as everywhere here.

    A row with two sides is an L row with a range, which the format writes as a difference; every other number is
    exact. A row without sides is an N row behind the objective's: readers may drop it. What the program is about is a
    comment in front.
    """
    columns, rows = (names_of(blocks, ids, MPS) for blocks in (program.columns, program.rows))
    lines = [f"* {program.about}"] * bool(program.about)
    lines += [f"NAME {MPS.spell(program.name)}", "ROWS", f" N {OBJECTIVE}"]
    lines += [f" {kind} {name}" for kind, name in zip(_kinds(program), rows, strict=True)]
    lines += ["COLUMNS", *_entries(program, columns, rows)]
    lines += ["RHS", *_sides(program, rows), *_ranges(program, rows)]
    lines += ["BOUNDS", *_bounds(program, columns), "ENDATA"]
    return "\n".join(lines) + "\n"


def numbers(values: Floats) -> list[str]:
    """Each number in the fewest digits that read back as the same float64; values (k,): finite."""
    return [repr(value).removesuffix(".0") for value in (values + 0.0).tolist()]


def _kinds(program: Program) -> list[str]:
    below, above = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
    equal = below & (program.row_lower == program.row_upper)
    kinds: list[str] = np.select([equal, above, below], ["E", "L", "G"], "N").tolist()
    return kinds


def _entries(program: Program, columns: list[str], rows: list[str]) -> Iterator[str]:
    """Column by column: the objective's entry first, then the rows'. A column without any gets a 0 there."""
    place, row, value = _triplets(program)
    texts, named = numbers(value), [*rows, OBJECTIVE]  # row -1 is the objective
    lines = [f" {columns[k]} {named[i]} {v}" for k, i, v in zip(place.tolist(), row.tolist(), texts, strict=True)]
    switches = np.flatnonzero(np.diff(program.integer, prepend=False))
    starts = np.searchsorted(place, switches).tolist()
    for begin, end, whole in zip([0, *starts], [*starts, len(lines)], [False, *program.integer[switches]], strict=True):
        yield from [START, *lines[begin:end], STOP] if whole else lines[begin:end]


def _triplets(program: Program) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    matrix = program.matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    per_column = np.diff(matrix.indptr)
    priced = np.flatnonzero((program.cost != 0) | (per_column == 0))
    place = np.concatenate([priced, np.repeat(np.arange(per_column.size), per_column)])
    row = np.concatenate([np.full(priced.size, -1), matrix.indices])
    order = np.argsort(place, kind="stable")
    return place[order], row[order], np.concatenate([program.cost[priced], matrix.data])[order]


def _sides(program: Program, rows: list[str]) -> list[str]:
    side = np.where(np.isfinite(program.row_upper), program.row_upper, program.row_lower)
    there = np.flatnonzero(np.isfinite(side) & (side != 0))
    return [f" RHS {rows[i]} {v}" for i, v in zip(there.tolist(), numbers(side[there]), strict=True)]


def _ranges(program: Program, rows: list[str]) -> list[str]:
    below, above = program.row_lower, program.row_upper
    there = np.flatnonzero(np.isfinite(below) & np.isfinite(above) & (below != above))
    spans = numbers(above[there] - below[there])
    return ["RANGES"] * bool(there.size) + [f" RNG {rows[i]} {v}" for i, v in zip(there.tolist(), spans, strict=True)]


def _bounds(program: Program, columns: list[str]) -> list[str]:
    """Every bound but 0 and infinity; those of integer columns all, since readers' defaults differ."""
    lower, upper = program.lower, program.upper
    stated = np.flatnonzero((lower != 0) | np.isfinite(upper) | program.integer)
    low, high = numbers(lower[stated]), numbers(upper[stated])
    lines: list[str] = []
    for k, down, up in zip(stated.tolist(), low, high, strict=True):
        lines += [f" {kind} BND {columns[k]}{value}" for kind, value in _bound(down, up)]
    return lines


def _bound(down: str, up: str) -> list[tuple[str, str]]:
    if down == up:
        return [("FX", f" {down}")]
    if down == "-inf" and up == "inf":
        return [("FR", "")]
    below = [("MI", "")] if down == "-inf" else [("LO", f" {down}")]
    above = [("PL", "")] if up == "inf" else [("UP", f" {up}")]
    return above if down == "0" and not up.startswith("-") else below + above
