"""The master over sets: with every set in it, its optimum lies between the LP's and the best plan's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from crowdopt import solve
from crowdopt.core.solution import Status
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import aggregated, label_sets
from tests.programs.optima import covering_sets, optimum
from tests.small import brute_force, instances


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(instances())
def test_whole_sets_are_worth_more_than_shares_of_labels(instance):
    """Each set is a point of the LP's rows for one task, and each plan is a choice of sets (Dantzig & Wolfe 1960)."""
    classes, best = classes_of(instance), brute_force(instance)
    room = classes.workers_in * classes.capacity
    program = label_sets.of_sets(classes, classes.tasks_in, room, *covering_sets(classes))
    point = solve(program)
    if best is None or point.status is not Status.OPTIMAL:
        assert best is None
        return
    value = optimum(program)
    assert value <= best + 1e-6
    if program.column("without").view(point.primal).sum() <= 1e-9:
        assert value >= optimum(aggregated.of_classes(classes)) - 1e-6


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(instances())
def test_without_a_set_every_task_goes_without(instance):
    """The master that column generation starts from: no plan costs as much as one task without a set."""
    classes, best = classes_of(instance), brute_force(instance)
    program = label_sets.of_sets(classes, classes.tasks_in, classes.workers_in * classes.capacity, [], [])
    assert program.column("given").size == 0
    assert best is None or best <= program.cost.max() * classes.tasks_in.sum()
