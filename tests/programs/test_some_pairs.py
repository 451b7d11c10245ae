"""The relaxation over some pairs: with all of them it is the assignment's own, and what is missing is dear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import relax
from crowdopt.programs import assignment, some_pairs
from crowdopt.programs.some_pairs import PairLimits, SomePairs
from tests.assign.test_cheapest import individual
from tests.programs.optima import optimum

DEAR = (1e4, 1e4)


def over(instance, some: np.ndarray):
    """The program over some of the pairs that are not barred, tasks and labels as they are."""
    task, worker = np.divmod(some, instance.n_workers)
    kind = instance.task_type[task]
    fewest, most = instance.new_label_limits
    sides = PairLimits(
        need=instance.floor,
        fewest=fewest.astype(float),
        most=np.where(most > 10**9, np.inf, most),
        least=instance.min_load.astype(float),
        room=instance.capacity.astype(float),
        money=np.inf if instance.budget is None else instance.budget,
    )
    pairs = SomePairs(task, worker, instance.evidence[kind, worker], instance.cost[kind, worker])
    return some_pairs.of_pairs(pairs, sides, DEAR)


def free(instance) -> np.ndarray:
    able = np.ones((instance.n_tasks, instance.n_workers), bool)
    able[tuple(instance.barred.T)] = False
    return np.flatnonzero(able)


@pytest.mark.parametrize("seed", range(3))
def test_with_every_pair_it_is_the_relaxation(seed):
    """The same optimum as the assignment's relaxation; fewer pairs cost no less, and what is missing is dear."""
    instance = replace(individual(seed, 20, 12), fixed=None)
    whole = optimum(relax(assignment.build(instance)))
    every = free(instance)
    assert optimum(over(instance, every)) == pytest.approx(whole, rel=1e-7)
    assert optimum(over(instance, every[::2])) >= whole - 1e-6
    assert optimum(over(instance, every[:1])) >= DEAR[0]
