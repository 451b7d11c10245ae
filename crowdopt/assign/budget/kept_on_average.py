"""A plan whose errors keep their average: label by label where it helps most for its price, until that is enough."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.assign.budget.greedy_spending import spend, surrogate
from crowdopt.assign.plan import breaches
from crowdopt.core.clock import Clock
from crowdopt.crowd.exactness import exact_errors
from crowdopt.crowd.instance import AssignmentInstance

HALVINGS = 20  # of what it may cost


def kept_on_average(instance: AssignmentInstance, clock: Clock) -> Ints | None:
    """Pairs bought for as little money as keeps the average target, or None where no sum of money does.

    instance: under the rule mean-error; clock: when to look for no smaller sum.
    """
    if instance.new_label_limits[0].any() or instance.min_load.any():
        return None  # labels that help least may be asked for, which are then never bought
    most = float((np.minimum(instance.capacity, instance.n_tasks) * instance.cost.max(axis=0)).sum())
    most = most if instance.budget is None else min(most, instance.budget)
    low, money = 0.0, min(most, instance.n_tasks * float(instance.cost.mean()))
    best = _bought(instance, money)
    while best is None and money < most:  # small sums first: errors of small votes are soon counted
        low, money = money, min(most, 2 * money + 1)
        best = _bought(instance, money)
    for _ in range(HALVINGS):
        if best is None or clock.over:
            return best
        high = float(instance.prices(best).sum())
        money = (min(low, high) + high) / 2
        pairs = _bought(instance, money)
        low, best = (money, best) if pairs is None else (low, pairs)
    return best


def _bought(instance: AssignmentInstance, money: float) -> Ints | None:
    """What is bought for so much, if it keeps every limit and the average."""
    pairs, target = spend(instance, money), instance.epsilon.mean()
    if breaches(instance, pairs):
        return None
    enough = np.mean(surrogate(instance, pairs)) <= target or exact_errors(instance, pairs)[0].mean() <= target
    return pairs if enough else None
