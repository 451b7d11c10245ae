"""From what a library says to what a Solution may carry: absent is None, and no bogus point passes for one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats
from crowdopt.core.certificate import INTEGRALITY, fraction, proves_empty, violation
from crowdopt.core.program import Program
from crowdopt.core.solution import Solution, Status

MEANING = {"optimal": Status.OPTIMAL, "infeasible": Status.INFEASIBLE, "unbounded": Status.UNBOUNDED}
CREDIBLE = 1e-4  # absolute; a point that is not claimed optimal and that breaks a row by more than this is no point

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sides:
    """The rows by the sides they have, for libraries that know ``==``, ``>=`` and ``<=`` only.

    A ranged row is in ``least`` and in ``most``; a row without a finite side is in none.
    """

    equal: Rows
    least: Rows
    most: Rows

    @staticmethod
    def of(program: Program, among: Any = True) -> Sides:
        """The sides of a program's rows, or of those ``among`` them."""
        equal = program.row_lower == program.row_upper
        return Sides(
            np.flatnonzero(equal & among),
            np.flatnonzero(np.isfinite(program.row_lower) & ~equal & among),
            np.flatnonzero(np.isfinite(program.row_upper) & ~equal & among),
        )

    def multipliers(self, count: int, equal: Any, least: Any, most: Any) -> Floats | None:
        """One multiplier per row out of those of its sides, already in the house's sign; None if one is missing."""
        total = np.zeros(count)
        for rows, values in ((self.equal, equal), (self.least, least), (self.most, most)):
            given = vector(values, rows.size)
            if given is None:
                return None
            total[rows] += given
        return total


def vector(values: Any, size: int) -> Floats | None:
    """The values as a flat array, unless they are absent, too few, too many, or not all finite.

    values array_like or None: of any shape; size: how many there should be; -> (size,) float, or None.
    """
    if size == 0:
        return np.zeros(0)
    if values is None:
        return None
    flat = np.array(values, dtype=np.float64).reshape(-1)
    return flat if flat.size == size and np.isfinite(flat).all() else None


def solution(
    program: Program,
    backend: str,
    status: Status,
    primal: Any,
    dual: Any,
    ray: Any,
    bound: float | None,
    seconds: float,
    raw: str,
) -> Solution:
    """A Solution that keeps the contract, out of anything a library may have left behind.

    An optimal point is passed on as claimed. Any other point has to be CREDIBLE first: libraries leave zeros or a
    fractional point behind when time runs out. Without a point there is no claim of optimality. Multipliers belong
    to linear programs; those of an unfinished solve are kept unless all are 0. A ray is kept, with the sign under
    which it proves something, only if it does.

    status: what the library claims; primal array_like or None: the point, of columns; dual, ray array_like or None:
    multipliers of rows, in the house's sign; the ray in either; bound: what the library says that no point has less of;
    seconds: of the search; raw: the library's own word for its status.
    """
    point, multipliers = vector(primal, program.cost.size), _multipliers(program, status, dual)
    if status is not Status.OPTIMAL and point is not None:
        point = point if violation(program, point) <= CREDIBLE and fraction(program, point) <= INTEGRALITY else None
    if status in (Status.INFEASIBLE, Status.UNBOUNDED):
        point = multipliers = bound = None
    elif point is None:
        status = Status.UNDECIDED
    elif status is Status.UNDECIDED:
        status = Status.FEASIBLE
    proof = proving_ray(program, ray) if status is Status.INFEASIBLE else None
    said = None if bound is None or not np.isfinite(bound) else float(bound)
    if said is None and not program.integer.any() and status is Status.OPTIMAL and point is not None:
        said = float(program.cost @ point)  # what claiming an optimum amounts to
    return Solution(program, backend, status, point, multipliers, proof, said, seconds, raw)


def _multipliers(program: Program, status: Status, dual: Any) -> Floats | None:
    """Those that may prove something: of a linear program, and not all 0 where the search did not end."""
    found = None if program.integer.any() else vector(dual, program.row_lower.size)
    if found is None:
        return None
    if status is Status.OPTIMAL:
        return completed(program, found)
    return found if found.any() else None


def completed(program: Program, multipliers: Floats) -> Floats:
    """The multipliers, with those that belong to rows of one entry where a library has kept them for itself.

    SCIP and CBC take such a row for a bound of its column and leave it without a multiplier: what it should have is
    the column's reduced cost over the entry. Giving it that replaces the column's own end in the Lagrangian bound by
    the row's, so only a row whose end is the better one gets it, and the bound can only rise.

    -> (rows,).
    """
    entries = program.matrix.tocoo()
    single = np.bincount(entries.row, minlength=multipliers.size)[entries.row] == 1
    row, column, value = entries.row[single], entries.col[single], entries.data[single]
    price = (program.cost - program.matrix.T @ multipliers)[column] / value
    side = np.where(price > 0, program.row_lower[row], program.row_upper[row])
    # where the column rests in the Lagrangian bound: the end that its reduced cost pulls it to
    end = np.where(price * value > 0, program.lower[column], program.upper[column])
    open_ended = (multipliers[row] == 0) & (price != 0) & np.isfinite(side)
    with np.errstate(invalid="ignore"):
        gain = np.where(open_ended, price * (side - value * end), -np.inf)
    # of several such rows of a column only the one that gains most: the reduced cost is spent once
    best = np.lexsort((gain, column))
    best = best[np.append(np.diff(column[best]) != 0, True)] if best.size else best
    best = best[gain[best] > 0]
    complete = multipliers.copy()
    complete[row[best]] = price[best]
    return complete


def proving_ray(program: Program, values: Any) -> Floats | None:
    """Farkas multipliers, with the sign under which they prove something; None if they do under neither.

    values array_like or None: of rows.
    """
    ray = vector(values, program.row_lower.size)
    if ray is None or ray.size == 0:
        return None
    return next((signed for signed in (ray, -ray) if proves_empty(program, signed)), None)


class NoAnswer(ValueError):
    """What a backend returned is no answer; the message goes on from its name."""


def taken_over(program: Program, backend: str, answer: object) -> Solution:
    """A backend's answer as one about the caller's own program, with arrays of its own.

    Raises NoAnswer if it is no Solution, its arrays have other sizes than the program or hold what is no number, or an
    integer column of its optimum is none.
    """
    if not isinstance(answer, Solution) or not isinstance(answer.status, Status):
        raise NoAnswer(f"answered with {type(answer).__name__}, which is no solution")
    primal = _own("point", answer.primal, program.cost.size)
    off = 0.0 if primal is None or answer.status is not Status.OPTIMAL else fraction(program, primal)
    if CREDIBLE < off < np.inf:
        raise NoAnswer(f"claims optimal, but its plan is fractional: {off:.3g} from an integer")
    dual = _own("vector of multipliers", answer.dual, program.row_lower.size)
    ray = _own("ray", answer.ray, program.row_lower.size)
    status, bound = answer.status, answer.claimed_bound
    if bound is not None:
        if isinstance(bound, bool) or not isinstance(bound, int | float | np.number) or np.isnan(bound):
            raise NoAnswer(f"claims a bound of {str(bound)[:40]!r}, which is no number")
        bound = float(bound)
    seconds = answer.seconds if isinstance(answer.seconds, int | float) else 0.0
    return replace(
        answer,
        program=program,
        backend=backend,
        status=status,
        claimed_bound=bound,
        seconds=float(seconds),
        raw=str(answer.raw),
        interrupted=bool(answer.interrupted),
        primal=primal,
        dual=dual,
        ray=ray,
    )


def _own(name: str, values: Any, size: int) -> Floats | None:
    if values is None:
        return None
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise NoAnswer(f"answered with a {name} that is not made of numbers") from None
    if array.shape != (size,):
        raise NoAnswer(f"answered with a {name} of shape {array.shape} for a program that needs {(size,)}")
    return array
