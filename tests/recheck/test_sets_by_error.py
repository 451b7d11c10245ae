"""The cheapest set of one task by exact errors and by evidence, held against every set."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdopt
from crowdopt.recheck.bounds import sets_by_error
from crowdopt.recheck.bounds.individual_proofs import least_sets
from crowdopt.recheck.bounds.proofs import MANY, _each, _kinds, minimum_knapsack
from crowdopt.recheck.bounds.sets_by_error import SetsByError

NEAR = 1e-9


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, float, float, int, int]:
    """Up to ten workers with skills and prices of their own, a class that may be likelier, and limits on the set."""
    rng = np.random.default_rng(seed)
    workers, fewest = int(rng.integers(5, 11)), int(rng.integers(0, 4))
    skill, cost = (
        rng.uniform(0.5, rng.choice([0.65, 0.8, 0.95]), workers),
        rng.uniform(0.1, rng.choice([0.2, 3]), workers),
    )
    lean, target = rng.choice([0.5, rng.uniform(0.1, 0.9)]), rng.uniform(0.03, 0.4)
    return skill, cost, float(lean), float(target), fewest, int(rng.integers(fewest + 1, workers + 1))


def brute(skill: np.ndarray, cost: np.ndarray, lean: float, target: float, fewest: int, most: int) -> float:
    """Least cost of all sets within the limits over which the likelier class, for each way to answer, errs little."""
    sets = (list(some) for size in range(fewest, most + 1) for some in combinations(range(skill.size), size))
    return min((float(cost[some].sum()) for some in sets if error(lean, skill[some]) <= target), default=np.inf)


def error(lean: float, skill: np.ndarray) -> float:
    """Sum over all ways to be right and wrong of the less likely class's chance."""
    ways = np.array(list(product((True, False), repeat=skill.size)), dtype=bool)
    one, other = (np.where(side, skill, 1 - skill).prod(axis=1) for side in (ways, ~ways))
    return float(np.minimum(lean * one, (1 - lean) * other).sum())


def test_it_is_the_cheapest_of_all_sets_and_no_more_where_few_are_followed(monkeypatch):
    """Sets that are given up cost no less than the best one, and those not followed no less than what is said."""
    for seed in range(60):
        task = drawn(seed)
        best = brute(*task)
        assert SetsByError(*task).value() == pytest.approx(best)
        with monkeypatch.context() as few:
            few.setattr(sets_by_error, "MANY", 3)
            assert SetsByError(*task).value() <= best + NEAR


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
