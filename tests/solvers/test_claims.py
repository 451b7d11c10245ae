"""What passes from a library's words into a Solution, and from a program into CP-SAT's integers; no library needed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.core.certificate import lagrangian_bound
from crowdopt.core.solution import Options, Status
from crowdopt.solvers import BackendMissing, pulp
from crowdopt.solvers.claims import completed, solution
from crowdopt.solvers.ortools import POINT_ROUNDING, _unscaled, relaxed
from crowdopt.testing.backend_contract import program

INF = np.inf


def square(integer=False):
    """The program min x + y with x + y >= 1 in the unit box."""
    return program([1, 1], [(1, [1, 1], INF)], upper=1, integer=integer)


@pytest.mark.parametrize("left", [None, [0.0, 0.0], [0.3, 0.3], [np.nan, 1.0], [1.0], [0.5, 0.5], [1.0, 0.0]])
def test_what_a_limit_leaves_is_no_point_unless_it_is_feasible(left):
    """Zeros, fragments and NaN stay behind in many libraries when time runs out; a point that holds is kept."""
    found = solution(square(integer=True), "somebody", Status.UNDECIDED, left, None, None, None, 0.0, "said")
    holds = left == [1.0, 0.0]
    assert found.status is (Status.FEASIBLE if holds else Status.UNDECIDED)
    assert found.primal.tolist() == left if holds else found.primal is None


@pytest.mark.parametrize(
    ("word", "values", "seconds", "integer", "status"),
    [
        ("Infeasible", [None, None], 1.01, True, Status.UNDECIDED),
        ("Optimal", [0.5, 0.5], 1.01, True, Status.UNDECIDED),
        ("Infeasible", [None, None], 0.9, True, Status.INFEASIBLE),
        ("Optimal", [0.5, 0.5], 0.9, True, Status.OPTIMAL),  # a false claim is left for the certificate to find
        ("Optimal", [1.0, 0.0], 1.01, True, Status.OPTIMAL),
        ("Optimal", [0.5, 0.5], 1.01, False, Status.OPTIMAL),  # a linear program is its own relaxation
    ],
)
def test_once_time_is_over_words_of_cbc_are_about_the_relaxation(word, values, seconds, integer, status):
    """CBC 2.10 calls programs with points infeasible then, and CBC 3 calls the relaxation's optimum optimal."""
    given, limits = square(integer), Options(time_limit=1.0)
    built = pulp.build(given)
    for variable, value in zip(built.variables, values, strict=True):
        variable.varValue = value
    answer = pulp._read_back(built, given, "pulp-cbc", pulp.OFFERS["cbc"], word, None, limits, seconds)
    assert answer.status is status and word in answer.raw
    assert status is not Status.UNDECIDED or (answer.primal, answer.claimed_bound) == (None, None)


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
    multipliers = (rng.integers(-2, 3, rows) * (rng.random(rows) < 0.5)).astype(float)
    before = lagrangian_bound(built, multipliers)
    assert lagrangian_bound(built, completed(built, multipliers)) >= before - 1e-9


@given(st.integers(0, 10_000))
def test_the_integers_are_a_relaxation_and_hardly_more(seed):
    """Coefficients go up and the side goes down, from the lower sides: each point of a row is one of the integers.

    The best scaled cost, unscaled, is at most the least cost, and hardly less.
    """
    rng = np.random.default_rng(seed)
    low = rng.integers(-3, 2, 4)
    high = low + rng.integers(0, 4, 4)
    values, side, cost = rng.normal(size=4), float(rng.normal()), rng.normal(size=4)
    row, scaled = relaxed(np.arange(4), values, side, low, high), relaxed(np.arange(4), -cost, None, low, high)
    points = list(product(*map(range, low.tolist(), (high + 1).tolist())))
    for point in points:
        kept = np.dot(np.array(row.coefficients, object), point) >= row.side
        activity = float(values @ np.array(point))
        assert kept or activity < side
        assert not kept or activity >= side - 3 * POINT_ROUNDING  # POINT_ROUNDING, the shift's unit, and float64
    best = max(np.dot(np.array(scaled.coefficients, object), point) for point in points)
    least = min(float(cost @ np.array(point)) for point in points)
    bound = _unscaled(program(cost, [], low, high, True), low, scaled, float(best))
    assert least - 3 * POINT_ROUNDING <= bound <= least + 1e-15 * np.abs(cost).sum()


def test_what_does_not_fit_64_bits_is_refused():
    """A wrapped product would be a wrong answer."""
    with pytest.raises(BackendMissing, match="64 bits"):
        relaxed(np.arange(1), np.array([1e30]), 1.0, np.zeros(1, np.int64), np.ones(1, np.int64))
