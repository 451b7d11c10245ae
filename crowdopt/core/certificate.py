"""What is true of a solution: value, violation, integrality and bound, recomputed from the program alone.

Bounds on rounding: what float64 may have added to a lower bound is subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, fsum, isfinite

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats
from crowdopt.core.program import Program
from crowdopt.core.solution import Solution, Status, relative_gap
from crowdopt.errors import public
from crowdopt.notebooks import InNotebooks

UNIT = 2.0**-53  # relative; float64's rounding of one operation
DEPTH = 64  # roundings that a term may pass through: a few products, and numpy's pairwise sum of up to 2^40 terms


def lowered(total: float, size: float) -> float:
    """A number that the exact sum is not below, given its float64 value and the sum of its terms' absolute values."""
    return float(total - DEPTH * UNIT * size)


def sum_below(terms: Floats, more: float = 0.0) -> float:
    """At most the exact sum of terms (k,), -inf if one is not finite; more: absolute values that cancelled in them."""
    size = float(np.abs(terms).sum()) + more
    return lowered(fsum(terms), size) if np.isfinite(size) else -np.inf


def product_error(matrix: sparse.csc_array, vector: Floats) -> Floats:
    """By how much ``matrix.T @ vector`` may be off, entry by entry: ``(k + 2) u sum_i |a_i y_i|``, k entries."""
    absolute = sparse.csc_array((np.abs(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    return (np.diff(matrix.indptr) + 2) * UNIT * (absolute.T @ np.abs(vector))


FEASIBILITY = 1e-6  # absolute; the row violation that common solvers accept and a claim of optimality may carry
INTEGRALITY = 1e-5  # absolute; how far from an integer a solver may leave an integer column
BOUND = 1e-9  # relative; rounding noise in a recomputed bound or value
REFUTED = 1e-4  # relative; a claimed bound this far above a feasible point's value is false, not imprecise
ZERO_PRICE = 1e-9  # relative to its terms; a reduced cost this small on an unbounded column counts as zero


@dataclass(frozen=True)
class Certificate(InNotebooks):
    """A solution held against its program.

    ``value``, ``violation`` and ``fraction`` are recomputed from the primal point (None without one). ``proof``
    says where ``bound`` comes from: ``certificate``, recomputed from multipliers that anybody can check;
    ``solver``, a branch-and-bound bound that only the solver vouches for; ``none``. A proof that no point exists
    shows as ``bound = inf``.
    """

    value: float | None
    bound: float
    proof: str
    violation: float | None
    fraction: float | None

    @property
    def gap(self) -> float:
        """How far the value may be above the optimum, as a share of the bound; infinite without a value or a bound."""
        return relative_gap(self.value, self.bound)

    def is_feasible(self, tolerance: float = FEASIBILITY) -> bool:
        """Whether there is a point within the tolerance, integer columns within INTEGRALITY."""
        if self.violation is None or self.fraction is None:
            return False
        return self.violation <= tolerance and self.fraction <= INTEGRALITY

    def proves_optimal(self, tolerance: float = FEASIBILITY) -> bool:
        """Whether the point is feasible and the bound meets its value, neither short of it nor above."""
        return self.is_feasible() and self.proof != "none" and self.is_closed(tolerance)

    def is_closed(self, tolerance: float) -> bool:
        """Whether value and bound meet, up to a tolerance: absolute, of values above 1 relative."""
        return self.value is not None and abs(self.value - self.bound) <= tolerance * max(1.0, abs(self.value))

    def proves_infeasible(self) -> bool:
        """Whether stored multipliers or crossed sides show that no point exists (a solver's word alone does not)."""
        return self.bound == np.inf and self.proof == "certificate"


@public
def certify(solution: Solution) -> Certificate:
    """Recompute value, violation, integrality and bound of a solution from the program alone."""
    program, point = solution.program, solution.primal
    bound, proof = _best_bound(solution)
    if point is None:
        return Certificate(None, bound, proof, None, None)
    found = Certificate(
        float((program.cost * point).sum()), bound, proof, violation(program, point), fraction(program, point)
    )
    if proof == "solver" and found.is_feasible() and is_refuted(bound, found.value):
        bound, proof = _own_bound(solution)
        return replace(found, bound=bound, proof=proof)
    return found


def is_refuted(bound: float, value: float | None) -> bool:
    """Whether a feasible point's value shows that a claimed lower bound is false."""
    return value is not None and bound > value + REFUTED * max(1.0, abs(value))


def _best_bound(solution: Solution) -> tuple[float, str]:
    program = solution.program
    if solution.ray is not None and proves_empty(program, solution.ray):
        return np.inf, "certificate"
    if solution.status is Status.INFEASIBLE:
        return np.inf, "certificate" if program.with_whole_sides().has_crossed_sides else "solver"
    bound, proof = _own_bound(solution)
    claimed = solution.claimed_bound
    if claimed is not None and isfinite(claimed) and _says_more(program, claimed, bound):
        return round_up(program, claimed, FEASIBILITY), "solver"
    return bound, proof


def _own_bound(solution: Solution) -> tuple[float, str]:
    if solution.dual is None:
        return -np.inf, "none"
    bound = round_up(solution.program, lagrangian_bound(solution.program, solution.dual))
    return (bound, "certificate") if isfinite(bound) else (-np.inf, "none")


def _says_more(program: Program, claimed: float, bound: float) -> bool:
    """A claim replaces a recomputed bound only where recomputing cannot reach it: in a search over integers."""
    if not isfinite(bound):
        return True
    return bool(program.integer.any()) and claimed > bound + BOUND * max(1.0, abs(bound))


def violation(program: Program, point: Floats) -> float:
    """Largest absolute violation of a row or a bound; NaN in the point is an infinite violation; point (columns,)."""
    if not np.isfinite(point).all():
        return float("inf")
    activity = program.matrix @ point
    worst = 0.0
    for excess in (
        program.row_lower - activity,
        activity - program.row_upper,
        program.lower - point,
        point - program.upper,
    ):
        worst = max(worst, float(excess.max(initial=0.0)))
    return worst


def fraction(program: Program, point: Floats) -> float:
    """Largest distance of an integer column from the nearest integer; inf where one is not finite; point (columns,)."""
    integers = point[program.integer]
    if not np.isfinite(integers).all():
        return float("inf")
    return float(np.abs(integers - np.rint(integers)).max(initial=0.0))


@public
def lagrangian_bound(program: Program, multipliers: Floats) -> float:
    """``min over the box of c'x + y'(b - A x)``: a lower bound on the optimum for ANY row multipliers y.

    A multiplier that pulls on an infinite side of its row is taken as 0. Columns that are unbounded where their
    reduced cost pulls make the bound -inf, unless that reduced cost is zero up to rounding (ZERO_PRICE): for a program
    with such columns the bound is as good as float64 allows, for one in a box, as all of ours are, it is beyond doubt.

    Parameters
    ----------
    program : Program
        Integer or not: its relaxation's bound is its own.
    multipliers : (rows,) float
        In the house's sign: >= 0 pulls on ``row_lower``, <= 0 on ``row_upper``.

    Returns
    -------
    float
        -inf where the multipliers prove nothing.
    """
    return _bound(program, program.cost, pulling_sides(program, multipliers))


def proves_empty(program: Program, ray: Floats) -> bool:
    """Whether multipliers prove that no point in the box satisfies the rows (Farkas): their bound at c = 0 is > 0.

    ray (rows,): in the house's sign.
    """
    scale = float(np.abs(ray).max(initial=0.0))
    if not np.isfinite(scale) or scale == 0:
        return False
    pulling = pulling_sides(program, ray / scale)
    # a ray of any length proves the same: scaled to 1, so that BOUND means the same for all
    proof = _bound(program, np.zeros_like(program.cost), pulling)
    sides = np.where(pulling > 0, program.row_lower, program.row_upper)
    size = float(np.abs(sides[pulling != 0] * pulling[pulling != 0]).sum())
    return proof > BOUND * max(1.0, size)


def round_up(program: Program, bound: float, noise: float = BOUND) -> float:
    """The bound, raised to the next integer where every feasible point has an integer value."""
    if not program.has_integral_values or not program.integer.any():
        return bound
    return next_integer(bound, noise)


def next_integer(bound: float, noise: float = BOUND) -> float:
    """The least integer that is not below a bound, but for relative noise in it; never less than the bound."""
    return max(bound, float(ceil(bound - noise * max(1.0, abs(bound))))) if isfinite(bound) else bound


def pulling_sides(program: Program, multipliers: Floats) -> Floats:
    """The multipliers, (rows,), zero where they pull on an infinite side of their row or are not finite."""
    idle = ((multipliers > 0) & np.isinf(program.row_lower)) | ((multipliers < 0) & np.isinf(program.row_upper))
    return np.where(idle | ~np.isfinite(multipliers), 0.0, multipliers)


def _bound(program: Program, cost: Floats, pulling: Floats) -> float:
    """The Lagrangian bound, less what rounding may have added: multipliers of any size prove nothing false."""
    rows = pulling[pulling != 0] * np.where(pulling > 0, program.row_lower, program.row_upper)[pulling != 0]
    # each column alone: it goes to the end of its box that its reduced cost pulls it to, whole or not
    reduced = cost - program.matrix.T @ pulling
    off = product_error(program.matrix, pulling)
    ends = np.where(reduced > 0, program.lower, program.upper)
    # a reduced cost that float64 cannot tell from 0 pulls nowhere; any other on an open end proves nothing
    unbounded = np.isinf(ends) & (reduced != 0)
    if unbounded.any() and (np.abs(reduced) > ZERO_PRICE * (np.abs(cost) + off / UNIT))[unbounded].any():
        return -np.inf
    held = (reduced != 0) & ~unbounded
    columns = reduced[held] * ends[held]
    # errors of the two sums by their terms, and of each reduced cost times how far its column may be from 0
    size = float(np.abs(rows).sum() + np.abs(columns).sum())
    return lowered(float(rows.sum() + columns.sum()), size) - float((off * _reach(program))[off > 0].sum())


def _reach(program: Program) -> Floats:
    """How far from 0 each column may be, on its finite sides."""
    sides = np.abs(np.stack([program.lower, program.upper]))
    return np.where(np.isfinite(sides), sides, 0.0).max(axis=0)
