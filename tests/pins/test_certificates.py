"""Certificates against values by hand: bounds, violations, gaps, claims."""

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
    relative_gap,
    round_up,
    violation,
)
from crowdopt.core.program import Program, stack
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


WHOLE = program(integer=np.ones(2, bool))


def test_any_multipliers_bound_the_optimum():
    """(2.5, -.5) gives 9.5 exactly; (1, 0): 4 + 0 = 4; (3, 0): 12 - 3 + 0 = 9; a pull on an infinite side is none."""
    for multipliers, bound in (((2.5, -0.5), 9.5), ((1.0, 0.0), 4.0), ((3.0, 0.0), 9.0), ((-1.0, 2.0), 0.0)):
        assert lagrangian_bound(program(), np.array(multipliers)) == pytest.approx(bound, abs=1e-12)


def test_violation_and_fraction_by_hand():
    """(1, 1) lacks 2 of the first row; (3, 1) exceeds the second by 1; (2.5, 3.5) and (-.25, 4.5) the box."""
    for point, amount in (((1.0, 1.0), 2.0), ((3.0, 1.0), 1.0), ((2.5, 3.5), 0.5), ((-0.25, 4.5), 1.5)):
        assert violation(program(), np.array(point)) == amount
    assert violation(program(row_lower=np.full(2, -np.inf)), np.array([-0.25, 0.0])) == 0.25
    assert violation(program(), np.array([np.nan, 1.0])) == np.inf
    assert fraction(program(integer=np.array([True, False])), np.array([2.25, 1.5])) == 0.25


def test_gaps_and_integers_by_hand():
    """(10 - 8)/8; (0.5 - 0.25)/.25; nothing without a bound; 8.2 is raised to 9, 9 plus noise stays 9."""
    assert relative_gap(10.0, 8.0) == 0.25 and relative_gap(0.5, 0.25) == 1.0 and relative_gap(1.0, 0.0) == np.inf
    assert relative_gap(None, 1.0) == np.inf == relative_gap(1.0, -np.inf)
    assert next_integer(8.2) == 9.0 and next_integer(9 + 1e-12) == pytest.approx(9.0) and next_integer(9.0) == 9.0
    assert round_up(program(), 8.2) == 8.2 and round_up(WHOLE, 8.2) == 9.0
    assert round_up(program(integer=np.ones(2, bool), cost=np.array([2.0, 2.5])), 8.2) == 8.2


def test_what_is_proven():
    """Feasible within 1e-6, integer within 1e-5, the bound neither short of the value nor above it, a proof named."""
    assert Certificate(10.0, 10.0, "certificate", 0.0, 0.0).proves_optimal()
    for bound, proof, lack, part in (
        (9.0, "certificate", 0.0, 0.0),
        (11.0, "certificate", 0.0, 0.0),
        (10.0, "none", 0.0, 0.0),
        (10.0, "certificate", 1e-3, 0.0),
        (10.0, "certificate", 0.0, 1e-3),
    ):
        assert not Certificate(10.0, bound, proof, lack, part).proves_optimal()


def test_a_claim_is_no_certificate():
    """One of 9.4 replaces 4 by multipliers in a search over integers alone, raised to 10, and is the solver's word."""
    for one, bound, proof in ((program(), 4.0, "certificate"), (WHOLE, 10.0, "solver")):
        claims = {"dual": np.array([1.0, 0.0]), "ray": None, "claimed_bound": 9.4, "seconds": 0.0, "raw": ""}
        found = certify(Solution(one, "hand", Status.OPTIMAL, np.array([2.5, 1.5]), **claims))
        assert (found.value, found.proof) == (9.5, proof) and found.bound == pytest.approx(bound)
