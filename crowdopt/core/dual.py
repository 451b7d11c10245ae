"""The mechanical dual of a linear program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Block, Program, stack


@dataclass(frozen=True, eq=False)
class _Side:
    """One finite side of a block of the primal: a block of dual columns, all of them >= 0."""

    name: str
    shape: tuple[int, ...]
    entries: sparse.csc_array  # (primal columns, size): its part of A'y + w - t
    worth: Floats  # its part of the dual objective, to be maximised
    present: NDArray[np.bool_]


def dualize(program: Program) -> Program:
    """The LP dual, written as a minimum.

    ``max  r_l'y+ - r_u'y- + l'w - u't   s.t.  A'(y+ - y-) + w - t = c,  all >= 0``, one block of columns for
    each side of each block that is finite somewhere: ``cover.lower``, ``capacity.upper``, ``y.upper``. A column
    whose lower side is 0 needs no w: its dual row is ``A'(y+ - y-) - t <= c`` instead. The dual's optimum is
    minus the primal's. Rows keep the names of the primal's columns.

    Raises ValueError if the program has integer columns: relax it first.
    """
    if program.integer.any():
        raise ValueError(f"program {program.name} has integer columns: dualize(relax(program))")
    sides = [*_row_sides(program), *_column_sides(program)]
    count = program.cost.size
    entries = [side.entries for side in sides] or [sparse.csc_array((count, 0))]
    present = np.concatenate([side.present for side in sides] or [np.zeros(0, bool)])
    rests_at_zero = program.lower == 0
    return Program(
        name=f"{program.name}-dual",
        cost=-np.concatenate([side.worth for side in sides] or [np.zeros(0)]),
        matrix=sparse.hstack(entries, format="csc"),
        row_lower=np.where(rests_at_zero, -np.inf, program.cost),
        row_upper=program.cost.copy(),
        lower=np.zeros(present.size),
        upper=np.where(present, np.inf, 0.0),
        integer=np.zeros(present.size, bool),
        columns=stack((side.name, side.shape) for side in sides),
        rows=program.columns,
        about=program.about,
    )


def _row_sides(program: Program) -> list[_Side]:
    transposed = program.matrix.T.tocsc()
    sides = []
    for block in program.rows:
        part = transposed[:, block.span]
        sides.append(_side(block, "lower", part, program.row_lower[block.span]))
        sides.append(_side(block, "upper", -part, -program.row_upper[block.span]))
    return [side for side in sides if side.present.any()]


def _column_sides(program: Program) -> list[_Side]:
    identity = sparse.eye_array(program.cost.size, format="csc")
    sides = []
    for block in program.columns:
        part, floor = identity[:, block.span], program.lower[block.span]
        sides.append(_side(block, "lower", part, np.where(floor == 0, np.inf, floor)))
        sides.append(_side(block, "upper", -part, -program.upper[block.span]))
    return [side for side in sides if side.present.any()]


def _side(block: Block, name: str, entries: sparse.csc_array, worth: Floats) -> _Side:
    present = np.isfinite(worth)
    return _Side(f"{block.name}.{name}", block.shape, entries, np.where(present, worth, 0.0), present)
