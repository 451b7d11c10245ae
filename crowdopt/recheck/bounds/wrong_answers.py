"""What prices prove of the wrong answers that money leaves, task by task."""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.core.roundoff import sum_below
from crowdopt.crowd.instance import AssignmentInstance

STEP = 2_000_000  # pairs looked at together
THIRDS, NEAR_LEAST = 200, 1e-12  # steps of a search, and how near to the least, relative, they lead


def prove_curve(instance: AssignmentInstance, task: Floats, worker: Floats, budget: float, money: float) -> float:
    """``sum_i m_i(x_i) - x_i D_i - sum_j M_j w_j - b B - sum_ij [x_i q_ij - w_j - b c_ij]+``, ij not barred.

    A lower bound on the expected wrong answers of every plan that costs at most B, for any x >= 0, w = -worker >= 0
    and b = -budget >= 0: a vote with evidence A errs at least ``(1 - sqrt(1 - k e^-A)) / 2``, k = 4 times the product
    of the two classes' chances (Cauchy and Schwarz), and ``m_i(x) = min over A of that + x A``. D_i is the evidence of
    labels already in. Among more than two classes: :func:`_least_among`.

    instance: under the rule mean-error; task (tasks,): x, the price of evidence in wrong answers; worker (workers,):
    -w, in wrong answers a label; budget: -b, in wrong answers per unit of money; -> -inf where the prices are too
    large for float64.
    """
    n, m = instance.n_tasks, instance.n_workers
    x, w, b = np.maximum(task, 0.0), np.maximum(0.0, -worker), max(0.0, -budget)
    prior = np.broadcast_to(instance.prior, (n, instance.classes))
    least = _least_between(prior, x) if instance.classes == 2 else _least_among(prior, x)
    spent = np.append(instance.capacity * w, b * min(money, most_money(instance)))
    gains, size, step, barred = [0.0], [], max(1, STEP // m), instance.barred  # sorted by task
    for start in range(0, n, step):
        some = slice(start, start + step)
        kind = instance.task_type[some]
        worth, paid = instance.evidence[kind] * x[some, None], w + b * instance.cost[kind]
        gain, own = np.maximum(0.0, worth - paid), barred[slice(*np.searchsorted(barred[:, 0], [start, start + step]))]
        gain[own[:, 0] - start, own[:, 1]] = 0.0  # whom a task may not have brings it nothing
        gains.append(float(gain.sum()))
        size.append(float(worth.sum() + paid.sum()))
    terms = np.concatenate([least, -x * instance.collected_evidence, -spent, -np.array(gains)])
    return sum_below(terms, float(np.sum(size)))


def _least_between(prior: Floats, x: Floats) -> Floats:
    """``min over A of (1 - sqrt(1 - k e^-A)) / 2 + x A``, (tasks,)."""
    k = np.minimum(1.0, 4 * prior[:, 0] * prior[:, 1]) * (1 - 1e-12)
    rest = np.minimum(k, 2 * x / (x + np.hypot(x, 0.5)))
    with np.errstate(divide="ignore", invalid="ignore"):
        least: Floats = np.where(x > 0, rest / (2 + 2 * np.sqrt(1 - rest)) + x * np.log(k / rest), 0.0)
    return least


def _least_among(prior: Floats, x: Floats) -> Floats:
    """``min over A of e + x A`` with ``(K/2 - 1) e + sqrt((K - 1) e (1 - e)) = S e^{-A/2}``, at least, (tasks,)."""
    # No vote with evidence A errs less than e: of the classes' chances g at labels x all but the largest sum to the
    # error r, ``sum over pairs sqrt(g_k g_l) <= (K/2 - 1) r + sqrt((K - 1) r (1 - r))`` by Cauchy and Schwarz, and
    # the left sides of all x sum to ``S e^{-A/2}``, S those of the prior. ``e + x A`` is convex in e, so falls and
    # then rises in t, ``e = sin(t / 2)^2``; a search by thirds ends where it is the least to the last digits, of
    # which NEAR_LEAST takes more than rounding can have added.
    classes = prior.shape[1]
    start = np.log((np.square(np.sqrt(prior).sum(axis=1)) - 1) / 2) - 1e-12

    def worth(t: Floats) -> Floats:
        e = np.square(np.sin(t / 2))
        together = np.log((classes / 2 - 1) * e + np.sqrt(classes - 1) * np.sin(t) / 2)
        return e + 2 * x * np.maximum(0.0, start - together)

    low, high = np.full(len(x), 1e-150), np.full(len(x), np.arccos(2 / classes - 1))
    for _ in range(THIRDS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        before = worth(one) < worth(two)
        low, high = np.where(before, low, one), np.where(before, two, high)
    return np.where(x > 0, worth((low + high) / 2) * (1 - NEAR_LEAST), 0.0)


def most_money(instance: AssignmentInstance) -> float:
    """What all labels of all workers cost at most: more money buys nothing."""
    room = np.minimum(instance.capacity, instance.n_tasks)
    return float((room * instance.cost.max(axis=0)).sum())
