"""What passes from a library's words into a Solution, without any library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.core.certificate import lagrangian_bound
from crowdopt.core.solution import Status
from crowdopt.solvers.claims import completed, solution
from crowdopt.testing.backend_contract import program

INF = np.inf


def claim(status, primal=None, dual=None, ray=None, bound=None, integer=False):
    """The program min x + y with x + y >= 1 in the unit box, and what a backend says of it."""
    square = program([1, 1], [(1, [1, 1], INF)], upper=1, integer=integer)
    return solution(square, "somebody", status, primal, dual, ray, bound, 0.0, "said")


@pytest.mark.parametrize("left", [None, [0.0, 0.0], [0.3, 0.3], [np.nan, 1.0], [1.0]])
def test_what_a_limit_leaves_is_no_point_unless_it_is_feasible(left):
    """Zeros, fragments and NaN stay behind in many libraries when time runs out."""
    found = claim(Status.UNDECIDED, left)
    assert found.primal is None
    assert found.status is Status.UNDECIDED


def test_a_feasible_point_at_a_limit_is_kept():
    """A point that holds is worth keeping, whatever the status."""
    found = claim(Status.UNDECIDED, [1.0, 0.0])
    assert found.status is Status.FEASIBLE
    assert found.primal.tolist() == [1.0, 0.0]
    assert claim(Status.UNDECIDED, [0.5, 0.5], integer=True).primal is None


@given(st.integers(0, 10_000))
def test_completing_multipliers_never_lowers_the_bound(seed):
    """Each completed multiplier puts the better of two ends into the Lagrangian bound, and changes nothing else."""
    rng = np.random.default_rng(seed)
    columns, rows = 4, 6
    table = rng.integers(-3, 4, (rows, columns)) * (rng.random((rows, columns)) < 0.35)
    low = rng.integers(-4, 1, rows)
    box = rng.integers(-3, 1, columns), rng.integers(1, 5, columns)
    given_rows = [(float(a), r.tolist(), float(a + rng.integers(0, 5))) for a, r in zip(low, table, strict=True)]
    built = program(rng.integers(-3, 4, columns), given_rows, *box)
    multipliers = rng.integers(-2, 3, rows) * (rng.random(rows) < 0.5)
    before = lagrangian_bound(built, multipliers.astype(float))
    assert lagrangian_bound(built, completed(built, multipliers.astype(float))) >= before - 1e-9
