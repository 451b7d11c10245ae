"""CP-SAT's integers are a relaxation: no point is lost, a bound holds, and little is gained. No ortools needed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.solvers import BackendMissing
from crowdopt.solvers.ortools import POINT_ROUNDING, _unscaled, relaxed
from crowdopt.testing.backend_contract import program


def random_box(rng):
    low = rng.integers(-3, 2, 4)
    return low, low + rng.integers(0, 4, 4)


def points(low, high):
    return product(*(range(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)))


@given(st.integers(0, 10_000))
def test_every_point_of_a_row_is_a_point_of_the_integers(seed):
    """Coefficients go up and the side goes down, for columns measured from their lower sides."""
    rng = np.random.default_rng(seed)
    low, high = random_box(rng)
    values, side = rng.normal(size=4), float(rng.normal())
    row = relaxed(np.arange(4), values, side, low, high)
    for point in points(low, high):
        scaled = sum(a * b for a, b in zip(row.coefficients, point, strict=True)) >= row.side
        activity = float(values @ np.array(point))
        if activity >= side:
            assert scaled
        if scaled:
            assert activity >= side - 3 * POINT_ROUNDING  # POINT_ROUNDING, the shift's unit, and float64


@given(st.integers(0, 10_000))
def test_a_bound_on_the_integers_is_a_bound_on_the_cost(seed):
    """The best scaled value, unscaled, is at most the least cost, and hardly less."""
    rng = np.random.default_rng(seed)
    low, high = random_box(rng)
    cost = rng.normal(size=4)
    scaled = relaxed(np.arange(4), -cost, None, low, high)
    best = max(sum(a * b for a, b in zip(scaled.coefficients, point, strict=True)) for point in points(low, high))
    least = min(float(cost @ np.array(point)) for point in points(low, high))
    bound = _unscaled(program(cost, [], low, high, True), low, scaled, float(best))
    assert bound <= least + 1e-15 * np.abs(cost).sum()
    assert bound >= least - 3 * POINT_ROUNDING


def test_what_does_not_fit_64_bits_is_refused():
    """A wrapped product would be a wrong answer."""
    with pytest.raises(BackendMissing, match="64 bits"):
        relaxed(np.arange(1), np.array([1e30]), 1.0, np.zeros(1, np.int64), np.ones(1, np.int64))
