"""Potentials over beliefs: the most one label can lower them, exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.programs.potential import Potential, bending, steps


@given(st.integers(0, 10**6), st.integers(3, 9), st.floats(0.5, 1.0))
def test_no_belief_at_all_loses_more_than_is_said(seed, knots, p):
    """``c(p)`` is the maximum over a continuum, from finitely many beliefs: a dense grid never exceeds it.

    The program's rows, applied to values at the knots, have the same maximum.
    """
    rng = np.random.default_rng(seed)
    where = np.sort(np.concatenate([[0.5, 1.0], rng.uniform(0.5, 1, knots - 2)]))
    one = Potential(where, rng.uniform(0, 5, knots))
    most = float(one.most_gained(p))
    assert one.most_gained([1 - p]) == one.most_gained([p])
    assert max(0, (steps(where, p) @ one.value).max()) == pytest.approx(most, abs=1e-12)
    b = np.linspace(0, 1, 4001)[1:-1]
    after = [(b * p + (1 - b) * (1 - p), b * p), (b * (1 - p) + (1 - b) * p, b * (1 - p))]
    lowered = one.at(b) - sum(chance * one.at(joint / chance) for chance, joint in after)
    assert lowered.max() <= most + 1e-9
    assert most <= 1e-12 or lowered.max() >= most - 0.05 * (1 + most)  # and comes near: no slack was added


@given(st.integers(0, 10**6), st.floats(0.5, 1.0), st.floats(0.0, 1.0))
def test_a_better_worker_brings_more_where_the_potential_is_concave(seed, accuracy, share):
    """Their label can be made into the worse one's by a coin (Blackwell), and a coin does not lower a concave V.

    Concave is where ``bending`` has nothing above 0; a sum with a convex potential, or one that rises from 1/2 on, its
    mirror image, has.
    """
    rng = np.random.default_rng(seed)
    knots = np.sort(np.concatenate([[0.5, 1.0], rng.uniform(0.5, 1, 6)]))
    lines = rng.uniform(1, 5, (6, 1)) - rng.uniform(0, 9, (6, 1)) * (knots - 0.5)
    one = Potential(knots, lines.min(axis=0))
    assert one.most_gained(0.5 + share * (accuracy - 0.5)) <= one.most_gained(accuracy) + 1e-9
    assert (bending(knots) @ one.value <= 1e-12).all()
    assert (bending(knots) @ (one.value + 99 * knots) > 0).any() and (bending(knots) @ (1 - knots) ** 2 > 0).any()
