"""Ways out of infeasibility, margins, and the cost curve: each claim is tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, Status, recipe, solve
from crowdopt.assign.explain import margins
from crowdopt.crowd.vote_errors import CERTAIN, breaches, exact_errors
from crowdopt.verbs.explain import cost_of_targets, ways_out
from crowdopt.verbs.solve import probe
from tests.checkers.plans import broken, least_cost
from tests.draw import campaigns
from tests.sampled import first_of
from tests.small import instances


@settings(max_examples=10)
@given(campaigns(9, spoiled=True))
def test_every_way_out_has_a_plan(instance):
    """Applying any suggestion makes the integer program feasible: the plan that comes with it keeps every limit."""
    if not np.isfinite(least_cost(instance)):
        for way in ways_out(instance):
            assert broken(way.instance, way.pairs) == [], way.sentence


@pytest.mark.parametrize(
    ("name", "seed"), first_of([("R10:60x40", 1), ("B5:50x20", 5), ("K3:60x60", 1), ("R1:80x30", 2)], 2)
)
def test_ways_out_on_campaigns(name, seed):
    """Capacities cut and targets tightened until there is no plan; some way out is found, and each has its plan."""
    rng, instance = np.random.default_rng(seed), recipe(name, seed)
    instance = replace(instance, capacity=instance.capacity * int(rng.integers(3, 9)) // 10)
    instance = replace(instance, rule="bhattacharyya").with_epsilon(float(rng.choice([0.01, 0.03])))
    if solve(instance, time_limit=5, gap=0.0).status is not Status.INFEASIBLE:
        return
    ways = ways_out(instance)
    assert ways
    for way in ways:
        assert not breaches(way.instance, way.pairs), way.sentence


@pytest.mark.slow
def test_ways_out_of_a_checked_rule():
    """Plans that come with a suggestion keep the exact errors too; over two crowds each kind of way is found."""
    ways = []
    for seed in range(2):
        crowd = recipe("R10:60x40", seed)
        instance = replace(crowd, rule="exact-error", capacity=np.minimum(2, crowd.capacity)).with_epsilon(0.01)
        ways += ways_out(instance)
    assert {way.kind for way in ways} >= {"epsilon", "capacity", "tasks"}
    for way in ways:
        assert not breaches(way.instance, way.pairs)
        assert (exact_errors(way.instance, way.pairs)[0] <= way.instance.epsilon + CERTAIN).all()


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
