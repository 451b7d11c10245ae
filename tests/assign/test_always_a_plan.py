"""Where a plan is easily seen there is one, and no search gives up while time is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.crowd.groups import Group, OwnRows


def test_a_row_that_every_plan_keeps_changes_nothing():
    """Two tasks, four workers, an own row that no label can break: the plan without it is a plan with it."""
    instance = crowdopt.AssignmentInstance(
        [[0.95, 0.86, 0.8, 0.77]], [0, 0], [1, 1, 2, 2], [0.1, 0.05], rule="exact-error", cost=[4.0, 1.0, 1.0, 1.0]
    )
    row = OwnRows(["row"], np.zeros(1, int), np.array([[0, 2]]), np.ones(1), np.array([-np.inf]), np.array([1.0]))
    alone, beside = (crowdopt.assign(one, time_limit=5) for one in (instance, replace(instance, own_rows=row)))
    assert alone.proven and alone.objective == 7
    assert beside.objective == 7


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["exact-error", "bhattacharyya"])
def test_families_are_served_and_nobody_gives_up_while_the_gap_is_open(rule, compiled):
    """A thousand tasks, a hundred workers in twenty families, one label of each family for a task at most.

    The best worker of each family, as long as they have room, serve all tasks: some plan is easily found. Who stops
    before the time is over is near the optimum.
    """
    families = [Group(f"family {j}", range(5 * j, 5 * j + 5), max_per_task=1, dependent=True) for j in range(20)]
    instance = replace(crowdopt.recipe("R10:1000x100", 0), rule=rule, groups=families)
    plan = crowdopt.assign(instance, time_limit=10, gap=0.0)
    assert plan.found
    if rule == "bhattacharyya":
        assert not plan.gave_up or plan.gap <= 0.01
