"""Figures that comparisons rest on, on cases where they are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.benching.figures import par2, profile, shifted_mean, times_as_long

NAN = np.nan
SECONDS = st.lists(st.lists(st.one_of(st.floats(0.001, 100), st.just(NAN)), min_size=3, max_size=3), min_size=1)


def test_the_shifted_mean_of_equal_times_is_that_time():
    """And a case that was not settled counts the limit, as does one settled after it."""
    assert shifted_mean(np.full((4, 2), 3.0), 10.0) == pytest.approx([3.0, 3.0])
    assert shifted_mean(np.array([[NAN, 12.0, 10.0]]), 10.0) == pytest.approx([10.0, 10.0, 10.0])
    assert shifted_mean(np.array([[0.0], [3.0]]), 10.0) == pytest.approx([1.0])  # sqrt(1 * 4) - 1


def test_par2_counts_the_unsettled_twice():
    """By its definition in the SAT competitions."""
    assert par2(np.array([[NAN, 4.0], [2.0, 12.0]]), 10.0) == pytest.approx([11.0, 7.0])


def test_the_ratio_s_interval_covers_as_often_as_it_says():
    """Paired cases whose log differences are normal: Student's interval holds 95 % of the time, by the binomial law."""
    rng, runs = np.random.default_rng(0), 4000
    inside = 0
    for _ in range(runs):
        first = rng.lognormal(1, 1, 6)
        second = (first + 1) * np.exp(rng.normal(0.4, 0.2, 6)) - 1
        _, low, high = times_as_long(np.column_stack([first, second]), 1e9)
        inside += low <= np.exp(0.4) <= high
    assert abs(inside / runs - 0.95) < 4 * (0.95 * 0.05 / runs) ** 0.5
    assert times_as_long(np.array([[1.0, 3.0]]), 10.0) == pytest.approx((2.0, 0.0, np.inf))


@given(SECONDS)
def test_means_keep_order_and_range(rows):
    """A method that is never slower than another has no larger mean; none lies outside its own times."""
    seconds = np.array(rows)
    counted = np.minimum(np.where(np.isnan(seconds), 50.0, seconds), 50.0)
    faster = np.column_stack([seconds, counted.min(axis=1)])
    means = shifted_mean(faster, 50.0)
    assert (means[3] <= means[:3] + 1e-9).all()
    assert (means[:3] >= counted.min(axis=0) - 1e-9).all()
    assert (means[:3] <= counted.max(axis=0) + 1e-9).all()


@given(SECONDS)
def test_a_profile_begins_with_the_firsts_and_ends_with_the_settled(rows):
    """Shares never fall; at factor 1 they are how often a method was the fastest, at the end how often it settled."""
    seconds = np.array(rows)
    factors, shares = profile(seconds)
    assert factors[0] == 1.0
    assert (np.diff(factors) > 0).all()
    assert (np.diff(shares, axis=0) >= 0).all()
    if np.isfinite(seconds).any():
        assert shares[-1] == pytest.approx(np.isfinite(seconds).mean(axis=0))
        best = np.min(np.where(np.isnan(seconds), np.inf, seconds), axis=1, keepdims=True)
        assert shares[0] == pytest.approx((seconds == best).mean(axis=0))
