"""A linear program that grows by columns: what column generation needs of a solver.

Programs solved again with other numbers: what a session keeps of them between solves, for any solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program
from crowdopt.core.solution import Solution


@dataclass(frozen=True, eq=False)
class MasterPoint:
    """An optimum of the master."""

    value: float
    primal: Floats  # (columns,): its point
    dual: Floats  # (rows,): its multipliers, in the house's sign


class Master(Protocol):
    """``min c'x  s.t.  row_lower <= A x <= row_upper, x >= 0``, kept warm between solves.

    Its answers steer; no bound rests on them.
    """

    def add_columns(self, cost: Floats, matrix: sparse.csc_array) -> None:
        """Append columns, in [0, inf)."""
        ...

    def solve(self, seconds: float) -> MasterPoint | None:
        """Solve on from the last basis; None where that fails or takes longer."""
        ...


MakeMaster: TypeAlias = Callable[[Program], Master]  # from the LP with the columns to begin with, all in [0, inf)


class Warm(Protocol):
    """A library's own objects of a program, kept between solves."""

    def solve(self, program: Program, changed: frozenset[str]) -> Solution | None:
        """Solve the program, of which these parts alone changed; None where the objects have to be built again."""
        ...


def with_numbers(
    program: Program,
    cost: ArrayLike | None = None,
    sides: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
    bounds: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
) -> Program:
    """The program with other costs, sides or bounds; its matrix, integers and blocks stay.

    cost (columns,); sides, bounds pair of (rows,) arrays, of (columns,) arrays: lower and upper; None keeps a side as
    it is. Raises ValueError if a shape does not fit or a number is NaN.
    """
    rows, columns = program.row_lower.shape, program.cost.shape
    return replace(
        program,
        cost=_given("cost", cost, program.cost, columns),
        row_lower=_given("lower sides", sides[0], program.row_lower, rows),
        row_upper=_given("upper sides", sides[1], program.row_upper, rows),
        lower=_given("lower bounds", bounds[0], program.lower, columns),
        upper=_given("upper bounds", bounds[1], program.upper, columns),
    )


def _given(name: str, values: ArrayLike | None, known: Floats, shape: tuple[int, ...]) -> Floats:
    if values is None:
        return known
    array = np.array(values, dtype=np.float64)
    if array.ndim and array.shape != shape:
        raise ValueError(f"{name} have shape {array.shape}, not {shape}")
    return np.array(np.broadcast_to(array, shape))
