"""Where a plan is easily seen there is one, and no search gives up while time is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.assign.problem import problem_of
from crowdopt.assign.standing import NEVER
from crowdopt.assign.state import Holding
from crowdopt.crowd.groups import Group, OwnRows
from tests.checkers.plans import broken


def test_a_row_that_every_plan_keeps_changes_nothing():
    """Two tasks, four workers, an own row that no label can break: the plan without it is a plan with it."""
    instance = crowdopt.AssignmentInstance(
        [[0.95, 0.86, 0.8, 0.77]], [0, 0], [1, 1, 2, 2], [0.1, 0.05], rule="exact-error", cost=[4.0, 1.0, 1.0, 1.0]
    )
    row = OwnRows(["row"], np.zeros(1, int), np.array([[0, 2]]), np.ones(1), np.array([-np.inf]), np.array([1.0]))
    alone, beside = (crowdopt.solve(one, time_limit=5) for one in (instance, replace(instance, own_rows=row)))
    assert alone.proven and alone.objective == 7
    assert beside.objective == 7


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["exact-error", "bhattacharyya"])
def test_families_are_served_and_nobody_gives_up_while_the_gap_is_open(rule):
    """A thousand tasks, a hundred workers in twenty families, one label of each family for a task at most.

    The best worker of each family, as long as they have room, serve all tasks: some plan is easily found. Who stops
    before the time is over is near the optimum.
    """
    families = [Group(f"family {j}", range(5 * j, 5 * j + 5), max_per_task=1, dependent=True) for j in range(20)]
    instance = replace(crowdopt.recipe("R10:1000x100", 0), rule=rule, groups=families)
    plan = crowdopt.solve(instance, time_limit=10, gap=0.0)
    assert plan.found
    if rule == "bhattacharyya":
        assert not plan.gave_up or plan.gap <= 0.01


@pytest.mark.parametrize("rule", ["exact-error", "bhattacharyya"])
@pytest.mark.parametrize("share", [{"min_share": 0.3}, {"max_share": 0.4}])
def test_labels_beside_keep_shares(rule, share):
    """Tasks are served one after another without a thought of shares; labels beside mend these, whoever is cheapest."""
    rng = np.random.default_rng(0)
    skills, cost = rng.uniform(0.7, 0.95, (2, 12)), np.repeat([1.0, 2.0], 6)
    few, many = Group("some", range(6, 12), **share), Group("some", range(6), **share)
    instance = crowdopt.AssignmentInstance(
        skills,
        np.arange(40) % 2,
        np.full(12, 40),
        0.1,
        rule=rule,
        cost=cost,
        groups=[few if "min_share" in share else many],
    )
    problem = problem_of(instance)
    held = Holding.empty(problem, 64, 0)
    held.complete(cost[None] * np.ones((2, 1)), whole_or_none=True)
    assert broken(instance, problem.pairs(*held.labels(), NEVER)[0])
    held.mend()
    assert not broken(instance, problem.pairs(*held.labels(), NEVER)[0])
