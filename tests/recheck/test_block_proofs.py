"""The checker's own knapsack and what multipliers prove by it, against brute force."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt.recheck.bounds.proofs import minimum_knapsack, prove_blocks
from tests.small import brute_force, instances

ROUNDING = 1e-9


def knapsack(seed: int):
    """Costs of either sign, worths with many ties, a need that may be out of reach."""
    rng = np.random.default_rng(seed)
    n, digits = int(rng.integers(1, 11)), rng.integers(1, 4, 2)
    cost, worth = rng.uniform(-0.3, 2.0, n).round(digits[0]), rng.uniform(0.0, 1.0, n).round(digits[1])
    need = rng.uniform(-0.2, 1.1) * worth.sum() + 0.001
    best = np.inf
    for chosen in itertools.product([0, 1], repeat=n):
        if np.dot(chosen, worth) >= need - 1e-13:
            best = min(best, float(np.dot(chosen, cost)))
    return cost, worth, need, best, rng


@settings(max_examples=75)
@given(st.integers(0, 10**9))
def test_verify_s_own_knapsack_agrees_with_brute_force(seed):
    """It is the second opinion on every block bound: never above the optimum, and within its tolerance of it."""
    cost, worth, need, best, _ = knapsack(seed)
    found = minimum_knapsack(cost, worth, need)
    assert found == best or best - 1e-6 * max(1.0, abs(best)) <= found <= best + ROUNDING


@settings(max_examples=15)
@given(instances(), st.integers(0, 10**9))
def test_any_multipliers_bound_every_plan(instance, seed):
    """Weak duality over blocks: whatever stands in a plan folder, no plan costs less than it proves."""
    best = brute_force(instance)
    rng = np.random.default_rng(seed)
    worker, labels = rng.normal(0, 1, instance.n_workers), rng.normal(0, 1, instance.n_tasks)
    bound = prove_blocks(instance, worker, labels, float(-rng.exponential()))
    assert best is None or bound <= best + ROUNDING
