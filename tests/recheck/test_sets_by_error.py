"""The cheapest set of one task by exact errors, held against every set."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from crowdopt.recheck.bounds import sets_by_error
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
    for seed in range(120):
        task = drawn(seed)
        best = brute(*task)
        assert SetsByError(*task).value() == pytest.approx(best)
        with monkeypatch.context() as few:
            few.setattr(sets_by_error, "MANY", 3)
            assert SetsByError(*task).value() <= best + NEAR
