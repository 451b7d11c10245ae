"""The missing evidence: nothing is missing exactly where the LP has a point."""

from __future__ import annotations

from hypothesis import given, settings

from crowdopt import Status, relax, solve
from crowdopt.programs import assignment, missing
from tests.programs.optima import optimum
from tests.small import instances


@settings(max_examples=15)
@given(instances())
def test_nothing_is_missing_exactly_where_the_lp_is_feasible(instance):
    """The elastic LP is always feasible; its optimum is 0 if and only if the LP has a point."""
    feasible = solve(relax(assignment.build(instance))).status is Status.OPTIMAL
    assert (optimum(missing.build(instance)) <= 1e-7) == feasible
