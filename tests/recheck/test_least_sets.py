"""The cheapest set of one task by evidence, held against every set."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdopt
from crowdopt.recheck import bounds
from crowdopt.recheck.bounds import FOLLOWED, JointPull, PairPrices, least_by_evidence
from crowdopt.recheck.evidence_kernels import cheapest_bounds

NEAR = 1e-9


def found(cost, worth, need, states: int = 4_000) -> float:
    """What verify's own search says of one task."""
    none, value = np.zeros(0, np.int64), np.zeros(1)
    only = np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([need]), np.zeros(2, np.int64), none
    cheapest_bounds(*only, worth[None].copy(), cost[None].copy(), 1e-8, states, value)
    return float(value[0])


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
    best, least = by_all(cost, worth, need), found(cost, worth, need, states)
    assert least == best or least <= best + NEAR
    assert states == 1 or least == best or least >= best - 1e-6 * max(1.0, abs(best))


@pytest.mark.parametrize("seed", range(3))
def test_own_pairs_are_taken_out_of_each_search(seed):
    """Barred workers bring nothing, fixed ones are paid and count: each task by all its sets."""
    rng, instance = np.random.default_rng(seed), crowdopt.recipe("R10:40x8", seed)
    drawn = rng.permutation(40 * 8)
    forbidden, fixed = (np.column_stack(np.divmod(pairs, 8)) for pairs in (drawn[:60], drawn[60:90]))
    own = replace(instance, forbidden=forbidden, fixed=fixed).with_epsilon(0.3)
    load = -rng.exponential(0.3, 8)
    prices = PairPrices.of(own, load, 0.0, JointPull.none(own))
    least = least_by_evidence(own, prices, np.arange(40), FOLLOWED[0])
    for i in range(40):
        cost, worth = own.cost[own.task_type[i]] - load, own.evidence[own.task_type[i]]
        given = fixed[fixed[:, 0] == i, 1]
        free = np.setdiff1d(np.arange(8), np.append(given, forbidden[forbidden[:, 0] == i, 1]))
        best = cost[given].sum() + by_all(cost[free], worth[free], own.floor[i] - worth[given].sum())
        assert least[i] == pytest.approx(best, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(("followed", "holds"), [((1, 40_000, 40_000), True), ((1, 1, 1), False)])
def test_more_sets_are_followed_until_what_is_claimed_is_proven(tmp_path, monkeypatch, followed, holds):
    """Thousands of sets may be as good as the best to a ten-thousandth: a true bound must not be called false."""
    instance = crowdopt.recipe("R10:60x40", 0)
    plan = crowdopt.solve(instance, time_limit=20, nodes=2)
    crowdopt.write_campaign(instance, tmp_path / "campaign")
    crowdopt.write_plan(plan, tmp_path / "plan")
    monkeypatch.setattr(bounds, "FOLLOWED", followed)
    monkeypatch.setattr(bounds, "MORE_CASES", (1, 2, 3))
    report = crowdopt.verify(tmp_path / "campaign", tmp_path / "plan")
    assert plan.certified_bound == report.certified_bound if holds else plan.certified_bound > report.certified_bound
    assert report.holds is holds
