"""Prices in a unit: the same plans, and bounds rounded up to what a cost can be."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from crowdopt import AssignmentInstance, solve
from tests.assign.by_hand import report_on
from tests.sampled import first_of


@pytest.mark.parametrize(("seed", "rule"), first_of(product(range(8), ["exact-error", "bhattacharyya"]), 3))
def test_a_plan_in_units_is_the_plan_of_the_prices(rule, seed, tmp_path):
    """Ten times the prices cost ten times as much, proven the same way; verify finds it in the folder's own prices."""
    rng = np.random.default_rng(seed)
    cost, budget = rng.integers(1, 30, 6), 100 if seed % 2 else None
    skills, limits = rng.uniform(0.6, 0.95, (2, 6)), {"rule": rule, "cost": cost, "budget": budget}
    whole = AssignmentInstance(skills, np.arange(8) % 2, np.full(6, 5), 0.2, **limits)
    tenth = replace(whole, cost=cost / 10, budget=budget and budget / 10)
    one, other = solve(whole, time_limit=20, gap=0.0), solve(tenth, time_limit=20, gap=0.0)
    assert one.status is other.status and one.proof == other.proof
    if not one.found:
        return
    assert other.objective == pytest.approx(one.objective / 10, rel=1e-12)
    assert other.bound == pytest.approx(one.bound / 10, rel=1e-12)
    assert report_on(tenth, other, tmp_path).holds
