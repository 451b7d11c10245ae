"""The dropped tasks: none exactly where the LP has a point, and never more than a plan has to give up."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings

from crowdopt import Status, relax, solve
from crowdopt.crowd.classes import classes_of
from crowdopt.crowd.subset import of_tasks
from crowdopt.programs import assignment, dropped_tasks
from tests.small import instances


def fewest_given_up(instance) -> int:
    """The size of the smallest set of tasks without which the LP has a point, by trying all."""
    all_tasks = range(instance.n_tasks)
    for count in all_tasks:
        for gone in itertools.combinations(all_tasks, count):
            rest = of_tasks(instance, np.setdiff1d(all_tasks, gone))
            if solve(relax(assignment.build(rest))).status is Status.OPTIMAL:
                return count
    return instance.n_tasks


@settings(max_examples=15, deadline=None)
@given(instances(options=False))
def test_no_fewer_tasks_will_do(instance):
    """The program drops whole tasks and covers the others by shares of labels: never more than dropping by hand."""
    solution = solve(dropped_tasks.of_classes(classes_of(instance)))
    assert solution.status is Status.OPTIMAL
    dropped = round(solution.program.column("dropped").view(solution.primal).sum())
    assert dropped <= fewest_given_up(instance)
    assert (dropped == 0) == (fewest_given_up(instance) == 0)
