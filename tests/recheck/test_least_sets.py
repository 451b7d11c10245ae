"""The cheapest set of one task by evidence, held against every set."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdopt
from crowdopt.recheck import bounds
from crowdopt.recheck.evidence_kernels import cheapest_bounds

NEAR = 1e-9


def by_all(cost, worth, need) -> float:
    """The least cost of all sets."""
    ways = np.array(list(product([0, 1], repeat=len(cost))))
    return float((ways @ cost)[ways @ worth >= need - 1e-13].min(initial=np.inf))


@settings(max_examples=75)
@given(st.integers(0, 10**9), st.sampled_from([1, 4_000]))
def test_verify_s_own_knapsack_agrees_with_brute_force(seed, states):
    """Costs of either sign, many ties, a need that may be out of reach: never above the optimum, cut short or not."""
    rng = np.random.default_rng(seed)
    n, digits = int(rng.integers(1, 11)), rng.integers(1, 4, 2)
    cost, worth = rng.uniform(-0.3, 2.0, n).round(digits[0]), rng.uniform(0.0, 1.0, n).round(digits[1])
    need = rng.uniform(-0.2, 1.1) * worth.sum() + 0.001
    none, first, value = np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(1)
    only = first, first.copy(), np.array([need]), np.zeros(2, np.int64), none
    cheapest_bounds(*only, worth[None].copy(), cost[None].copy(), 1e-8, states, value)
    best, least = by_all(cost, worth, need), float(value[0])
    assert least == best or least <= best + NEAR
    assert states == 1 or least == best or least >= best - 1e-6 * max(1.0, abs(best))


@pytest.mark.parametrize(("followed", "holds"), [((1, 40_000, 40_000), True), ((1, 1, 1), False)])
def test_more_sets_are_followed_until_what_is_claimed_is_proven(tmp_path, monkeypatch, followed, holds):
    """Thousands of sets may be as good as the best to a ten-thousandth: a true bound must not be called false."""
    crowdopt.write_campaign(crowdopt.recipe("R10:60x40", 0), tmp_path / "campaign")
    plan = crowdopt.solve(tmp_path / "campaign", time_limit=20, nodes=2, output=tmp_path / "plan")
    monkeypatch.setattr(bounds, "FOLLOWED", followed)
    monkeypatch.setattr(bounds, "MORE_CASES", (1, 2, 3))
    report = crowdopt.verify(tmp_path / "campaign", tmp_path / "plan")
    assert plan.certified_bound == report.certified_bound if holds else plan.certified_bound > report.certified_bound
    assert report.holds is holds
