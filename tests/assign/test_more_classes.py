"""Plans by exact errors among more than two classes: the fewest labels there are, bounds, and verification."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import factorial, prod

import numpy as np
import pytest

from crowdopt import AssignmentInstance, solve
from crowdopt.verbs.budget import spend
from tests.assign.by_hand import report_on
from tests.checkers.plans import every_plan, least_cost
from tests.draw import campaign
from tests.sampled import first_of


def plurality(labels: int, p: float, classes: int) -> float:
    """Error of the plurality of equal workers, over all counts of the labels of each class."""
    kept = 0.0
    for some in product(range(labels + 1), repeat=classes - 1):
        if sum(some) <= labels:
            count = [*some, labels - sum(some)]
            ways = factorial(labels) // prod(map(factorial, count))
            kept += ways * p ** max(count) * ((1 - p) / (classes - 1)) ** (labels - max(count)) / classes
    return 1 - kept


@pytest.mark.parametrize(
    ("skill", "classes", "target", "workers", "least"),
    first_of([(0.7, 4, 0.1, 12, 0), (0.6, 3, 0.1, 60, 45), (0.6, 3, 0.02, 60, 0)], 2),
)
def test_equal_workers_give_as_many_labels_as_the_best_fixed_plan(skill, classes, target, workers, least):
    """The fewest labels whose plurality errs so little, proven; also more than there are answers to follow."""
    labels = next(k for k in range(least, 80) if plurality(k, skill, classes) <= target)
    limits = {"classes": classes, "rule": "exact-error", "min_labels": np.full(20, least)}
    one = AssignmentInstance(
        np.full((1, workers), skill), np.zeros(20, np.int64), np.full(workers, 20), target, **limits
    )
    plan = solve(one, time_limit=20, gap=0.0)
    assert plan.proven and plan.task_labels.tolist() == [labels] * 20
    np.testing.assert_allclose(plan.exact_error[0], plurality(labels, skill, classes))


@pytest.mark.parametrize("seed", first_of(range(15), 4))
def test_no_bound_is_above_the_best_of_all_plans(seed, tmp_path):
    """An average, and the fewest wrong answers for a sum: plans keep them, bounds hold, and their folders do."""
    mean = campaign(seed, 2, 4, "mean-error classes prior prices")
    plan, money = solve(mean, gap=0.0), least_cost(mean)
    assert plan.bound <= money + 1e-6 and plan.found == (money < np.inf) and plan.objective >= money - 1e-9
    every = every_plan(replace(mean, rule="exact-error"), targets=False)
    fewest, spent = min(kept.sum() for cost, kept, _ in every if cost <= money + 1e-9), spend(mean, money)
    assert spent.wrong_bound - 1e-9 <= fewest <= spent.wrong + 1e-9
    for found in (plan, spent.plan):
        assert report_on(found.instance, found, tmp_path).holds
