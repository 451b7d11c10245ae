"""The verb check: whether a solution of anybody's linear or integer model is what it is said to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.certificate import FEASIBILITY, INTEGRALITY, lagrangian_bound, proves_empty, round_up
from crowdopt.core.program import Program
from crowdopt.errors import InputError, public
from crowdopt.io.cells import TableLike
from crowdopt.io.solutions import Stated, with_solution
from crowdopt.notebooks import InNotebooks
from crowdopt.said import Said, Verb
from crowdopt.verbs.binding import AnyPath
from crowdopt.verbs.modelling import stated_by

CLOSE = 1e-6  # of values above 1 relative: value and bound that are at most this far apart meet


@dataclass(frozen=True)
class Checked(InNotebooks):
    """What is true of a solution.

    Parameters
    ----------
    claim : str
        ``optimal``, ``feasible`` or ``infeasible``.
    verdict : str
        ``true``, ``false``, or ``not shown``.
    why : str
        In a sentence.
    value : float, optional
        The objective at the point, summed exactly, in the model's own sense.
    violation, row : float, str
        The worst breach of a row or a bound, summed exactly, and its name.
    fraction, column : float, str
        The largest distance of an integer column from a whole number, and its name.
    bound : float, optional
        What no point is better than, by the multipliers; rounding is subtracted.
    """

    claim: str
    verdict: str
    why: str
    value: float | None
    violation: float | None
    row: str
    fraction: float | None
    column: str
    bound: float | None


@public
def check(
    model: AnyPath | Any,
    solution: TableLike | None = None,
    duals: TableLike | None = None,
    *,
    claim: Literal["optimal", "feasible", "infeasible"] | None = None,
) -> Checked:
    """Hold a solution against its model: rows and objective summed exactly, the bound recomputed from multipliers.

    Parameters
    ----------
    model : path, or an object of PuLP, CVXPY or highspy
        A file of MPS. An object brings its own solution, and multipliers where it has some.
    solution : table, optional
        Columns column and value, columns that are left out being 0; or a solution file of HiGHS.
    duals : table, optional
        Columns row and value: by how much the objective grows with the row's sides. For infeasible: a ray of them.
    claim : str, optional
        What is to be true of it; default: what the solution file says, else optimal.

    Returns
    -------
    Checked

    Raises
    ------
    InputError
        If something cannot be read, there is no such column or row, or there is nothing to check.

    Reads
    -----
    a model (MPS), a solution and multipliers

    Writes
    ------
    nothing

    Examples
    --------
    ::

        crowdopt export my-campaign --program lp -o model.mps
        highs --solution_file point.sol model.mps
        crowdopt check model.mps point.sol
    """
    stated = with_solution(stated_by(model), solution, duals)
    said = stated.claim if stated.claim in ("optimal", "infeasible") else "optimal"
    wanted = claim or said
    if stated.point is None and (wanted != "infeasible" or stated.dual is None):
        raise InputError("there is nothing to check: give a solution, or multipliers for a claim of infeasible")
    program, sign = stated.named.program, -1.0 if stated.named.maximum else 1.0
    dual = stated.dual  # libraries differ in its sign: the bound of either is one
    bound = None if dual is None else max(round_up(program, lagrangian_bound(program, y)) for y in (dual, -dual))
    if stated.point is None:
        empty = dual is not None and (proves_empty(program, dual) or proves_empty(program, -dual))
        why = "the multipliers prove that no point keeps all rows" if empty else "these multipliers do not prove it"
        return Checked(wanted, "true" if empty else "not shown", why, None, None, "", None, "", None)
    value, (violation, row), (fraction, column) = _recomputed(stated, stated.point)
    verdict, why = _judged(wanted, program, value, (violation, row), (fraction, column), bound)
    shown = None if bound is None or not np.isfinite(bound) else sign * bound
    return Checked(wanted, verdict, why, sign * value, violation, row, fraction, column, shown)


def _judged(
    claim: str, program: Program, value: float, worst: tuple[float, str], part: tuple[float, str], bound: float | None
) -> tuple[str, str]:
    feasible = worst[0] <= FEASIBILITY and part[0] <= INTEGRALITY
    if claim == "infeasible":
        return ("false", "here is a point") if feasible else ("not shown", "the point is none, and proves nothing")
    if worst[0] > FEASIBILITY:
        return "false", f"the point breaks {worst[1]} by {worst[0]:.6g}"
    if part[0] > INTEGRALITY:
        return "false", f"{part[1]} is {part[0]:.6g} from a whole number"
    if claim == "feasible":
        return "true", "every row, bound and whole number is kept"
    if bound is None or not np.isfinite(bound):
        return "not shown", "no multipliers prove a bound" if bound is None else "these multipliers prove no bound"
    away = abs(value - bound) / max(1.0, abs(value))
    if away <= CLOSE:
        return "true", "the multipliers prove that no point is better"
    if bound > value:
        return "not shown", "the bound lies beyond the value: the point is feasible only within the tolerance"
    whole = ", of the relaxation" if program.integer.any() else ""
    return "not shown", f"the multipliers leave a gap of {100 * away:.3g} %{whole}"


def _recomputed(stated: Stated, point: Floats) -> tuple[float, tuple[float, str], tuple[float, str]]:
    """Objective, worst breach and largest fraction; what is printed of them is summed in fractions."""
    program, named = stated.named.program, stated.named
    if not np.isfinite(point).all():
        return float("nan"), (float("inf"), named.columns[int(np.argmin(np.isfinite(point)))]), (0.0, "")
    exact = [Fraction(value) for value in point.tolist()]
    used = np.flatnonzero(program.cost).tolist()
    value = float(sum((Fraction(float(program.cost[j])) * exact[j] for j in used), Fraction(0)))
    rows = program.matrix.tocsr()
    breach = [(_beyond(exact[j], program.lower[j], program.upper[j]), named.columns[j]) for j in range(point.size)]
    for i in range(rows.shape[0]):
        span = slice(rows.indptr[i], rows.indptr[i + 1])
        entries = zip(rows.data[span].tolist(), rows.indices[span].tolist(), strict=True)
        total = sum((Fraction(entry) * exact[j] for entry, j in entries), Fraction(0))
        breach.append((_beyond(total, program.row_lower[i], program.row_upper[i]), named.rows[i]))
    apart = [(abs(exact[j] - round(exact[j])), named.columns[j]) for j in np.flatnonzero(program.integer).tolist()]
    worst, part = _largest(breach), _largest(apart)
    return value, worst, part


def _beyond(total: Fraction, low: float, high: float) -> Fraction:
    below = Fraction(float(low)) - total if np.isfinite(low) else Fraction(0)
    above = total - Fraction(float(high)) if np.isfinite(high) else Fraction(0)
    return max(below, above, Fraction(0))


def _largest(breaches: Sequence[tuple[Fraction, str]]) -> tuple[float, str]:
    most, name = max(breaches, key=lambda one: one[0], default=(Fraction(0), ""))
    return float(most), name if most else ""


def _said(found: Checked) -> Said:
    lines = [f"{found.claim}: {found.verdict} ({found.why})"]
    if found.value is not None:
        lines.append(f"objective {found.value:.12g}, summed exactly")
        worst = f"{found.row} by {found.violation:.6g}" if found.row else "none"
        lines.append(f"worst breach of a row or bound: {worst}")
        if found.column:
            lines.append(f"farthest from a whole number: {found.column}, by {found.fraction:.6g}")
    if found.bound is not None:
        lines.append(f"by the multipliers no point is better than {found.bound:.12g}")
    return Said(vars(found), lines, int(found.verdict != "true"))


VERBS = (Verb("check", check, _said),)
