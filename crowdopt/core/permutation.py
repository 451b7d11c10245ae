"""A program with its columns and rows in another order: the same mathematics, another search for a solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.program import Program, stack


@dataclass(frozen=True, eq=False)
class Permuted:
    """A program in another order, and the way back."""

    program: Program  # its blocks are one of columns, ``x``, and one of rows, ``row``: names have no order to keep
    # where each of its columns, and rows, stood before
    columns: Ints  # (columns,)
    rows: Ints  # (rows,)

    def point(self, values: Floats | None) -> Floats | None:
        """(columns,): values of the columns in the first order."""
        return _back(values, self.columns)

    def multipliers(self, values: Floats | None) -> Floats | None:
        """(rows,): values of the rows in the first order."""
        return _back(values, self.rows)


def permuted(program: Program, rng: np.random.Generator) -> Permuted:
    """``min (Pc)'x  s.t.  Qb <= (Q A P') x <= Qb'`` with P and Q drawn uniformly."""
    columns, rows = rng.permutation(program.cost.size), rng.permutation(program.row_lower.size)
    shuffled = Program(
        name=program.name,
        cost=program.cost[columns],
        matrix=program.matrix[:, columns].tocsr()[rows].tocsc(),
        row_lower=program.row_lower[rows],
        row_upper=program.row_upper[rows],
        lower=program.lower[columns],
        upper=program.upper[columns],
        integer=program.integer[columns],
        columns=stack([("x", columns.shape)]),
        rows=stack([("row", rows.shape)]),
        about=program.about,
    )
    return Permuted(shuffled, columns, rows)


def _back(values: Floats | None, places: Ints) -> Floats | None:
    if values is None or values.shape != places.shape:
        return values
    back = np.empty_like(values)
    back[places] = values
    return back
