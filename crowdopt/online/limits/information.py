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

    ``V(b) = -sum over pairs of the K classes of (b_k - b_l) ln(b_k / b_l) / (K - 1)`` falls by exactly ``(p - u) ln(p /
    u)``, u = (1 - p)/(K - 1), per label, whatever b is (Wald 1945): the divergence of a label's laws under any two
    classes. -V is convex, so of all beliefs with an error those are least in which the other classes are alike, and the
    mean target is the worst way to share out errors. For two classes both are ``(2p - 1) logit p``. Useless where p may
    be 1.

    instance: of the true skills, wrong answers uniform; its targets are for the mean error; -> in the unit of prices;
    infinite where all labels together do not tell enough.
    """
    wanted = instance.need > COVERAGE
    if not wanted.any():
        return 0.0
    classes = instance.classes
    mean = float(instance.epsilon[wanted].mean())
    belief = np.broadcast_to(instance.prior, (instance.n_tasks, classes))[wanted]
    need = float((_told(max(1 - mean, 1 / classes), classes) - _believed(belief)).sum())
    rate, cost, tasks = _told(instance.accuracy, classes).T, instance.cost.T, wanted_in(instance)
    if need <= 0:
        return 0.0

    def bought(price: float) -> tuple[float, float]:
        value = price * rate - cost
        amount = fill(value, tasks, instance.capacity)
        return float((amount * rate).sum()), price * need - float((amount * np.maximum(value, 0.0)).sum())

    # any price gives a bound; tried are those at which a label begins to pay, cost / rate
    prices = np.unique((cost / np.maximum(rate, 1e-300))[rate > 0])
    low, high = 0, prices.size - 1
    if high < 0 or bought(float(prices[-1]) * (1 + 1e-12))[0] < need:
        return inf
    # what is bought grows with the price: the first one at which it is enough
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if bought(float(prices[middle]))[0] >= need else (middle + 1, high)
    return max(0.0, bought(float(prices[low]))[1])


def _believed(belief: Floats) -> Floats:
    """-V of beliefs, (tasks, classes) -> (tasks,)."""
    classes = belief.shape[1]
    if classes == 2:
        return _told(belief[:, 1], 2)
    logs = np.log(np.maximum(belief, 1e-300))
    pairs: Floats = classes * (belief * logs).sum(axis=1) - logs.sum(axis=1)
    return np.asarray(pairs / (classes - 1))


def _told(p: float | Floats, classes: int) -> Floats:
    """``(p - u) ln(p / u)``, u = (1 - p)/(K - 1): of a label, and -V of a belief whose other classes are alike."""
    known = np.clip(np.asarray(p, dtype=np.float64), 1e-300, 1.0)
    sure = (known >= 1) | (known <= 1e-300)
    odds = np.log(np.where(sure, 0.5, known)) - np.log1p(-np.where(sure, 0.5, known))
    edge = (classes * known - 1) / (classes - 1)
    return np.where(sure, SURE, edge * (odds + np.log(classes - 1)))
