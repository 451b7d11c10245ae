"""The aggregated LP: averaging over classes loses nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from crowdopt import Status, relax, solve
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import aggregated, assignment
from tests.programs.optima import optimum
from tests.small import brute_force, instances


@settings(max_examples=30)
@given(instances())
def test_classes_have_the_optimum_of_the_full_program(instance):
    """A point averaged over interchangeable tasks and workers is feasible at equal cost; with every option."""
    full, classes = relax(assignment.build(instance)), aggregated.build(instance)
    if solve(full).status is not Status.OPTIMAL:
        assert solve(classes).status is Status.INFEASIBLE
        return
    assert optimum(classes) == pytest.approx(optimum(full), rel=1e-7, abs=1e-7)


@settings(max_examples=30)
@given(instances())
def test_cardinality_rows_cut_off_no_plan(instance):
    """What holds for whole labels only is above the LP and below the best plan."""
    best, whole = brute_force(instance), solve(aggregated.of_classes(classes_of(instance), whole=True))
    assert best is None or whole.claimed_bound <= best + 1e-6
