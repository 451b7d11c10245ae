"""The second opinion counts limits by itself, and comes to what the methods come to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, OwnRows
from crowdopt.assign.plan import breaches
from crowdopt.crowd.kept import broken_limits, worst_excess
from tests.small import instances


@settings(max_examples=37)
@given(instances())
def test_two_counts_of_every_limit_agree(instance):
    """Random pairs, whole and in shares, some of them twice: each limit broken by the same amount in both counts."""
    rng = np.random.default_rng(instance.n_tasks + 10 * instance.n_workers)
    for shared in (False, True):
        size = int(rng.integers(0, 12))
        pairs = np.column_stack([rng.integers(0, top, size) for top in (instance.n_tasks, instance.n_workers)])
        if not shared:
            pairs = np.unique(pairs, axis=0)
        amounts = rng.uniform(-0.2, 1.3, len(pairs)) if shared else None
        if shared:
            keep = np.unique(pairs, axis=0, return_index=True)[1]
            pairs, amounts = pairs[keep], amounts[keep]
        mine = {str(one) for one in broken_limits(instance, pairs, amounts)}
        assert mine == {str(one) for one in breaches(instance, pairs, amounts)}


@settings(max_examples=12)
@given(instances())
def test_a_pair_that_is_there_twice_is_found(instance):
    """A worker labels a task once."""
    pair = np.array([[0, 0], [0, 0]])
    assert any(one.limit == "is in the plan twice" for one in broken_limits(instance, pair))
    assert worst_excess(instance, pair) >= 1


@pytest.mark.parametrize("lower", [-np.inf, -1e13])
def test_a_number_that_takes_no_part_excuses_nothing(lower):
    """Of a row, rounding is let pass by what it adds up, not by what it would add or by its other side."""
    pairs = np.array([(i, j) for i in range(4) for j in range(6)])
    numbers = np.append(1e12, np.ones(23))
    row = OwnRows(["r"], np.zeros(24, np.int64), pairs, numbers, np.array([lower]), np.array([3.0]))
    instance = AssignmentInstance(np.full((1, 6), 0.95), np.zeros(4, np.int64), np.full(6, 4), 0.2, own_rows=row)
    for count in (broken_limits, breaches):
        assert any("row r" in str(one) for one in count(instance, pairs[1:]))
        assert not any("row r" in str(one) for one in count(instance, pairs[1:4]))
