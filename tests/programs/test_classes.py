"""Programs over classes lose nothing by averaging; elastic ones drop no more tasks than they must."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import Status, recipe, relax, solve_program
from crowdopt.core.program import Program
from crowdopt.crowd.alike import classes_of, of_tasks
from crowdopt.programs import aggregated, assignment, elastic, largest_share, market
from tests.checkers.plans import least_cost
from tests.draw import campaigns
from tests.programs.optima import optimum
from tests.small import instances


@settings(max_examples=25)
@given(instances() | campaigns(12, ("hoeffding", "bhattacharyya")))
def test_classes_have_the_optimum_of_the_full_program(instance):
    """A point averaged over interchangeable tasks and workers is feasible at equal cost; with every option.

    Whom groups and own rows tell apart are of different classes. What holds for whole labels only cuts off no plan.
    """
    joint = classes_of(instance, joint=bool(instance.groups) or instance.own_rows is not None)
    full, small = relax(assignment.build(instance)), aggregated.of_classes(joint)
    if solve_program(full).status is not Status.OPTIMAL:
        assert solve_program(small).status is Status.INFEASIBLE
    else:
        assert optimum(small) == pytest.approx(optimum(full), rel=1e-7, abs=1e-7)
    best, whole = least_cost(instance), solve_program(aggregated.of_classes(joint, whole=True))
    assert best == np.inf or whole.claimed_bound <= best + 1e-6


@pytest.mark.parametrize("name", ["R10:60x40", "K3:60x120"])
@pytest.mark.parametrize("priced", [False, True], ids=["", "priced"])
def test_a_market_of_everybody_is_the_lp(name, priced):
    """With every worker seen and each task's whole need, grouping and leaving out useless labels changes no optimum."""
    instance = recipe(name, 1, priced=priced).with_epsilon(0.3)
    kinds = np.bincount(instance.task_type)
    need = np.full(kinds.size, instance.floor[0])
    groups = market.grouped(market.Market(instance.evidence, instance.cost, instance.capacity, kinds, need))
    program = market.of_groups(groups, need)
    assert optimum(program) == pytest.approx(optimum(aggregated.build(instance)), rel=1e-9)
    assert program.column("u").size == np.count_nonzero(groups.evidence)


def is_open(program: Program) -> bool:
    """Whether a program's relaxation has a point."""
    return solve_program(relax(program)).status is Status.OPTIMAL


def fewest_given_up(instance) -> int:
    """The size of the smallest set of tasks without which the LP has a point, by trying all."""
    for count in range(instance.n_tasks):
        for gone in combinations(range(instance.n_tasks), count):
            if is_open(assignment.build(of_tasks(instance, np.setdiff1d(range(instance.n_tasks), gone)))):
                return count
    return instance.n_tasks


@settings(max_examples=15)
@given(instances(options=False))
def test_no_fewer_tasks_will_do(instance):
    """Whole tasks are dropped and others covered by shares of labels: never more than dropping by hand."""
    solution = solve_program(elastic.without_some_tasks(classes_of(instance)))
    dropped = round(solution.program.column("dropped").view(solution.primal).sum())
    fewest = fewest_given_up(instance)
    assert dropped <= fewest and (dropped == 0) == (fewest == 0)


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_the_share_is_the_edge_of_what_can_be_covered(seed):
    """At the share the market has a point, beyond it none; the most tasks are at least as many as one share gives."""
    rng = np.random.default_rng(seed)
    worth, room, tasks = rng.choice([0.0, 0.2, 0.5], (3, 5)), rng.integers(1, 5, 5), rng.integers(1, 9, 3)
    groups = market.grouped(market.Market(worth, np.ones((3, 5)), room, tasks, np.ones(3)))
    need = rng.uniform(0.2, 2.0, 3)
    share = -optimum(largest_share.of_groups(groups, need, joint=True))
    assert is_open(market.of_groups(groups, need * share * (1 - 1e-6)))
    assert share > 1 - 1e-6 or not is_open(market.of_groups(groups, need * (share + 1e-4)))
    assert -optimum(largest_share.of_groups(groups, need, joint=False)) >= share * groups.tasks_in.sum() - 1e-6
