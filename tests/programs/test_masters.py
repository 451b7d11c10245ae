"""The program over some pairs is the relaxation where it has them all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, relax
from crowdopt.programs import assignment, masters
from crowdopt.programs.masters import PairLimits, SomePairs
from tests.draw import campaigns
from tests.programs.optima import optimum

WISHES = ("forbidden", "collected", "least-labels", "most-labels", "least-loads", "budget", "prices", "prices-by-type")


def over(one: AssignmentInstance, some: np.ndarray) -> float:
    """The optimum over some of the pairs that are not barred, tasks and labels as they are."""
    task, worker = np.divmod(some, one.n_workers)
    kind, (fewest, most) = one.task_type[task], one.new_label_limits
    labels = {"fewest": fewest.astype(float), "most": np.where(most > 10**9, np.inf, most)}
    loads = {"least": one.min_load.astype(float), "room": one.capacity.astype(float)}
    sides = PairLimits(one.floor, **labels, **loads, money=np.inf if one.budget is None else one.budget)
    pairs = SomePairs(task, worker, one.evidence[kind, worker], one.cost[kind, worker], np.ones(task.size))
    return optimum(masters.of_pairs(pairs, sides, (1e4, 1e4)))


@settings(max_examples=25)
@given(campaigns(60, ("hoeffding", "bhattacharyya"), WISHES, spoiled=False))
def test_over_every_pair_it_is_the_relaxation(instance):
    """The same optimum as the assignment's relaxation; fewer pairs cost no less, and what is missing is dear."""
    whole = optimum(relax(assignment.build(instance)))
    able = np.ones((instance.n_tasks, instance.n_workers), bool)
    able[tuple(instance.barred.T)] = False
    every = np.flatnonzero(able)
    assert over(instance, every) == pytest.approx(whole, rel=1e-7, abs=1e-6)
    assert over(instance, every[::2]) >= whole - 1e-6
