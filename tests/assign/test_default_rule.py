"""The default rule against brute force: least cost, infeasible only where that is so, and the best that is left."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Status, assign
from tests.assign.test_best_effort import SAME, SOLVER, best_by_brute_force, by_hand
from tests.sampled import first_of

MANY, EACH = 500, 25  # campaigns, and how many a test looks at


def campaign(seed: int) -> AssignmentInstance:
    """Three tasks and five workers, no rule stated; most of them have a plan for every task."""
    rng = np.random.default_rng(seed)
    limits = {"min_labels": rng.integers(0, 4, 3)} if rng.random() < 0.3 else {}
    if rng.random() < 0.5:
        limits |= {"cost": rng.integers(1, 4, 5).astype(float)}
        limits |= {"budget": float(rng.integers(3, 25))} if rng.random() < 0.5 else {}
    return AssignmentInstance(
        accuracy=rng.choice([0.55, 0.7, 0.8, 0.9, 0.95], (2, 5)),
        task_type=rng.integers(0, 2, 3),
        capacity=rng.integers(1, 4, 5),
        epsilon=rng.choice([0.05, 0.1, 0.2, 0.3], 3),
        classes=int(rng.integers(2, 4)),
        **limits,
    )


def check(seed: int) -> bool:
    """Whether the campaign has a plan for every task; all that ``assign`` says of it is held against every choice."""
    instance = campaign(seed)
    served, above, cost = best_by_brute_force(instance)
    plan = assign(instance)
    assert plan.pairs is not None, seed
    assert plan.found == (served == 3) and plan.short.size == 3 - served, seed
    assert (plan.status is Status.INFEASIBLE) == (served < 3), (seed, plan.status)
    assert plan.objective <= cost + SAME, (seed, plan.objective, cost)
    if plan.found:
        assert plan.proven and plan.objective >= cost - SAME and plan.bound <= cost + SOLVER, seed
    chosen = np.zeros((3, 5), bool)
    chosen[tuple(plan.pairs.T)] = True
    left = by_hand(instance)[1][range(3), chosen @ (1 << np.arange(5)[::-1])]
    assert left.sum() <= above + SOLVER, (seed, left, above)
    return bool(plan.found)


@pytest.mark.parametrize("first", first_of(range(0, MANY, EACH)))
def test_what_is_said_of_small_campaigns_is_so(first):
    """Costs, infeasibility and the errors of tasks that are left short; both kinds of campaigns occur."""
    found = sum(check(seed) for seed in range(first, first + EACH))
    assert 0 < found < EACH
