"""Where a plan is easily seen there is one, and no search gives up while time is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.methods import gates
from crowdopt.assign.methods.gates import prices_decide
from crowdopt.assign.methods.portfolio import AT_LAST, LEFT_OUT, Case
from crowdopt.assign.plan import breaches
from crowdopt.core.clock import Clock
from crowdopt.core.solution import Options
from crowdopt.crowd.stated.groups import Group, OwnRows


def test_a_row_that_every_plan_keeps_changes_nothing():
    """Two tasks, four workers, an own row that no label can break: the plan without it is a plan with it."""
    instance = crowdopt.AssignmentInstance(
        [[0.95, 0.86, 0.8, 0.77]], [0, 0], [1, 1, 2, 2], [0.1, 0.05], rule="exact-error", cost=[4.0, 1.0, 1.0, 1.0]
    )
    row = OwnRows(["row"], np.zeros(1, int), np.array([[0, 2]]), np.ones(1), np.array([-np.inf]), np.array([1.0]))
    alone, beside = (crowdopt.assign(one, time_limit=5) for one in (instance, replace(instance, own_rows=row)))
    assert alone.proven and alone.objective == 7
    assert beside.objective == 7


def test_time_that_no_stage_used_is_the_engine_s():
    """Where nobody has a plan the engine looks for one with all that is left; where somebody has, it does nothing."""
    group = Group("half", range(6), max_share=0.6)
    instance = crowdopt.AssignmentInstance([np.linspace(0.6, 0.95, 12)], [0] * 40, 20, 0.1, groups=(group,))
    options = Options(time_limit=30.0, nodes=8)
    case = Case(instance, SOLVERS, options, Clock(options.time_limit), None)
    plan = AT_LAST.run(case, None)
    assert plan is not None and plan.found and not breaches(instance, plan.pairs)
    assert AT_LAST.run(case, plan) is None


def in_families(rule: str) -> crowdopt.AssignmentInstance:
    """A thousand tasks, a hundred workers in twenty families, one label of each family for a task at most."""
    families = [Group(f"family {j}", range(5 * j, 5 * j + 5), max_per_task=1, dependent=True) for j in range(20)]
    return replace(crowdopt.recipe("R10:1000x100", 0), rule=rule, groups=families)


@pytest.mark.slow
def test_families_and_exact_errors():
    """The best worker of each family, as long as they have room, serve all tasks: some plan is easily found."""
    assert crowdopt.assign(in_families("exact-error"), time_limit=10, gap=0.0).found


@pytest.mark.slow
def test_nobody_gives_up_while_the_gap_is_open(compiled):
    """A method that stops before the time is over is near the optimum: there is time left to be used."""
    plan = crowdopt.assign(in_families("bhattacharyya"), time_limit=10, gap=0.0)
    assert not plan.gave_up or plan.gap <= 0.01


def test_groups_left_out_give_a_bound_and_a_plan_that_is_mended(monkeypatch):
    """Without families a plan costs no more: its bound holds with them, and tasks that break one are dealt anew."""
    families = [Group(f"family {j}", (2 * j, 2 * j + 1), max_per_task=1) for j in range(6)]
    instance = crowdopt.AssignmentInstance([np.linspace(0.7, 0.95, 12)], [0] * 40, 20, 0.1, groups=families)
    monkeypatch.setattr(gates, "HOPELESS", 0)
    options = Options(time_limit=30.0, nodes=8)
    plan = LEFT_OUT.run(Case(instance, SOLVERS, options, Clock(options.time_limit), None), None)
    alone = crowdopt.assign(replace(instance, groups=()), time_limit=30, nodes=8)
    assert plan is not None and plan.found and not breaches(instance, plan.pairs)
    assert alone.bound - 1e-6 <= plan.bound <= crowdopt.assign(instance, time_limit=30, nodes=8).objective


@pytest.mark.parametrize("priced", [True, False])
def test_sets_come_first_where_labels_are_few_and_have_prices(priced):
    """Tasks of one type with priors of their own, workers of five prices: the engine's, and else taken one by one."""
    rng, n, m = np.random.default_rng(0), 600, 100
    prior = rng.uniform(0.3, 0.7, n)
    instance = crowdopt.AssignmentInstance(
        [np.repeat([0.7, 0.8], m // 2)],
        np.zeros(n, int),
        n,
        0.05,
        prior=np.column_stack([prior, 1 - prior]),
        cost=rng.integers(1, 6, m) if priced else np.ones(m),
    )
    assert prices_decide(instance) == priced
