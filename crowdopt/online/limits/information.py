"""What information alone forbids: the labels that sequential tests need at least (Wald 1945)."""

from __future__ import annotations

from math import inf

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.instance import COVERAGE, AssignmentInstance
from crowdopt.online.picking import fill
from crowdopt.programs.potential import wanted_in

SURE = 1e9  # information of a label that is always right (or wrong), in nats: as good as infinite


def information(instance: AssignmentInstance) -> float:
    """``min sum c y  s.t.  sum (2p - 1) logit(p) y >= sum_i KL(eps) - KL(b_i)``, each worker within capacity.

    ``V(b) = -(2b - 1) logit b`` falls by exactly ``(2p - 1) logit p`` per label, whatever b is (Wald 1945); by its
    convexity in the error the mean target is the worst way to share out errors. Useless where p may be 1.
    """
    wanted = instance.need > COVERAGE
    if not wanted.any():
        return 0.0
    belief = np.broadcast_to(instance.prior, (instance.n_tasks, 2))[wanted, 1]
    mean = float(instance.epsilon[wanted].mean())
    need = float((_told(1 - mean) - _told(belief)).sum())
    rate, cost, tasks = _told(instance.accuracy).T, instance.cost.T, wanted_in(instance)
    if need <= 0:
        return 0.0

    def bought(price: float) -> tuple[float, float]:
        value = price * rate - cost
        amount = fill(value, tasks, instance.capacity)
        return float((amount * rate).sum()), price * need - float((amount * np.maximum(value, 0.0)).sum())

    prices = np.unique((cost / np.maximum(rate, 1e-300))[rate > 0])
    low, high = 0, prices.size - 1
    if high < 0 or bought(float(prices[-1]) * (1 + 1e-12))[0] < need:
        return inf
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if bought(float(prices[middle]))[0] >= need else (middle + 1, high)
    return max(0.0, bought(float(prices[low]))[1])


def _told(p: float | Floats) -> Floats:
    """``(2p - 1) logit p``, the information of a label, and of a belief."""
    known = np.clip(np.asarray(p, dtype=np.float64), 1e-300, 1.0)
    sure = (known >= 1) | (known <= 1e-300)
    odds = np.log(np.where(sure, 0.5, known)) - np.log1p(-np.where(sure, 0.5, known))
    return np.where(sure, SURE, (2 * known - 1) * odds)
