"""Programs that always have a point: nothing is missing, dropped or extra just where the LP has one, and no less."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import Status, certify, recipe, relax, solve
from crowdopt.core.certificate import lagrangian_bound
from crowdopt.core.program import Program
from crowdopt.core.solution import Options
from crowdopt.crowd.classes import classes_of
from crowdopt.crowd.subset import of_tasks
from crowdopt.programs import (
    aggregated,
    assignment,
    dropped_tasks,
    extra_capacity,
    largest_share,
    market,
    missing,
    smallest_coverage,
    target,
    whole_amounts,
)
from tests.checkers.plans import least_cost
from tests.programs.optima import optimum
from tests.small import instances


def is_open(program: Program) -> bool:
    """Whether a program's relaxation has a point."""
    return solve(relax(program)).status is Status.OPTIMAL


def fewest_given_up(instance) -> int:
    """The size of the smallest set of tasks without which the LP has a point, by trying all."""
    for count in range(instance.n_tasks):
        for gone in combinations(range(instance.n_tasks), count):
            if is_open(assignment.build(of_tasks(instance, np.setdiff1d(range(instance.n_tasks), gone)))):
                return count
    return instance.n_tasks


@settings(max_examples=15)
@given(instances(options=False))
def test_no_fewer_tasks_and_no_less_coverage_will_do(instance):
    """Whole tasks are dropped and others covered by shares of labels: never more than dropping by hand.

    With the smallest coverage as every task's need the LP is feasible; with a little more it is not.
    """
    solution = solve(dropped_tasks.of_classes(classes_of(instance)))
    dropped = round(solution.program.column("dropped").view(solution.primal).sum())
    fewest = fewest_given_up(instance)
    assert dropped <= fewest and (dropped == 0) == (fewest == 0)
    demand = -optimum(smallest_coverage.build(instance)) / replace(instance, demand=1.0).need
    assert is_open(assignment.build(replace(instance, demand=np.maximum(0, demand - 1e-7))))
    assert not is_open(assignment.build(replace(instance, demand=demand + 1e-4)))


@settings(max_examples=12)
@given(instances())
def test_what_is_missing_or_extra_is_nothing_just_where_the_lp_has_a_point(instance):
    """The budget aside, where there is a point at all the instance with so much more room has one."""
    assert (optimum(missing.build(instance)) <= 1e-7) == is_open(assignment.build(instance))
    free, classes = replace(instance, budget=None), classes_of(instance)
    has_point, solution = is_open(assignment.build(free)), solve(extra_capacity.of_classes(classes))
    if solution.status is not Status.OPTIMAL:
        assert not has_point
        return
    extra = solution.program.column("extra").view(solution.primal)
    assert (extra.sum() <= 1e-7) == has_point
    more = np.ceil(extra / classes.workers_in - 1e-9).astype(np.int64)[classes.worker_class]
    assert is_open(assignment.build(replace(free, capacity=free.capacity + more)))


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


@pytest.mark.parametrize("name", ["R10:60x40", "R1:30x20"])
def test_slack_grows_with_money_and_pays_off(name):
    """Concave in the money: the LP's own optimum buys none beyond need, or some; more money never buys less."""
    instance = recipe(name, 1)
    classes, least = classes_of(instance), optimum(aggregated.build(instance, whole=True))
    slack = [-optimum(target.of_classes(classes, least * part)) for part in (1.0 + 1e-9, 1.05, 1.1)]
    assert 0 <= slack[0] <= slack[1] <= slack[2]
    assert slack[1] >= (slack[0] + slack[2]) / 2 - 1e-7


def missed(program: Program) -> float:
    """Evidence that whole labels must miss; infinite where the other rows leave none."""
    value = certify(solve(program, "highs", Options())).value
    return np.inf if value is None else value


@settings(max_examples=10)
@given(instances())
def test_no_plan_costs_what_whole_amounts_cannot_be_had_for(instance):
    """Against all plans, with every option: nothing is missing at the optimum's price; boxes change no optimum."""
    best, classes = least_cost(instance), classes_of(instance)
    relaxed = aggregated.of_classes(classes, whole=True)
    linear = solve(relaxed, "highs-simplex", Options())
    for money in [0.0, 1.0, 3.0] + [best, best + 1.0] * (best < np.inf):
        program = whole_amounts.of_classes(classes, money)
        least = missed(program)
        assert money < best or least == pytest.approx(0.0, abs=1e-6)
        bound = -np.inf if linear.dual is None else lagrangian_bound(relaxed, linear.dual)
        if np.isfinite(bound) and bound <= money and least == pytest.approx(0.0, abs=1e-7):
            assert missed(whole_amounts.boxed(program, relaxed, linear.dual, bound, money)) <= 1e-6


@pytest.mark.parametrize("money", [60.0, 100.0])
def test_a_margin_is_missed_last(money):
    """More is asked for, more is missing: by no more than the margin of all tasks."""
    classes = classes_of(recipe("R1:8x20"))
    plain, more = (missed(whole_amounts.of_classes(classes, money, margin)) for margin in (0.0, 0.1))
    assert plain - 1e-6 <= more <= plain + 0.1 * classes.task_class.size + 1e-6
