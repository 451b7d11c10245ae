"""What tasks take at given prices: by places in shared rows, and task by task."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance
from crowdopt.assign.budget.error_curves import least_curve, surrogate_curve
from crowdopt.assign.budget.task_demand import TaskRows
from crowdopt.crowd.classes import each_its_own

CURVES = {"surrogate": surrogate_curve, "least": least_curve}


def drawn(seed: int, n: int = 12, m: int = 9) -> AssignmentInstance:
    """Three types, prices by pair, some pairs barred."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.divmod(rng.permutation(n * m)[: 3 * n], m))
    return AssignmentInstance(
        accuracy=rng.choice([0.5, 0.6, 0.75, 0.9, 0.3], (3, m)),
        task_type=rng.integers(0, 3, n),
        capacity=rng.integers(1, 6, m),
        epsilon=0.1,
        cost=np.round(rng.uniform(0.5, 2.0, (3, m)), 2),
        forbidden=pairs,
    )


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("seed", range(6))
def test_tasks_take_what_costs_them_least(seed, curve):
    """``value(D + q y) + p y`` is least along the workers by ratio: a fine grid of shares there finds no less."""
    rng = np.random.default_rng(100 + seed)
    classes = each_its_own(drawn(seed))
    n, m = classes.room.shape
    worker, spend, held = (
        rng.uniform(0, 0.02, m) * (rng.random(m) < 0.7),
        float(rng.uniform(0, 0.05)),
        rng.uniform(0, 2, n),
    )
    prior = np.full((n, 2), 0.5)
    errors = CURVES[curve](prior)
    demand = TaskRows.of(classes).demand(errors, held, worker, spend)
    price = worker + spend * classes.cost
    wanted, bill = np.zeros(m), 0.0
    steps = np.linspace(0.0, 1.0, 40_001)
    grid = CURVES[curve](np.full((steps.size, 2), 0.5))
    for i in range(n):
        worth = classes.evidence[i] * classes.room[i]
        order = np.argsort(np.where(worth > 0, price[i] / np.maximum(worth, 1e-12), np.inf))
        share = np.clip(steps * m - np.arange(m)[:, None], 0.0, 1.0)  # the first ones whole, the next one in part
        have, paid = held[i] + worth[order] @ share, (price[i] * classes.room[i])[order] @ share
        cost = grid.value(have) + paid
        best = int(cost.argmin())
        assert demand.value[i] == pytest.approx(cost[best], abs=1e-5) and demand.value[i] <= cost[best] + 1e-12
        taken = np.empty(m)
        taken[order] = share[:, best] * classes.room[i, order]
        wanted += taken
        bill += float(classes.cost[i] @ taken)
    assert demand.wanted == pytest.approx(wanted, abs=0.02)
    assert demand.bill == pytest.approx(bill, abs=0.05)
