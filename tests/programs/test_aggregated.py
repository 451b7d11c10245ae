"""The aggregated LP: averaging over classes loses nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from crowdopt import Status, relax, solve
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import aggregated, assignment
from tests.draw import campaign
from tests.programs.optima import optimum
from tests.small import brute_force, instances


@settings(max_examples=10)
@given(instances())
def test_classes_have_the_optimum_of_the_full_program(instance):
    """A point averaged over interchangeable tasks and workers is feasible at equal cost; with every option."""
    full, classes = relax(assignment.build(instance)), aggregated.build(instance)
    if solve(full).status is not Status.OPTIMAL:
        assert solve(classes).status is Status.INFEASIBLE
        return
    assert optimum(classes) == pytest.approx(optimum(full), rel=1e-7, abs=1e-7)


@settings(max_examples=10)
@given(instances())
def test_cardinality_rows_cut_off_no_plan(instance):
    """What holds for whole labels only is above the LP and below the best plan."""
    best, whole = brute_force(instance), solve(aggregated.of_classes(classes_of(instance), whole=True))
    assert best is None or whole.claimed_bound <= best + 1e-6


def test_joint_limits_of_classes_are_those_of_their_members():
    """Whom groups and own rows tell apart are of different classes: averaging over the others loses nothing."""
    shrunk = 0
    for seed in range(20):
        instance = campaign(seed, 4, 5, "bhattacharyya most-per-task most-share own-row families", spoiled=True)
        classes = classes_of(instance, joint=True)
        shrunk += classes.need.size < instance.n_tasks
        full, small = relax(assignment.build(instance)), aggregated.of_classes(classes)
        if solve(full).status is not Status.OPTIMAL:
            assert solve(small).status is Status.INFEASIBLE, seed
        else:
            assert optimum(small) == pytest.approx(optimum(full), rel=1e-7, abs=1e-7), seed
    assert shrunk > 2
