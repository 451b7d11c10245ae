"""What passes from a library's words into a Solution, without any library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.backends.claims import Sides, completed, solution
from crowdopt.core.certificate import lagrangian_bound, proves_empty
from crowdopt.core.solution import Status
from crowdopt.testing.contract_cases import program

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


def test_optimal_without_a_point_is_undecided():
    """There is nothing to be optimal."""
    assert claim(Status.OPTIMAL).status is Status.UNDECIDED


def test_an_optimal_point_passes_as_claimed():
    """Certify judges it; hiding a false claim would hide a broken solver."""
    assert claim(Status.OPTIMAL, [0.0, 0.0]).primal.tolist() == [0.0, 0.0]


def test_absent_is_none():
    """Zeros that fill in for multipliers are not multipliers; integers have none."""
    assert claim(Status.UNDECIDED, [1.0, 0.0], dual=[0.0]).dual is None
    assert claim(Status.OPTIMAL, [1.0, 0.0], dual=[1.0], integer=True).dual is None
    assert claim(Status.OPTIMAL, [1.0, 0.0], dual=[np.nan]).dual is None
    assert claim(Status.INFEASIBLE, [1.0, 0.0], dual=[1.0], bound=3.0).claimed_bound is None
    assert claim(Status.INFEASIBLE, ray=[1.0]).ray is None


def test_a_ray_is_turned_so_that_it_proves():
    """Libraries differ in its sign; a wrong one proves nothing."""
    empty = program([1, 1], [(3, [1, 1], INF)], upper=1)
    for sign in (1.0, -1.0):
        found = solution(empty, "somebody", Status.INFEASIBLE, None, None, [sign], None, 0.0, "said")
        assert proves_empty(empty, found.ray)


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


def test_completing_finds_what_a_presolver_kept():
    """The program min x, x >= 2 as a row: its multiplier is 1 although a library that made it a bound says 0."""
    built = program([1, 1], [(2, [1, 0], INF), (3, [0, -1.5], INF)], lower=-9, upper=9)
    assert completed(built, np.zeros(2)).tolist() == [1.0, 0.0]


def test_sides_add_up_to_one_multiplier_per_row():
    """A ranged row is two rows to such a library; only one of the two pulls."""
    built = program([1], [(1, [1], 3), (2, [1], 2), (-INF, [1], INF), (0, [1], INF)])
    sides = Sides.of(built)
    assert (sides.equal.tolist(), sides.least.tolist(), sides.most.tolist()) == ([1], [0, 3], [0])
    assert sides.multipliers(4, [5.0], [1.0, 2.0], [-4.0]).tolist() == [-3.0, 5.0, 0.0, 2.0]
    assert sides.multipliers(4, [5.0], None, [-4.0]) is None
