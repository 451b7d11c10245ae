"""Families by exact errors: at most one of each in a set, however many there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group
from crowdopt.crowd.vote_errors import exact_errors
from tests.sampled import first_of

TARGET = 0.0801  # that no label of three digits meets to the last bit


def drawn(seed: int, tasks: int, workers: int, families: int) -> AssignmentInstance:
    """Workers in families, each with a price; twice as much capacity as three labels a task take."""
    rng = np.random.default_rng([93, seed])
    parts = np.array_split(rng.permutation(workers), families)
    return AssignmentInstance(
        rng.uniform(0.6, 0.95, (2, workers)).round(3),
        rng.integers(0, 2, tasks),
        np.full(workers, max(1, 6 * tasks // workers)),
        TARGET,
        cost=rng.integers(1, 8, workers) / 2,
        rule="exact-error",
        classes=2 + seed % 2,
        groups=[Group(f"f{k}", part, dependent=True) for k, part in enumerate(parts)],
    )


@pytest.mark.parametrize("seed", first_of(range(8), 3))
def test_a_plan_of_many_families_is_close_to_proven(seed):
    """Families are more than the method tells apart by segments: a bound that forgot them stayed far below."""
    one = drawn(seed, 120, 60, 9 + 4 * (seed % 4))
    plan = crowdopt.assign(one, time_limit=30)
    of = np.empty(60, np.int64)
    for k, group in enumerate(one.groups):
        of[list(group.members)] = k
    assert plan.found and plan.gap <= 0.01
    assert len(set(zip(plan.pairs[:, 0].tolist(), of[plan.pairs[:, 1]].tolist(), strict=True))) == plan.labels


@pytest.mark.parametrize("seed", first_of(range(10, 20), 3))
def test_a_task_of_many_families_gets_its_cheapest_set(seed):
    """Against every set of workers, no two of a family."""
    one = drawn(seed, 1, 14, 10)
    of = {worker: k for k, group in enumerate(one.groups) for worker in group.members}
    kind, best = int(one.task_type[0]), np.inf
    for size in range(11):
        for some in combinations(range(14), size):
            cost = float(one.cost[kind, list(some)].sum())
            if cost < best and len({of[worker] for worker in some}) == size:
                pairs = np.array([(0, worker) for worker in some], np.int64).reshape(-1, 2)
                best = cost if exact_errors(one, pairs)[0][0] <= TARGET else best
    plan = crowdopt.assign(one, time_limit=30)
    assert plan.found == np.isfinite(best)
    if plan.found:
        assert plan.proven and plan.objective == pytest.approx(best)
