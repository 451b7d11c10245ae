"""Plans by exact errors among more than two classes: the fewest labels there are, bounds, and verification."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import factorial, prod

import numpy as np
import pytest

from crowdopt import AssignmentInstance, solve
from crowdopt.verbs.budget import spend
from tests.assign.by_hand import choices, report_on, sets_of
from tests.checkers.plans import least_cost
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
    one = AssignmentInstance(
        np.full((1, workers), skill),
        np.zeros(20, np.int64),
        np.full(workers, 20),
        target,
        classes=classes,
        rule="exact-error",
        min_labels=np.full(20, least),
    )
    plan = solve(one, time_limit=20, gap=0.0)
    assert plan.proven and plan.task_labels.tolist() == [labels] * 20
    np.testing.assert_allclose(plan.exact_error[0], plurality(labels, skill, classes))


@pytest.mark.parametrize("seed", first_of(range(15), 4))
def test_no_bound_is_above_the_best_of_all_plans(seed):
    """Each task's errors, their average, and the fewest wrong answers for a sum: plans keep them, bounds hold."""
    mean = campaign(seed, 2, 4, "mean-error classes prior prices")
    each = replace(mean, rule="exact-error")
    money = least_cost(mean)
    sets = [sets_of(mean, task) for task in range(2)]
    rows, _ = choices(replace(mean, budget=money), sets)
    fewest = np.sum([errors[rows[:, task]] for task, (_, errors, _) in enumerate(sets)], axis=0).min()
    plans = [
        (solve(each, gap=0.0), least_cost(each)),
        (solve(mean, gap=0.0), money),
    ]
    for plan, cost in plans:
        assert plan.bound <= cost + 1e-6
        assert not plan.found or plan.objective >= cost - 1e-9
        assert plan.found == (cost < np.inf) or not plan.proven
    spent = spend(mean, money)
    assert spent.wrong_bound - 1e-9 <= fewest <= spent.wrong + 1e-9


def test_what_is_written_verifies(tmp_path):
    """Forbidden pairs, targets of a task's own, prices, a prior: errors and bounds are recomputed."""
    rng = np.random.default_rng(1)
    own = {"classes": 4, "rule": "exact-error", "cost": rng.choice([1.0, 1.5], 12), "forbidden": [(0, 0), (3, 5)]}
    first = AssignmentInstance(rng.uniform(0.45, 0.9, (1, 12)), np.zeros(6, np.int64), [5] * 12, 0.2, **own)
    first = replace(first, epsilon=rng.choice([0.1, 0.2], 6))
    second = replace(first, prior=[0.4, 0.3, 0.2, 0.1])
    for plan in (solve(first), solve(second), spend(first, 15.0).plan, spend(second, 7.0).plan):
        assert plan.found
        assert report_on(plan.instance, plan, tmp_path).holds
