"""What a plan breaks is what arithmetic that knows nothing of the package says it breaks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, OwnRows
from crowdopt.crowd.vote_errors import breaches, broken, worst_breach
from tests.checkers import plans
from tests.draw import planned


@settings(max_examples=12)
@given(st.integers(0, 10**6))
def test_a_plan_breaks_what_it_breaks_by_rational_sums(seed):
    """A plan that keeps all limits, and every plan that is one label away: with any limits and rule, in shares too."""
    found = planned(seed, 4, 6, skills="six")
    instance, chosen = found.instance, plans.table(found.instance, found.plan)
    assume(instance.rule != "probit")  # whose plans the checker holds to their exact errors
    for flip in np.vstack([np.zeros(24, bool), np.eye(24, dtype=bool)]):
        pairs = np.argwhere(chosen ^ flip.reshape(4, 6))
        assert (broken(instance, pairs) == "") == (not plans.broken(instance, pairs))
        ones = np.ones(len(pairs))
        assert breaches(instance, pairs, ones, 1e-6) == breaches(instance, pairs, None, 1e-6)
        assert not len(pairs) or worst_breach(instance, pairs, ones * 1.5) >= 0.5
    assert any(one.limit == "is in the plan twice" for one in breaches(instance, np.repeat(pairs, 2, axis=0)))


@pytest.mark.parametrize("lower", [-np.inf, -1e13])
def test_a_number_that_takes_no_part_excuses_nothing(lower):
    """Of a row, rounding is let pass by what it adds up, not by what it would add or by its other side."""
    pairs = np.array([(i, j) for i in range(4) for j in range(6)])
    numbers = np.append(1e12, np.ones(23))
    row = OwnRows(["r"], np.zeros(24, np.int64), pairs, numbers, np.array([lower]), np.array([3.0]))
    instance = AssignmentInstance(np.full((1, 6), 0.95), np.zeros(4, np.int64), np.full(6, 4), 0.2, own_rows=row)
    assert any("row r" in str(one) for one in breaches(instance, pairs[1:]))
    assert not any("row r" in str(one) for one in breaches(instance, pairs[1:4]))
