"""Adaptive plans of many workers who differ in skill: against the cheapest plan of all, where that can be had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import Adaptive, AssignmentInstance, recipe, solve, verify
from crowdopt.assign.cascade.cheapest_policy import cheapest_orders, onward_orders
from crowdopt.assign.cascade.orders import expected
from crowdopt.assign.cascade.panels import skill_panel
from crowdopt.core.solution import Options
from crowdopt.verbs.binding import SOLVERS
from tests.assign.cascade.panels import EXPERT, skilled
from tests.sampled import first_of


def orders_of(one: AssignmentInstance, expert: float | None = None):
    """The plan of orders, however few the workers are."""
    return cheapest_orders(skill_panel(one), expert, SOLVERS, Options())


@pytest.mark.parametrize("seed", first_of(range(40), 10))
def test_bound_least_plan_in_this_order(seed):
    """The bound is below the cheapest of all adaptive plans, that below the orders; ``verify`` agrees with both."""
    one, expert = skilled(seed), EXPERT if seed % 3 == 0 else None
    plan, least = orders_of(one, expert), solve(one, method=Adaptive(expert=expert), require="served")
    report = verify(one, plan) if plan.objective is not None else None
    assert report is None or report.holds, report.problems
    if least.found:
        assert plan.bound <= least.objective * (1 + 1e-7)
    if plan.found:
        assert least.found and plan.objective >= least.objective * (1 - 1e-7)
        assert plan.bound * (1 - 1e-9) <= report.certified_bound <= least.objective * (1 + 1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_errors_given_the_first_label_average_to_the_orders_own(seed):
    """So the targets of the next round keep this one's promise."""
    one = replace(skilled(seed, judges=4), min_load=None, own_rows=None, budget=None, epsilon=np.asarray(0.2))
    panel, plan = skill_panel(one), orders_of(one)
    for share in (share for share in plan.orders if share.order.workers):
        worker, task, mean = share.order.workers[0], int(panel.first[share.kind]), 0.0
        for label in range(2):
            chance = np.abs(panel.likely[share.kind, worker] - (1 - label)) @ one.prior
            had = skill_panel(replace(one, collected=[(task, worker)]), np.array([label]))
            start = next(start for start in had.starts if start.votes)
            alone = replace(had, kind=np.arange(one.n_tasks), first=np.arange(one.n_tasks), starts=(start,))
            mean += chance * onward_orders(alone, [share.order], np.zeros(one.n_tasks, int))[0][task]
        wrong = expected(panel, share.kind, share.order, one.prior, (0, 0))[1]
        assert mean == pytest.approx(wrong, abs=1e-8)


def test_ten_types_of_tasks_are_planned_next_to_their_bound():
    """60 workers, each with a skill of their own for each type; what is far beyond all states of votes."""
    one = replace(recipe("R10:200x60", seed=0), rule="exact-error")
    plan = solve(one, method=Adaptive())
    assert plan.found and len(plan.askers.names) == 60 and plan.gap <= 0.02
    report = verify(one, plan)
    assert report.holds and report.certified_bound >= plan.bound * (1 - 1e-9)
