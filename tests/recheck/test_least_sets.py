"""The cheapest set of one task by evidence, held against every set."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdopt
from crowdopt.recheck.bounds.individual_proofs import least_sets
from crowdopt.recheck.bounds.proofs import MANY, _each, _kinds, minimum_knapsack

NEAR = 1e-9


def knapsack(seed: int):
    """Costs of either sign, worths with many ties, a need that may be out of reach."""
    rng = np.random.default_rng(seed)
    n, digits = int(rng.integers(1, 11)), rng.integers(1, 4, 2)
    cost, worth = rng.uniform(-0.3, 2.0, n).round(digits[0]), rng.uniform(0.0, 1.0, n).round(digits[1])
    need = rng.uniform(-0.2, 1.1) * worth.sum() + 0.001
    best = np.inf
    for chosen in product([0, 1], repeat=n):
        if np.dot(chosen, worth) >= need - 1e-13:
            best = min(best, float(np.dot(chosen, cost)))
    return cost, worth, need, best, rng


@settings(max_examples=75)
@given(st.integers(0, 10**9))
def test_verify_s_own_knapsack_agrees_with_brute_force(seed):
    """It is the second opinion on every block bound: never above the optimum, and within its tolerance of it."""
    cost, worth, need, best, _ = knapsack(seed)
    found = minimum_knapsack(cost, worth, need)
    assert found == best or best - 1e-6 * max(1.0, abs(best)) <= found <= best + NEAR


def test_both_ways_of_pricing_agree() -> None:
    """Hundreds of such tasks are hundreds of kinds; compiled or not, each has the same least set."""
    rng, instance = np.random.default_rng(0), crowdopt.recipe("R10:400x40", 0)
    drawn = rng.permutation(400 * 40)
    forbidden, fixed = (np.column_stack(np.divmod(pairs, 40)) for pairs in (drawn[:1200], drawn[1200:1250]))
    own = replace(instance, forbidden=forbidden, fixed=fixed)
    load, limit = -rng.exponential(0.3, 40), np.zeros(400)
    assert _kinds(instance, limit) <= 10 and _kinds(own, limit) > MANY
    slow, fast = _each(own, load, limit, 0.0), least_sets(own, load, limit, 1.0)
    assert fast == pytest.approx(slow, rel=1e-6, abs=1e-6)
