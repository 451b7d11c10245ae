"""Tasks with skills of their own: bounds and plans held against all plans of small crowds, and against verify."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.engine.many_kinds import accepts, solve_many_kinds
from crowdopt.assign.plan import breaches
from crowdopt.core.solution import Options, Status
from crowdopt.crowd.exactness import CERTAIN, errors_of, exact_errors

SECOND = Options(time_limit=0.2)


def drawn(seed: int) -> AssignmentInstance:
    """Three tasks by five workers, with some of every limit."""
    rng = np.random.default_rng([seed, 31])
    n, m, classes = 3, 5, int(rng.choice([2, 2, 3]))
    accuracy = rng.uniform(1 / classes + 0.02, 0.97, (n, m))
    if classes == 2 and rng.random() < 0.3:
        accuracy = np.where(rng.random((n, m)) < 0.3, 1 - accuracy, accuracy)
    accuracy = np.round(accuracy, 1) if rng.random() < 0.2 else accuracy
    pairs = rng.permutation(np.array(list(product(range(n), range(m)))))
    cost = [np.ones(m), rng.uniform(0.2, 2, m), rng.integers(1, 4, (n, m)).astype(float)][int(rng.integers(0, 3))]
    return AssignmentInstance(
        accuracy,
        None,
        rng.integers(1, 4, m),
        rng.uniform(0.05, 0.35, n),
        rule="exact-error",
        cost=cost,
        classes=classes,
        forbidden=pairs[:2] if rng.random() < 0.4 else None,
        fixed=pairs[2:3] if rng.random() < 0.3 else None,
        collected=pairs[4:6] if rng.random() < 0.3 else None,
        min_labels=rng.integers(0, 3, n) if rng.random() < 0.3 else None,
        max_labels=rng.integers(3, 5, n) if rng.random() < 0.3 else None,
        prior=rng.dirichlet(np.full(classes, 5.0), n) if rng.random() < 0.3 else None,
        budget=float(rng.uniform(2, 8)) if rng.random() < 0.2 else None,
    )


def least_cost(instance: AssignmentInstance) -> float:
    """What the cheapest plan costs, by looking at all."""
    n, m = instance.n_tasks, instance.n_workers
    fewest, most = instance.new_label_limits
    known = instance.collected
    sets = []
    for task in range(n):
        held = known[known[:, 0] == task, 1].tolist()
        out = set(instance.barred[instance.barred[:, 0] == task, 1].tolist())
        must = set(instance.fixed[instance.fixed[:, 0] == task, 1].tolist())
        mine = []
        for size in range(int(fewest[task]), min(m, int(most[task])) + 1):
            for chosen in map(list, combinations(range(m), size)):
                if out & set(chosen) or must - set(chosen):
                    continue
                error = errors_of(instance, np.array([task]), [np.array(held + chosen, np.int64)])[0]
                if error <= instance.epsilon[task] + CERTAIN:
                    mine.append((float(instance.cost[task, chosen].sum()), np.bincount(chosen, minlength=m)))
        sets.append(mine)
    best = np.inf
    for plan in product(*sets):
        cost = sum(one[0] for one in plan)
        if cost < best and (sum(one[1] for one in plan) <= instance.capacity).all():
            best = cost
    return best if instance.budget is None or best <= instance.budget + 1e-9 else np.inf


def test_bounds_and_plans_are_those_of_the_cheapest_plan() -> None:
    """No bound is above what the cheapest plan costs, no plan costs less or breaks a limit, and few cost more."""
    found = equal = 0
    for seed in range(15):
        instance = drawn(seed)
        assert accepts(instance)
        best, plan = least_cost(instance), solve_many_kinds(instance, SOLVERS, SECOND)
        assert plan.bound <= best + 1e-6 * max(1.0, best)
        if plan.pairs is None:
            continue
        found += 1
        assert not breaches(instance, plan.pairs)
        assert (exact_errors(instance, plan.pairs)[0] <= instance.epsilon + CERTAIN).all()
        assert plan.objective is not None
        assert plan.objective >= best - 1e-9
        equal += plan.objective <= best + 1e-9
    assert found
    assert equal > found / 2


def test_verify_finds_the_bound_again_where_capacities_bind() -> None:
    """Its search is another one: forty tasks, each with accuracies of its own, and little more room than needed."""
    rng = np.random.default_rng(3)
    instance = AssignmentInstance(rng.uniform(0.6, 0.95, (40, 6)), None, np.full(6, 11), 0.12, rule="exact-error")
    plan = solve_many_kinds(instance, SOLVERS, Options(time_limit=20.0))
    assert plan.found
    assert plan.bound > 0
    checked = crowdopt.verify(instance, plan)
    assert checked.holds
    assert checked.bound == plan.bound


def test_a_task_that_all_labels_together_do_not_settle_is_proven() -> None:
    """More labels than are followed by exact laws do not hide that there is no plan."""
    skills = np.vstack([np.full(20, 0.9), np.full(20, 0.55)])
    instance = AssignmentInstance(skills, None, np.full(20, 2), 0.05, rule="exact-error")
    assert solve_many_kinds(instance, SOLVERS, SECOND).status is Status.INFEASIBLE


def test_tasks_with_more_labels_than_are_followed_have_a_plan() -> None:
    """Sets of more labels than laws follow are the best workers, as many as are needed."""
    rng = np.random.default_rng(0)
    instance = AssignmentInstance(rng.uniform(0.6, 0.66, (3, 40)), None, np.full(40, 3), 0.1, rule="exact-error")
    plan = solve_many_kinds(instance, SOLVERS, SECOND)
    assert plan.pairs is not None
    assert np.bincount(plan.pairs[:, 0]).min() > 14
    assert (exact_errors(instance, plan.pairs)[0] <= instance.epsilon + CERTAIN).all()


@pytest.mark.slow
def test_a_hundred_thousand_tasks_have_a_plan_near_its_bound() -> None:
    """Each task with skills of its own, prices that differ, and capacities that bind."""
    rng = np.random.default_rng(1)
    accuracy, cost = rng.uniform(0.6, 0.95, (100_000, 20)), rng.uniform(0.5, 2, 20)
    instance = AssignmentInstance(accuracy, None, np.full(20, 7_500), 0.1, rule="exact-error", cost=cost)
    plan = crowdopt.assign(instance, time_limit=30, gap=0.0)
    assert plan.found
    assert not breaches(instance, plan.pairs)
    assert plan.gap < 0.05


def test_limits_that_tie_tasks_otherwise_are_left_to_others() -> None:
    """Least loads, groups and tasks hard for all workers are not known to these loops."""
    instance = drawn(1)
    assert not accepts(replace(instance, min_load=np.ones(5, np.int64)))
    assert not accepts(replace(instance, rule="probit"))
    assert not accepts(replace(instance, groups=(crowdopt.Group("g", (0, 1), max_per_task=1),)))


def test_labels_that_tell_nothing_count_as_labels():
    """Guessers fill up what a task must have at least: no set of those who know anything is as large."""
    accuracy = np.full((2, 23), 0.7)
    accuracy[:, 9:] = 0.5
    few = np.array([17, 7])
    instance = AssignmentInstance(accuracy, None, np.full(23, 2), 0.2, rule="exact-error", min_labels=few)
    assert not accepts(instance) and accepts(replace(instance, min_labels=np.zeros(2, np.int64)))
    plan = crowdopt.assign(instance, time_limit=20)
    assert plan.found and plan.objective == few.sum()
