"""Certificates against values by hand: bounds, violations, gaps, proofs that nothing is there, mechanical duals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from crowdopt.core.certificate import (
    Certificate,
    certify,
    fraction,
    lagrangian_bound,
    next_integer,
    proves_empty,
    relative_gap,
    round_up,
    violation,
)
from crowdopt.core.program import Program, dualize, stack
from crowdopt.core.solution import Solution, Status


def program(**changes) -> Program:
    """``min 2x + 3y  s.t.  x + y >= 4, x - y <= 1, 0 <= x, y <= 3``: 9.5 at (2.5, 1.5), multipliers (2.5, -.5)."""
    given = {
        "name": "small",
        "cost": np.array([2.0, 3.0]),
        "matrix": sparse.csc_array(np.array([[1.0, 1.0], [1.0, -1.0]])),
        "row_lower": np.array([4.0, -np.inf]),
        "row_upper": np.array([np.inf, 1.0]),
        "lower": np.zeros(2),
        "upper": np.full(2, 3.0),
        "integer": np.zeros(2, bool),
        "columns": stack([("x", (2,))]),
        "rows": stack([("r", (2,))]),
    }
    return Program(**{**given, **changes})


def test_any_multipliers_bound_the_optimum():
    """(2.5, -.5) gives 9.5 exactly; (1, 0): 4 + 0 = 4; (3, 0): 12 - 3 + 0 = 9; a pull on an infinite side is none."""
    one = program()
    assert lagrangian_bound(one, np.array([2.5, -0.5])) == pytest.approx(9.5, abs=1e-12)
    assert lagrangian_bound(one, np.array([1.0, 0.0])) == pytest.approx(4.0, abs=1e-12)
    assert lagrangian_bound(one, np.array([3.0, 0.0])) == pytest.approx(9.0, abs=1e-12)
    assert lagrangian_bound(one, np.array([-1.0, 2.0])) == pytest.approx(0.0, abs=1e-12)
    free = program(upper=np.full(2, np.inf))
    assert lagrangian_bound(free, np.array([3.0, 0.0])) == -np.inf


def test_violation_and_fraction_by_hand():
    """(1, 1) lacks 2 of the first row; (3, 1) exceeds the second by 1; (4, 0) its box by 1, the second row by 3."""
    one = program()
    assert violation(one, np.array([1.0, 1.0])) == 2.0
    assert violation(one, np.array([3.0, 1.0])) == 1.0
    assert violation(one, np.array([2.5, 3.5])) == 0.5
    assert violation(one, np.array([-0.25, 4.5])) == 1.5
    assert violation(program(row_lower=np.array([-np.inf, -np.inf])), np.array([-0.25, 0.0])) == 0.25
    assert violation(one, np.array([np.nan, 1.0])) == np.inf
    whole = program(integer=np.array([True, False]))
    assert fraction(whole, np.array([2.25, 1.5])) == 0.25 and fraction(whole, np.array([1.9, 0.5])) == pytest.approx(
        0.1
    )


def test_gaps_and_integers_by_hand():
    """(10 - 9)/10; (0.5 - 0.25)/1; nothing without a bound; 8.2 is raised to 9, 9 plus noise stays 9."""
    assert relative_gap(10.0, 8.0) == 0.25 and relative_gap(0.5, 0.25) == 1.0 and relative_gap(1.0, 0.0) == np.inf
    assert relative_gap(None, 1.0) == np.inf == relative_gap(1.0, -np.inf)
    assert next_integer(8.2) == 9.0 and next_integer(9 + 1e-12) == pytest.approx(9.0) and next_integer(9.0) == 9.0
    assert next_integer(8.999) == 9.0 and next_integer(-np.inf) == -np.inf
    assert round_up(program(), 8.2) == 8.2  # no integer columns
    assert round_up(program(integer=np.ones(2, bool)), 8.2) == 9.0
    assert round_up(program(integer=np.ones(2, bool), cost=np.array([2.0, 2.5])), 8.2) == 8.2


def test_what_is_proven():
    """Feasible within 1e-6, integer within 1e-5, the bound neither short of the value nor above it, a proof named."""
    good = Certificate(10.0, 10.0, "certificate", 0.0, 0.0)
    assert good.proves_optimal() and good.is_feasible()
    for bad in (
        Certificate(10.0, 9.0, "certificate", 0.0, 0.0),
        Certificate(10.0, 11.0, "certificate", 0.0, 0.0),
        Certificate(10.0, 10.0, "none", 0.0, 0.0),
        Certificate(10.0, 10.0, "certificate", 1e-3, 0.0),
        Certificate(10.0, 10.0, "certificate", 0.0, 1e-3),
    ):
        assert not bad.proves_optimal()
    assert Certificate(None, np.inf, "certificate", None, None).proves_infeasible()
    assert not Certificate(None, np.inf, "solver", None, None).proves_infeasible()


def test_a_ray_proves_that_nothing_is_there():
    """X + y >= 7 in a box that holds 6: multiplier 1 proves it, -1 does not, and x + y >= 6 has the corner."""
    full = program(row_lower=np.array([7.0, -np.inf]))
    assert proves_empty(full, np.array([1.0, 0.0])) and proves_empty(full, np.array([100.0, 0.0]))
    assert not proves_empty(full, np.array([-1.0, 0.0])) and not proves_empty(full, np.zeros(2))
    assert not proves_empty(program(row_lower=np.array([6.0, -np.inf])), np.array([1.0, 0.0]))


def solution(one: Program, **changes) -> Solution:
    given = {"status": Status.OPTIMAL, "primal": np.array([2.5, 1.5]), "dual": np.array([2.5, -0.5])}
    given |= {"ray": None, "claimed_bound": None, "seconds": 0.0, "raw": "", **changes}
    return Solution(one, "hand", **given)


def test_a_claim_is_no_certificate():
    """Multipliers certify; a claimed bound replaces them only in a search over integers, and is the solver's word."""
    found = certify(solution(program()))
    assert (found.value, found.proof) == (9.5, "certificate") and found.bound == pytest.approx(9.5)
    boast = certify(solution(program(), dual=np.array([1.0, 0.0]), claimed_bound=9.4))
    assert boast.proof == "certificate" and boast.bound == pytest.approx(4.0)
    whole = certify(solution(program(integer=np.ones(2, bool)), claimed_bound=11.0))
    assert whole.proof == "solver" and whole.bound == 11.0
    alone = certify(solution(program(), dual=None, claimed_bound=9.5))
    assert alone.proof == "solver"
    told = certify(solution(program(), status=Status.INFEASIBLE, primal=None, dual=None))
    assert told.bound == np.inf and told.proof == "solver" and not told.proves_infeasible()


def test_the_mechanical_dual_by_hand():
    """Columns: r lower (4), r upper (1), x upper (3): the dual is min -4 y1 + y2 + 3 t, -9.5 at (2.5, .5, 0)."""
    dual = dualize(program())
    assert [block.name for block in dual.columns] == ["r.lower", "r.upper", "x.upper"]
    assert dual.cost.tolist() == [-4.0, 0.0, 0.0, 1.0, 3.0, 3.0]
    point = np.array([2.5, 0.0, 0.0, 0.5, 0.0, 0.0])
    assert violation(dual, point) == 0.0 and dual.cost @ point == -9.5
    assert dual.row_upper.tolist() == [2.0, 3.0] and np.isneginf(dual.row_lower).all()
    assert dual.upper[1] == 0.0  # the second row has no lower side
