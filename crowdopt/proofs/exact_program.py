"""A program in fractions: each number as it is written in decimals, each finite side a constraint with a number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from crowdopt.arrays import Bools, Floats
from crowdopt.core.program import Program

Terms: TypeAlias = tuple[Sequence[int], Sequence[Fraction]]  # columns, and their factors

NONE = -1  # a side that is not there
ZERO, ONE = Fraction(0), Fraction(1)


class Constraint(NamedTuple):
    """``sum_k values_k x_{columns_k} >= side`` (sense G), ``<=`` (L) or ``=`` (E)."""

    sense: str
    side: Fraction
    columns: Sequence[int]
    values: Sequence[Fraction]


class ExactProgram:
    """``min c'x`` over constraints that are numbered as a file numbers them: bounds of columns first, then rows.

    ``low``, ``high`` (columns,) and ``row_low``, ``row_high`` (rows,) are the numbers of the sides' constraints, NONE
    where a side is infinite; both sides of an equation are one constraint.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.cost = fractions(program.cost)
        self.integer: list[bool] = program.integer.tolist()
        self.constraints: list[Constraint] = []
        nowhere = np.zeros(program.cost.size, bool)
        boxes: list[Terms] = [((k,), (ONE,)) for k in range(program.cost.size)]
        self.low, self.high = self._sides(program.lower, program.upper, nowhere, boxes)
        self.bounds = len(self.constraints)
        equal = np.isfinite(program.row_lower) & (program.row_lower == program.row_upper)
        self.row_low, self.row_high = self._sides(program.row_lower, program.row_upper, equal, _rows(program))
        self._row = {number: row for side in (self.row_low, self.row_high) for row, number in enumerate(side)}

    def _sides(self, lower: Floats, upper: Floats, equal: Bools, terms: list[Terms]) -> tuple[list[int], list[int]]:
        low, high = [NONE] * len(terms), [NONE] * len(terms)
        for numbers, sides, sense in ((low, lower, "G"), (high, upper, "L")):
            for k in np.flatnonzero(np.isfinite(sides)).tolist():
                if equal[k] and sense == "L":
                    high[k] = low[k]
                    continue
                numbers[k] = len(self.constraints)
                said = "E" if equal[k] else sense
                self.constraints.append(Constraint(said, _fraction(float(sides[k])), *terms[k]))
        return low, high

    def row_of(self, number: int) -> int:
        """The row that a constraint is a side of."""
        return self._row[number]

    def side_of(self, number: int) -> Fraction:
        """The side of a constraint."""
        return self.constraints[number].side

    def value(self, point: list[Fraction]) -> Fraction:
        """What a point costs; point (columns,)."""
        return sum((c * x for c, x in zip(self.cost, point, strict=True) if x), ZERO)

    def broken(self, point: list[Fraction]) -> int:
        """The number of the first constraint that a point breaks; NONE: it keeps all, or there is no point."""
        if not point:
            return NONE
        for number, (sense, side, columns, values) in enumerate(self.constraints):
            total = sum((a * point[k] for k, a in zip(columns, values, strict=True) if point[k]), ZERO)
            if (total < side and sense in "GE") or (total > side and sense in "LE"):
                return number
        return NONE


def fractions(values: Floats) -> list[Fraction]:
    """Each number as it is written in the fewest decimals that read back as it: .1 is a tenth; values (k,): finite."""
    return [_fraction(value) for value in values.tolist()]


@lru_cache(maxsize=1 << 20)
def _fraction(value: float) -> Fraction:
    return Fraction(repr(value))


def _rows(program: Program) -> list[Terms]:
    matrix = program.matrix.tocsr()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    ends, columns, values = matrix.indptr.tolist(), matrix.indices.tolist(), fractions(matrix.data)
    return [(columns[a:b], values[a:b]) for a, b in pairwise(ends)]
