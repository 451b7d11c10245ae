"""The smallest coverage: the threshold of feasibility."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from crowdopt import Status, relax, solve
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import assignment, smallest_coverage
from tests.programs.optima import optimum
from tests.small import instances


@settings(max_examples=15)
@given(instances(options=False))
def test_the_smallest_coverage_is_the_threshold_of_feasibility(instance):
    """With the level that it returns as every task's need the LP is feasible; with a little more it is not."""
    level = -optimum(smallest_coverage.of_classes(classes_of(instance)))
    demand = level / replace(instance, demand=1.0).need
    at = relax(assignment.build(replace(instance, demand=np.maximum(0, demand - 1e-7))))
    above = relax(assignment.build(replace(instance, demand=demand + 1e-4)))
    assert solve(at).status is Status.OPTIMAL
    assert solve(above).status is Status.INFEASIBLE
