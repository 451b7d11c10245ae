"""Prices in a unit: the same plans, and bounds rounded up to what a cost can be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from crowdopt import AssignmentInstance, solve
from crowdopt.assign.plan import price_unit
from crowdopt.recheck.bounds import price_step
from tests.assign.by_hand import report_on
from tests.sampled import first_of


@pytest.mark.parametrize(
    ("prices", "unit"),
    [
        ([0.5, 0.8, 12.0], Fraction(1, 10)),
        ([0.0, 2.5, 7.5], Fraction(5, 2)),
        ([5.0, 15.0], Fraction(5)),
        ([1.0, 3.0], None),
        ([np.pi, 1.0], None),
        ([0.0], None),
    ],
)
def test_the_unit_divides_every_price(prices, unit):
    """It is the largest; what is checked finds the same by another way."""
    assert price_unit(np.array([prices])) == unit
    step = price_step(np.array([prices]))
    assert (None if step is None else Fraction(*step)) == (Fraction(1) if prices == [1.0, 3.0] else unit)


@pytest.mark.parametrize("seed", first_of(range(8), 2))
@pytest.mark.parametrize("rule", ["exact-error", "bhattacharyya"])
def test_a_plan_in_units_is_the_plan_of_the_prices(rule, seed, tmp_path):
    """Ten times the prices cost ten times as much, proven the same way; verify finds it in the folder's own prices."""
    rng = np.random.default_rng(seed)
    cost, budget = rng.integers(1, 30, 6), 100 if seed % 2 else None
    whole = AssignmentInstance(
        rng.uniform(0.6, 0.95, (2, 6)), np.arange(8) % 2, np.full(6, 5), 0.2, rule=rule, cost=cost, budget=budget
    )
    tenth = replace(whole, cost=cost / 10, budget=None if budget is None else budget / 10)
    one, other = solve(whole, time_limit=20, gap=0.0), solve(tenth, time_limit=20, gap=0.0)
    assert one.status is other.status and one.proof == other.proof
    if not one.found:
        return
    assert other.objective == pytest.approx(one.objective / 10, rel=1e-12)
    assert other.bound == pytest.approx(one.bound / 10, rel=1e-12)
    assert report_on(tenth, other, tmp_path).holds
