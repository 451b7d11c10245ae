"""Ways out of infeasibility, margins, and the cost curve: each claim is tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, Status, recipe, solve
from crowdopt.assign.explain import margins
from crowdopt.verbs.explain import cost_of_targets, explain, ways_out
from crowdopt.verbs.plans_said import headline, why_not
from crowdopt.verbs.solve import probe
from tests.checkers.plans import broken, least_cost
from tests.draw import campaigns
from tests.sampled import first_of
from tests.small import instances


@settings(max_examples=12)
@given(campaigns(9, spoiled=True))
def test_explain_and_solve_agree_and_every_way_out_has_a_plan(instance):
    """No plan in the one is no plan in the other, in the same words.

    Applying any suggestion makes the integer program feasible: the plan that comes with it keeps every limit.
    """
    found, plan = explain(instance, time_limit=30), solve(instance, require="served")
    assert found.feasible == plan.found == np.isfinite(least_cost(instance))
    if not plan.found:
        assert found.sentences[: len(why_not(plan))] == why_not(plan) and why_not(plan)[0] == headline(plan)
        for way in found.ways:
            assert broken(way.instance, way.pairs) == [], way.sentence


CASES = [
    ("R10:60x40", 1, "bhattacharyya"),
    ("B5:50x20", 5, "bhattacharyya"),
    ("R10:60x40", 0, "exact-error"),
    ("R1:80x30", 2, "exact-error"),
]


@pytest.mark.parametrize(("name", "seed", "rule"), first_of(CASES))
def test_ways_out_on_campaigns(name, seed, rule):
    """Capacities cut and targets tightened until there is no plan; some way out is found, and each has its plan."""
    instance = recipe(name, seed)
    instance = replace(instance, rule=rule, capacity=np.minimum(2, instance.capacity)).with_epsilon(0.01)
    ways = ways_out(instance)
    assert ways
    for way in ways:
        assert broken(way.instance, way.pairs) == [], way.sentence


def test_money_is_asked_for_where_only_the_budget_is_in_the_way():
    """The suggested budget is the cost of a plan."""
    instance = AssignmentInstance([[0.9] * 6], [0, 0], [2] * 6, 0.05, budget=3.0)
    ways = {way.kind: way for way in ways_out(instance)}
    assert solve(ways["budget"].instance).found and "capacity" not in ways and "workers" not in ways


@settings(max_examples=10)
@given(instances(most_pairs=12, options=False))
def test_tangents(instance):
    """One more unit of capacity never saves more than its multiplier."""
    if solve(instance, program="lp").status is not Status.OPTIMAL:
        return
    found, cost = margins(instance, probe(60)), solve(instance, program="lp").objective
    assert found.cost == pytest.approx(cost, abs=1e-6)
    for worker in range(instance.n_workers):
        more = instance.capacity + (np.arange(instance.n_workers) == worker)
        saved = cost - solve(replace(instance, capacity=more), program="lp").objective
        assert saved <= found.capacity_value[worker] + 1e-6


@pytest.mark.parametrize("rule", ["hoeffding", "bhattacharyya"])
def test_the_curve_is_the_cost_of_targets(rule):
    """It falls, is the linear program's optimum at each target, and lies below every plan."""
    instance = replace(recipe("R1:60x30"), rule=rule)
    found = cost_of_targets(instance)
    assert (np.diff(found.bound) <= 1e-7).all()
    for place in (0, 7, 20):
        cost = solve(instance.with_epsilon(found.epsilon[place]), program="lp").objective
        assert cost == pytest.approx(found.bound[place], rel=1e-6)
    plans = ~np.isnan(found.plan)
    assert plans.sum() >= 7 and (found.plan[plans] >= found.bound[plans] - 1e-6).all()
