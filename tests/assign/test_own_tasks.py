"""Tasks with skills, targets and pairs of their own: brute force, another solver and verify say the same."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from crowdopt import AssignmentInstance, assign, recipe, relax, solve
from crowdopt.assign.plan import breaches
from crowdopt.crowd.exactness import CERTAIN, exact_errors
from crowdopt.programs import assignment
from tests.assign.by_hand import cheapest, report_on
from tests.sampled import first_of


def individual(seed: int, n: int = 60, m: int = 12) -> AssignmentInstance:
    """Own accuracies and prices, a target per task, barred, fixed and collected pairs, limits on labels and loads."""
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(n * m)[: 3 * n // 2]
    barred, collected, fixed = np.split(np.column_stack(np.divmod(pairs, m)), [n // 2, n])
    fewest = rng.integers(0, 3, n) * (rng.random(n) < 0.3)
    return AssignmentInstance(
        accuracy=rng.uniform(0.6, 0.97, (n, m)),
        task_type=np.arange(n),
        rule="bhattacharyya",
        capacity=rng.integers(n // 3, n // 2 + 8, m),
        epsilon=rng.uniform(0.1, 0.3, n),
        cost=np.round(rng.uniform(0.5, 3.0, (n, m)), 2),
        forbidden=barred,
        collected=collected,
        fixed=fixed[: n // 6],
        min_labels=fewest,
        max_labels=np.where(rng.random(n) < 0.3, fewest + 5, 10**6),
        min_load=rng.integers(0, 4, m),
    )


@pytest.mark.parametrize("rule", ["bhattacharyya", "exact-error"])
@pytest.mark.parametrize("seed", first_of(range(4)))
def test_plans_and_bounds_are_held_against_another_solver(seed, rule, tmp_path):
    """Bounds of either are below the plan of the other, and what is claimed is proven anew."""
    instance = replace(individual(seed, 40), rule=rule)
    plan, other = (assign(instance, method, time_limit=2, gap=0.01) for method in ("exact", "highs"))
    assert plan.found and not breaches(instance, plan.pairs) and plan.gap < 0.05
    assert other.found and plan.bound <= other.objective + 1e-6 and other.bound <= plan.objective + 1e-6
    assert report_on(instance, plan, tmp_path).holds


@pytest.mark.parametrize("seed", first_of(range(10)))
@pytest.mark.parametrize("shared", [False, True])
def test_shares_of_labels_are_the_linear_program_s(seed, shared, tmp_path):
    """Its optimum, proven, with every option; also where ten types have a target per task, forbidden pairs, money."""
    instance = individual(seed)
    if shared:
        rng, drawn = np.random.default_rng(seed), recipe("R10:400x60", seed=seed)
        instance = replace(
            drawn,
            epsilon=drawn.epsilon * rng.uniform(0.7, 1.3, 400),
            forbidden=np.column_stack(np.divmod(np.unique(rng.integers(0, 400 * 60, 300)), 60)),
            cost=np.round(rng.uniform(0.5, 2.0, 60), 2),
            capacity=2 * drawn.capacity,
        )
    full = solve(relax(assignment.build(instance)), "highs-simplex")
    best = float(full.program.cost @ full.primal)
    plan = assign(instance, program="lp", time_limit=30)
    assert plan.objective == pytest.approx(best, rel=1e-6) == plan.certified_bound
    assert report_on(instance, plan, tmp_path).holds


def drawn(seed: int) -> AssignmentInstance:
    """Three tasks by five workers, exact errors, with some of every limit."""
    rng = np.random.default_rng([seed, 31])
    n, m, classes = 3, 5, int(rng.choice([2, 2, 3]))
    accuracy = rng.uniform(1 / classes + 0.02, 0.97, (n, m))
    if classes == 2 and rng.random() < 0.3:
        accuracy = np.where(rng.random((n, m)) < 0.3, 1 - accuracy, accuracy)
    accuracy = np.round(accuracy, 1) if rng.random() < 0.2 else accuracy
    pairs = rng.permutation(np.array(list(product(range(n), range(m)))))
    return AssignmentInstance(
        accuracy,
        None,
        rng.integers(1, 4, m),
        rng.uniform(0.05, 0.35, n),
        rule="exact-error",
        cost=[np.ones(m), rng.uniform(0.2, 2, m), rng.integers(1, 4, (n, m)).astype(float)][int(rng.integers(0, 3))],
        classes=classes,
        forbidden=pairs[:2] if rng.random() < 0.4 else None,
        fixed=pairs[2:3] if rng.random() < 0.3 else None,
        collected=pairs[4:6] if rng.random() < 0.3 else None,
        min_labels=rng.integers(0, 3, n) if rng.random() < 0.3 else None,
        max_labels=rng.integers(3, 5, n) if rng.random() < 0.3 else None,
        prior=rng.dirichlet(np.full(classes, 5.0), n) if rng.random() < 0.3 else None,
        budget=float(rng.uniform(2, 8)) if rng.random() < 0.2 else None,
    )


@pytest.mark.parametrize("seed", first_of(range(40), 20))
def test_bounds_and_plans_are_those_of_the_cheapest_plan(seed):
    """Against all choices of labels, errors by arithmetic of its own."""
    instance = drawn(seed)
    best, plan = cheapest(instance), assign(instance, gap=0.0)
    assert plan.bound <= best * (1 + 1e-6) and plan.found == np.isfinite(best)
    if plan.found:
        assert not breaches(instance, plan.pairs)
        assert (exact_errors(instance, plan.pairs)[0] <= instance.epsilon + CERTAIN).all()
        assert plan.objective >= best - 1e-9 and (plan.objective <= best + 1e-9 or not plan.proven)


def test_labels_that_tell_nothing_count_as_labels():
    """Guessers fill up what a task must have at least: no set of those who know anything is as large."""
    accuracy = np.full((2, 23), 0.7)
    accuracy[:, 9:] = 0.5
    instance = AssignmentInstance(accuracy, None, np.full(23, 2), 0.2, rule="exact-error", min_labels=[17, 7])
    assert assign(instance, time_limit=20).objective == 24


@pytest.mark.slow
def test_a_hundred_thousand_tasks_have_a_plan_near_its_bound() -> None:
    """Each task with skills of its own, prices that differ, and capacities that bind."""
    rng = np.random.default_rng(1)
    accuracy, cost = rng.uniform(0.6, 0.95, (100_000, 20)), rng.uniform(0.5, 2, 20)
    instance = AssignmentInstance(accuracy, None, np.full(20, 7_500), 0.1, rule="exact-error", cost=cost)
    plan = assign(instance, time_limit=30, gap=0.0)
    assert plan.found and not breaches(instance, plan.pairs) and plan.gap < 0.05
