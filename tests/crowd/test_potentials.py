"""Potentials over beliefs: the most one label can lower them, exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt.programs.potential import Potential, after, bending, grid, steps, turning_points


def potential(seed: int, knots: int, concave: bool = False) -> Potential:
    rng = np.random.default_rng(seed)
    where = np.sort(np.concatenate([[0.5, 1.0], rng.uniform(0.5, 1, knots - 2)]))
    value = rng.uniform(0, 5, knots)
    if concave:  # a minimum of lines that do not rise
        lines = rng.uniform(1, 5, 6)[:, None] - rng.uniform(0, 9, 6)[:, None] * (where - 0.5)
        value = lines.min(axis=0)
    return Potential(where, value)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 9), st.floats(0.5, 1.0))
def test_no_belief_at_all_loses_more_than_is_said(seed, knots, accuracy):
    """``c(p)`` is the maximum over a continuum, from finitely many beliefs: a dense grid never exceeds it."""
    one = potential(seed, knots)
    most = float(one.most_gained(accuracy))
    belief = np.linspace(0, 1, 4001)
    chance, right, wrong = after(belief, accuracy)
    lowered = one.at(belief) - chance * one.at(right) - (1 - chance) * one.at(wrong)
    assert lowered.max() <= most + 1e-9
    assert most <= 1e-12 or lowered.max() >= most - 0.05 * (1 + most)  # and comes near: no slack was added


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.5, 1.0), st.floats(0.0, 1.0))
def test_a_better_worker_brings_more_where_the_potential_is_concave(seed, accuracy, share):
    """Her label can be made into the worse one's by a coin (Blackwell), and a coin does not lower a concave V."""
    one = potential(seed, 8, concave=True)
    worse = 0.5 + share * (accuracy - 0.5)
    assert one.most_gained(worse) <= one.most_gained(accuracy) + 1e-9
    np.testing.assert_array_equal(one.most_gained([1 - accuracy]), one.most_gained([accuracy]))


@pytest.mark.parametrize("accuracy", [0.5, 0.6, 0.93, 1.0])
def test_the_rows_are_the_losses(accuracy):
    """The program's rows, applied to values at the knots, are ``V(b) - E V(b')`` at every turning point."""
    one = potential(3, 7)
    belief = turning_points(one.knots, accuracy)
    chance, right, wrong = after(belief, accuracy)
    lowered = one.at(belief) - chance * one.at(right) - (1 - chance) * one.at(wrong)
    np.testing.assert_allclose(steps(one.knots, accuracy) @ one.value, lowered, atol=1e-12)


def test_bending_tells_concave_from_convex():
    """Its rows are at most 0 for a concave potential and above 0 somewhere for a convex one."""
    knots = grid(40)
    assert (bending(knots) @ np.minimum(1 - knots, 0.3) <= 1e-12).all()
    assert (bending(knots) @ (1 - knots) ** 2 > 1e-6).any()
    assert (bending(knots) @ knots > 1e-6).any()  # rising from 1/2 on: its mirror image makes a kink upwards
