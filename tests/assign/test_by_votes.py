"""Where votes decide: the oracle against every set, plans under limits, and what nobody can plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import binom

from crowdopt import AssignmentInstance, Group, Status, recipe, solve
from crowdopt.assign.oracle import EffortParams, Oracle
from crowdopt.assign.problem import problem_of
from crowdopt.assign.vote_kernels import LONGEST
from crowdopt.core.clock import Clock
from crowdopt.crowd.vote_errors import exact_errors
from tests.checkers.plans import sets_of, table
from tests.draw import WISHES, campaigns


@given(campaigns(16, ("exact-error", "probit"), [wish for wish in WISHES if "several" not in wish]))
@settings(max_examples=60)
def test_the_oracle_finds_the_cheapest_set_of_each_task_and_proves_no_more(one):
    """Against every set: the bound is below it however little was looked at, and meets it after a long look."""
    problem, rng = problem_of(one), np.random.default_rng(0)
    duals = problem.coupling.valid(np.where(rng.random(problem.coupling.lower.size) < 0.5, -rng.random(), 0.0))
    price = problem.coupling.prices(duals)[problem.rows.type[problem.row_of]][:, problem.worker_class]
    some, most = (
        Oracle(problem, 1).sweep(duals, EffortParams(nodes=nodes, through=200), Clock(60.0)) for nodes in (1, 20_000)
    )
    power = problem.power(most.sets.row, most.sets.owner, most.sets.label)
    for task, fixed in enumerate(table(one, one.fixed)):
        k = problem.kind_of[task]
        least = min((float(price[k, new & ~fixed].sum()) for *_, new in sets_of(one, task)), default=np.inf)
        assert max(some.value[k], most.value[k]) <= least + 1e-6
        if one.classes == 2 and not one.difficulty.share:
            assert most.value[k] == pytest.approx(least, rel=1e-5, abs=1e-6) or least == np.inf
            assert least == np.inf or (power[most.kind == k] >= problem.target[k]).any()


def cheapest(one: AssignmentInstance) -> tuple[float, float]:
    """What a set of the first task costs at least, and the cheapest one found."""
    problem = problem_of(one)
    nothing = np.zeros(problem.coupling.lower.size)
    swept = Oracle(problem, 1).sweep(nothing, EffortParams(nodes=20_000), Clock(60.0))
    k = problem.kind_of[0]
    return float(swept.value[k]), float(swept.cost[k])


def test_sets_too_long_to_be_followed_are_not_forgotten():
    """Workers of one skill and price, and an expert who costs more than the least odd number of them that is enough.

    Sets of so many labels are not looked for; the bound is still below them.
    """
    workers, target = 60, 0.08
    enough = next(n for n in range(1, workers, 2) if binom.sf(n // 2, n, 0.4) <= target)
    skill, price = np.append(np.full(workers, 0.6), 0.95), np.append(np.ones(workers), workers)
    one = AssignmentInstance(skill[None], [0], np.ones(workers + 1, np.int64), target, rule="exact-error", cost=price)
    assert LONGEST < cheapest(one)[0] <= enough


def test_as_many_labels_are_had_as_are_asked_for():
    """One would do."""
    one = AssignmentInstance([[0.9, 0.8, 0.9, 0.8]], [0], [1] * 4, 0.15, rule="exact-error", min_labels=3)
    assert cheapest(one) == (pytest.approx(3.0, rel=1e-6), pytest.approx(3.0))


def test_least_loads_are_proven():
    """Three types, workers who all differ: labels that serve no need are counted at their price, and a proof comes."""
    base = replace(recipe("L3:300x100", 0), epsilon=0.25, rule="bhattacharyya")
    load = np.minimum(base.capacity, 8)
    plan = solve(replace(base, min_load=load), require="served", time_limit=30)
    assert plan.found and plan.gap <= 0.005 and (plan.loads >= load).all()


def test_what_no_plan_keeps_is_proven_infeasible():
    """The multipliers of the LP over classes prove it, groups' among them."""
    instance, home = recipe("R10:100x80", seed=0), np.random.default_rng(0).integers(0, 3, 80)
    groups = [Group(f"g{k}", np.flatnonzero(home == k).tolist(), max_per_task=1) for k in range(3)]
    plan = solve(replace(instance, groups=groups))
    assert plan.status is Status.INFEASIBLE and plan.proof == "certificate"


def test_tasks_with_too_many_labels_for_exact_errors_have_a_plan_all_the_same():
    """Fifteen answers can be combined in 32,768 ways: more than are followed, with every label more twice as many."""
    fixed = np.column_stack([np.zeros(15, np.int64), np.arange(15)])
    many = AssignmentInstance(np.full((1, 40), 0.6), [0, 0], np.full(40, 2), 0.2, rule="exact-error", fixed=fixed)
    plan = solve(many, time_limit=2)
    assert plan.found and exact_errors(many, plan.pairs)[0].max() <= 0.2
