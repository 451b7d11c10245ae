"""Scores on a table small enough to do by hand."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.bench.figures.scores import (
    alone,
    common,
    contributions,
    growth,
    penalised,
    primal_integral,
    time_to,
    virtual_best,
)

NAN = np.nan
LIMIT = 10.0
SECONDS = (
    np.array(  # cases by methods: a fast one, a thorough one, one that never is the best, one that settles nothing
        [
            [1.0, 4.0, 5.0, NAN],
            [2.0, 2.0, 6.0, NAN],
            [NAN, 8.0, NAN, NAN],
            [NAN, NAN, NAN, NAN],
        ]
    )
)


def test_a_table_by_hand():
    """Penalised means count 2 or 10 limits for each case left open; the virtual best takes each row's least."""
    assert penalised(SECONDS, LIMIT, 2) == pytest.approx([(1 + 2 + 40) / 4, (4 + 2 + 8 + 20) / 4, 51 / 4, 20.0])
    assert penalised(SECONDS, LIMIT, 10) == pytest.approx([203 / 4, 114 / 4, 211 / 4, 100.0])
    np.testing.assert_equal(virtual_best(SECONDS), np.array([[1.0], [2.0], [8.0], [NAN]]))
    assert alone(SECONDS).tolist() == [0, 1, 0, 0]
    assert common(SECONDS).tolist() == [True, True, False, False]
    assert contributions(SECONDS, LIMIT) == pytest.approx([(4 - 1) / 4, (100 - 8) / 4, 0.0, 0.0])


def test_nobody_there_and_nothing_settled():
    """One method is its own virtual best: without it every case is open. Nothing in common is no case."""
    assert contributions(SECONDS[:, :1], LIMIT) == pytest.approx([(200 - 3) / 4])
    assert not common(np.full((3, 2), NAN)).any()


def test_the_primal_integral_is_the_area_above_the_best_value():
    """No plan for 2 s, one at 20 where 10 is best for 3 s, then the best: (2 * 1 + 3 * 1/2) / 10."""
    moments = [[1.0, None, 5.0], [2.0, 20.0, 5.0], [5.0, 10.0, 9.0], [7.0, 10.0, 10.0]]
    assert primal_integral(moments, 10.0, LIMIT) == pytest.approx(0.35)
    assert primal_integral([], 10.0, LIMIT) == 1.0
    assert primal_integral([[12.0, 10.0, 10.0]], 10.0, LIMIT) == 1.0
    assert primal_integral([[0.0, 0.0, 0.0]], 0.0, LIMIT) == 0.0


def test_the_time_to_a_gap_is_that_of_the_first_moment_within_it():
    """At 5 s the gap is .1, at 7 s it is 0."""
    moments = [[2.0, 20.0, None], [5.0, 10.0, 9.0], [7.0, 10.0, 10.0]]
    assert time_to(moments, 0.1) == 5.0
    assert time_to(moments, 0.01) == 7.0
    assert np.isnan(time_to(moments[:2], 0.01))


def test_growth_is_the_slope_in_logarithms():
    """Seconds that are a power of size have that exponent without error; two sizes are no growth."""
    sizes = np.array([10.0, 100.0, 1000.0, 1000.0])
    exponent, error = growth(sizes, 3e-4 * sizes**1.5)
    assert exponent == pytest.approx(1.5)
    assert error == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(growth(sizes, np.array([1.0, 2.0, NAN, NAN]))).all()
    noisy, error = growth(sizes, np.array([1.0, 10.0, 90.0, 110.0]))
    assert abs(noisy - 1.0) <= error < 0.1
