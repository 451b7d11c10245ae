"""The engine's plans under limits, and what nobody can plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, Status, assign, recipe, verify
from crowdopt.assign.engine.given_sets import Given, serve
from crowdopt.assign.engine.prepared import problem_of
from crowdopt.core.clock import Clock
from crowdopt.crowd.vote_errors import CERTAIN, exact_errors
from tests.sampled import first_of


@pytest.mark.parametrize("seed", first_of(range(3)))
def test_tasks_with_other_labels_in_are_not_alike_where_errors_are_exact(seed):
    """Labels that are in with evidence beyond the need leave all the same need, 0, and not the same errors."""
    rng, (n, m) = np.random.default_rng(seed), (150, 120)
    skill, task = rng.choice([0.95, 0.9, 0.858, 0.83], m), np.arange(110)
    instance = AssignmentInstance(
        accuracy=skill[None],
        task_type=np.zeros(n, np.int64),
        capacity=np.full(m, 4),
        epsilon=0.033,
        rule="exact-error",
        classes=3,
        cost=np.round(1 + 4 * (skill - 0.8), 2),
        fixed=np.vstack([np.array([task, 2 * task % m]).T, np.array([task, (2 * task + 1 + 2 * (task % 5)) % m]).T]),
    )
    plan = assign(instance, time_limit=1, strict=True, gap=0.0)
    assert plan.found and (exact_errors(instance, plan.pairs)[0] <= instance.epsilon + 2 * CERTAIN).all()
    assert verify(instance, plan).holds


def test_least_loads_are_proven():
    """Three types, workers who all differ: labels that serve no need are counted at their price, and a proof comes."""
    base = replace(recipe("L3:300x100", 0), epsilon=0.25, rule="bhattacharyya")
    load = np.minimum(base.capacity, 8)
    plan = assign(replace(base, min_load=load), time_limit=30, strict=True)
    assert plan.found and plan.gap <= 0.005
    assert (np.bincount(plan.pairs[:, 1], minlength=100) >= load).all()


def test_what_no_plan_keeps_is_proven_infeasible():
    """The multipliers of the LP over classes prove it, groups' among them."""
    instance, home = recipe("R10:100x80", seed=0), np.random.default_rng(0).integers(0, 3, 80)
    groups = [Group(f"g{k}", np.flatnonzero(home == k).tolist(), max_per_task=1) for k in range(3)]
    plan = assign(replace(instance, groups=groups))
    assert plan.status is Status.INFEASIBLE and plan.proof == "certificate"


def test_tasks_with_too_many_labels_for_exact_errors_have_a_plan_all_the_same():
    """Fifteen answers can be combined in 32,768 ways: more than are followed, with every label more twice as many."""
    fixed = np.column_stack([np.zeros(15, np.int64), np.arange(15)])
    many = AssignmentInstance(np.full((1, 40), 0.6), [0, 0], np.full(40, 2), 0.2, rule="exact-error", fixed=fixed)
    plan = assign(many, time_limit=2)
    assert plan.found and exact_errors(many, plan.pairs)[0].max() <= 0.2


def test_what_loads_lack_costs_spare_labels():
    """Sets of 400 labels or so leave loads of six each short: the plan is worth its sets and the labels that make up.

    A label for a load's sake costs what the cheapest task pays; with a budget it may not fit, and counts as broken.
    """
    rng = np.random.default_rng(0)
    base = AssignmentInstance(
        accuracy=np.clip(rng.beta(6, 2.2, (4, 240)), 0.5, 0.97),
        task_type=rng.integers(4, size=400),
        epsilon=0.1,
        rule="exact-error",
        capacity=12,
        cost=np.round(rng.uniform(0.5, 1.5, (4, 240)), 2),
        min_load=6,
    )
    one = problem_of(base)
    given = serve(Given.nothing(one), np.zeros(one.coupling.lower.size), Clock(60.0))
    short = np.maximum(given.lack, 0.0)
    assert short.sum() > 100
    cheapest = np.min([row.cost for row in one.rows], axis=0)
    assert given.worth == (0, 0.0, pytest.approx(given.cost + float(short @ cheapest)))
    again = Given.of(problem_of(replace(base, budget=4000.0)), given.sets)
    assert again.worth[1] == pytest.approx(short.sum()) and again.worth[2] == pytest.approx(given.cost)
