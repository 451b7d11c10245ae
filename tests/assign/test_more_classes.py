"""Plans by exact errors among more than two classes: the fewest labels there are, bounds, and verification."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest

from crowdopt import AssignmentInstance, assign, write_campaign, write_plan
from crowdopt.api.budget import spend
from crowdopt.assign.plan import breaches
from crowdopt.crowd.exactness import CERTAIN, exact_errors
from crowdopt.recheck.verification import verify
from tests.sampled import first_of


def plurality(labels: int, p: float, classes: int) -> float:
    """Error of the plurality of equal workers, ties fairly: over all counts of the labels of each class."""
    error = 1.0
    for count in product(range(labels + 1), repeat=classes):
        if sum(count) == labels and count[0] == max(count):
            ways = np.prod([float(comb(sum(count[k:]), count[k])) for k in range(classes)])
            chance = p ** count[0] * ((1 - p) / (classes - 1)) ** (labels - count[0])
            error -= ways * chance / count.count(count[0])
    return error


def least(instance: AssignmentInstance) -> tuple[float, float]:
    """By trying all plans: the least cost that keeps the rule, and the fewest wrong answers for 3 of money."""
    n, m, costs, wrong = instance.n_tasks, instance.n_workers, np.inf, np.inf
    for chosen in product((0, 1), repeat=n * m):
        pairs = np.argwhere(np.array(chosen).reshape(n, m))
        if breaches(replace(instance, rule="mean-error"), pairs):
            continue
        error, cost = exact_errors(instance, pairs)[0], float(instance.prices(pairs).sum())
        average = instance.the_rule.average
        fine = error.mean() <= instance.epsilon.mean() if average else (error <= instance.epsilon + CERTAIN).all()
        costs = min(costs, cost) if fine else costs
        wrong = min(wrong, float(error.sum())) if cost <= 3 else wrong
    return costs, wrong


def drawn(seed: int, rule: str) -> AssignmentInstance:
    """Two tasks with targets of their own, a few workers with prices, some of them mostly wrong."""
    rng, n = np.random.default_rng(seed), 2
    return AssignmentInstance(
        rng.choice([0.05, 0.4, 0.7, 0.8, 0.9], (1, 4)),
        np.zeros(n, np.int64),
        rng.integers(1, n + 1, 4),
        rng.choice([0.25, 0.4], n),
        rule=rule,
        classes=3,
        cost=rng.choice([1.0, 1.5], 4),
        prior=[0.5, 0.25, 0.25] if rng.random() < 0.5 else None,
    )


def test_equal_workers_give_as_many_labels_as_the_best_fixed_plan():
    """Four classes, skill .7, target .1: the fewest labels whose plurality errs so little, for every task, proven."""
    labels = next(k for k in range(20) if plurality(k, 0.7, 4) <= 0.1)
    one = AssignmentInstance(
        np.full((1, 12), 0.7), np.zeros(20, np.int64), [20] * 12, 0.1, classes=4, rule="exact-error"
    )
    plan = assign(one)
    assert plan.proven and plan.task_labels.tolist() == [labels] * 20
    np.testing.assert_allclose(plan.exact_error[0], plurality(labels, 0.7, 4))


@pytest.mark.parametrize("seed", first_of(range(15)))
def test_no_bound_is_above_the_best_of_all_plans(seed):
    """Each task's errors, their average, and the fewest wrong answers for a sum: plans keep them, bounds hold."""
    each, mean = drawn(seed, "exact-error"), drawn(seed, "mean-error")
    cheapest, (cheaper, fewest) = least(each)[0], least(mean)
    plans = [
        (assign(each, gap=0.0), cheapest),
        (assign(each, "patterns", gap=0.0), cheapest),
        (assign(mean, "patterns", gap=0.0), cheaper),
    ]
    for plan, cost in plans:
        assert plan.bound <= cost + 1e-6
        assert not plan.found or plan.objective >= cost - 1e-9
        assert plan.found == (cost < np.inf) or not plan.proven
    spent = spend(mean, 3.0)
    assert spent.wrong_bound - 1e-9 <= fewest <= spent.wrong + 1e-9


def test_what_is_written_verifies(tmp_path):
    """Forbidden pairs, targets of a task's own, prices, a prior: errors and bounds are recomputed."""
    rng = np.random.default_rng(1)
    own = {"classes": 4, "rule": "exact-error", "cost": rng.choice([1.0, 1.5], 12), "forbidden": [(0, 0), (3, 5)]}
    first = AssignmentInstance(rng.uniform(0.45, 0.9, (1, 12)), np.zeros(6, np.int64), [5] * 12, 0.2, **own)
    first = replace(first, epsilon=rng.choice([0.1, 0.2], 6))
    second = replace(first, prior=[0.4, 0.3, 0.2, 0.1])
    for number, plan in enumerate([assign(first), assign(second), spend(first, 15.0).plan, spend(second, 7.0).plan]):
        assert plan.found
        campaign, folder = tmp_path / f"c{number}", tmp_path / f"p{number}"
        write_campaign(plan.instance, campaign)
        write_plan(plan, folder)
        report = verify(campaign, folder)
        assert not report.problems
