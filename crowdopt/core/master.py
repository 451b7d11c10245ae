"""A linear program that grows by columns: what column generation needs of a solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program


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
