"""The extra capacity: nothing is extra exactly where the LP has a point, and with it there is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from crowdopt import Status, relax, solve
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import assignment, extra_capacity
from tests.small import instances


@settings(max_examples=10)
@given(instances())
def test_so_much_more_room_is_enough_and_less_than_some_is_not(instance):
    """The budget aside: where there is a point at all, the instance with that much more room has one."""
    free, classes = replace(instance, budget=None), classes_of(instance)
    solution = solve(extra_capacity.of_classes(classes))
    has_point = solve(relax(assignment.build(free))).status is Status.OPTIMAL
    if solution.status is not Status.OPTIMAL:
        assert not has_point
        return
    extra = solution.program.column("extra").view(solution.primal)
    assert (extra.sum() <= 1e-7) == has_point
    more = np.ceil(extra / classes.workers_in - 1e-9).astype(np.int64)[classes.worker_class]
    larger = replace(free, capacity=free.capacity + more)
    assert solve(relax(assignment.build(larger))).status is Status.OPTIMAL
