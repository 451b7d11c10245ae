"""The master over levels: a level for each worker class is the master over sets; coarser levels relax it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import label_sets, level_sets
from tests.programs.optima import covering_sets, optimum


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_levels_of_one_worker_each_lose_nothing(seed):
    """Labels that fill a level of their own are labels; where levels are shared, any worker in them may fill them."""
    rng = np.random.default_rng(seed)
    instance = AssignmentInstance(
        rng.uniform(0.6, 0.95, (2, 4)),
        rng.integers(0, 2, 3),
        rng.integers(1, 4, 4),
        0.3,
        cost=rng.integers(1, 5, 4) * 1.0,
    )
    classes = classes_of(instance)
    kinds, sets = covering_sets(classes)
    count, groups = classes.evidence.shape
    exact = optimum(label_sets.of_sets(classes, classes.tasks_in, classes.workers_in * classes.capacity, kinds, sets))
    each = np.tile(np.arange(groups), (count, 1))
    own = level_sets.of_levels(classes, each, np.arange(count + 1) * groups, kinds, sets)
    assert optimum(own) <= exact + 1e-6
    if own.cost.max() > 0 and exact < own.cost[0]:  # no task goes without
        assert optimum(own) >= exact - 1e-6
    one = level_sets.of_levels(
        classes, each * 0, np.arange(count + 1), kinds, [np.zeros_like(chosen) for chosen in sets]
    )
    assert optimum(one) <= exact + 1e-6
