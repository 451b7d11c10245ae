"""What tasks can still have at most, and which can therefore not be served, against every set of workers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from crowdopt import AssignmentInstance
from crowdopt.crowd.exhausted import out_of_reach
from tests.chance import rng, seeds


@pytest.mark.chance
@pytest.mark.parametrize("seed", seeds(12))
def test_a_task_is_out_of_reach_where_no_set_of_workers_has_enough(seed):
    """Of workers with time, at most so many of them: the best set of each size by hand."""
    chance = rng(seed)
    accuracy, most = chance.uniform(0.55, 0.95, (2, 5)), chance.integers(1, 6, 8)
    capacity, kind = chance.integers(0, 3, 5), chance.integers(0, 2, 8)
    instance = AssignmentInstance(accuracy, kind, capacity, 0.3, rule="bhattacharyya", max_labels=most)
    there = np.flatnonzero(capacity > 0).tolist()
    sets = [[some for k in range(1, top + 1) for some in combinations(there, k)] for top in most]
    worth = [[instance.evidence[t, list(some)].sum() for some in own] for t, own in zip(kind, sets, strict=True)]
    best = [max(own, default=0.0) for own in worth]
    assert out_of_reach(instance).tolist() == (np.array(best) < instance.floor).tolist()
    assert seed or out_of_reach(instance).any()  # some are in the first crowd
