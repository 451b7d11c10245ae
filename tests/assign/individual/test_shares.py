"""Shares of labels where tasks are not alike: the linear program's optimum, its multipliers, its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, Status, assign, recipe, relax, solve
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.individual import linear_plan
from crowdopt.assign.individual.linear_plan import solve_linearly
from crowdopt.assign.individual.prices.own_tasks import own_tasks
from crowdopt.assign.plan import breaches
from crowdopt.core.solution import Options, Progress
from crowdopt.programs import assignment
from crowdopt.recheck.bounds.multipliers import prove
from tests.assign.individual.test_own_stages import individual
from tests.small import instances


def check(instance: AssignmentInstance) -> None:
    """The linear program's own optimum, kept limits, and multipliers that prove the bound by another summation.

    Where there is none, the listener is told which method takes over.
    """
    full = solve(relax(assignment.build(instance)), "highs-simplex")
    told: list[Progress] = []
    plan = solve_linearly(instance, SOLVERS, Options(time_limit=20.0), told.append)
    if plan is None:
        assert not own_tasks(instance).size or told[-1].note == linear_plan.OTHERWISE
        assert full.status is not Status.OPTIMAL or not own_tasks(instance).size
        return
    assert full.status is Status.OPTIMAL
    best = float(full.program.cost @ full.primal)
    assert plan.found and not breaches(instance, plan.pairs, plan.amounts)
    assert plan.objective == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert plan.certified_bound == pytest.approx(best, rel=1e-6, abs=1e-6)
    duals, fewest = plan.duals, instance.new_label_limits[0]
    again = prove(instance, duals.task, duals.worker, duals.labels, duals.budget, fewest)
    assert plan.certified_bound <= again + 1e-9 * max(1.0, abs(again))


@settings(max_examples=40)
@given(instances())
def test_small_cases_equal_the_linear_program(instance):
    """With every option on: the relaxation's optimum by HiGHS over all pairs, or None where there is none."""
    check(instance)


@pytest.mark.slow
@settings(max_examples=300)
@given(instances(most_pairs=40))
def test_many_small_cases_equal_the_linear_program(instance):
    """The same, many times over."""
    check(instance)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))])
def test_own_accuracies_with_every_option(seed):
    """Sixty tasks of their own, barred, fixed and collected pairs, limits on labels and loads."""
    check(individual(seed))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))])
def test_shared_rows_with_a_target_per_task(seed):
    """Ten rows, a target per task, forbidden pairs, then a budget just above the optimum."""
    rng = np.random.default_rng(seed)
    instance = recipe("R10:200x40", seed=seed)
    pairs = np.unique(rng.integers(0, 200 * 40, 300))
    instance = replace(
        instance,
        epsilon=instance.epsilon * rng.uniform(0.7, 1.3, 200),
        forbidden=np.column_stack(np.divmod(pairs, 40)),
        cost=np.round(rng.uniform(0.5, 2.0, 40), 2),
        capacity=2 * instance.capacity,
    )
    check(instance)
    plan = solve_linearly(instance, SOLVERS, Options(time_limit=20.0), None)
    if plan is not None:
        check(replace(instance, budget=1.001 * plan.objective))


def test_a_plan_of_shares_is_verified_where_tasks_are_many(tmp_path, monkeypatch):
    """The verb's own way there, whose folder the second opinion confirms."""
    import crowdopt

    rng = np.random.default_rng(2)
    instance = recipe("R10:400x60", seed=2)
    instance = replace(instance, epsilon=instance.epsilon * rng.uniform(0.7, 1.3, 400))
    called = []
    monkeypatch.setattr(linear_plan, "price_pairs", lambda *given: called.append(1) or PRICE(*given))
    plan = assign(instance, program="lp", time_limit=30.0)
    assert called and plan.found and plan.gap <= 1e-6
    crowdopt.write_campaign(instance, tmp_path / "campaign")
    crowdopt.write_plan(plan, tmp_path / "plan")
    assert crowdopt.verify(tmp_path / "campaign", tmp_path / "plan").holds


PRICE = linear_plan.price_pairs
