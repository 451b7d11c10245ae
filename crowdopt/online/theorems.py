"""What the paper's theorems ask for and promise, as functions: plan gold and samples before paying for them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, inf, log, sqrt
from sys import float_info

from crowdopt.errors import InputError

HALF = 0.5


def error_after(epsilon: float, tolerance: float, least_quality: float, quality: float) -> float:
    """``epsilon^((1 - 4t/qmin)(1 - 4t/q_i))``: the error at mean true evidence q_i per label (Theorem 4).

    Where 4 t reaches q_i or qmin the theorem says nothing, and 1 is returned.

    epsilon, tolerance: the target, and t; least_quality, quality: qmin and q_i.
    """
    if 4 * tolerance >= min(least_quality, quality):
        return 1.0
    return float(epsilon ** ((1 - 4 * tolerance / least_quality) * (1 - 4 * tolerance / quality)))


@dataclass(frozen=True)
class Sampled:
    """What Theorem 2 promises for prices from a sample, skills known; ``inf`` and 1 where it promises nothing."""

    least_gamma: float  # the least share of preliminary workers that the theorem accepts, ``1/C``
    # ``1 + min(m, n) / (qmin n C) + 35 ln(2/delta) / (qmin sqrt(gamma C))``: labels over the relaxed optimum
    labels_ratio: float
    error: float  # ``epsilon^(1 - 6 ln(2/delta) / sqrt(gamma C))``, the error as it has to read
    # ``epsilon^(1 - 6 ln(2/delta)) / sqrt(gamma C)``, as printed: no probability at any usual size
    printed_error: float


def theorem_2(tasks: int, workers: int, epsilon: float, delta: float, gamma: float, assigned_quality: float) -> Sampled:
    """What the Primal Approximation Algorithm does under the sampled LP's prices (Ho et al. 2013, Theorem 2).

    tasks, workers: n and m.
    epsilon, delta: in (0, 1/2). The promise holds with probability 1 - delta over the order of arrival.
    gamma: preliminary workers per worker to come, in (0, 1].
    assigned_quality: qmin, the least evidence q_ij of a pair that the sampled LP's optimum uses at all.
    """
    _check(epsilon, delta, gamma)
    if not 0 < assigned_quality <= 1:
        raise InputError(f"the least evidence of an assigned pair must lie in (0, 1], not {assigned_quality}")
    need = -2 * log(epsilon)
    spread, root = 6 * log(2 / delta), sqrt(gamma * need)
    holds = gamma >= 1 / need
    return Sampled(
        1 / need,
        _labels_ratio(tasks, workers, assigned_quality, need, gamma, 2 / delta) if holds else inf,
        min(1.0, exp(log(epsilon) * (1 - spread / root))) if holds else 1.0,
        _power(epsilon, 1 - spread) / root,
    )


@dataclass(frozen=True)
class Guarantee:
    """What Theorem 5 asks for and promises; ``labels_ratio`` is inf and ``error`` 1 where it promises nothing."""

    gold: int  # s, gold tasks per worker and type
    gold_labels: int  # what that costs: ``ceil((1 + gamma) m) s T`` labels
    # share of preliminary workers, and the least the theorem accepts, ``1/C``
    gamma: float
    least_gamma: float
    tolerance: float  # t
    epsilon: float  # epsilon'
    labels_ratio: float  # labels that are no gold, over the IP's optimum
    # l1, l2 and l3 of the error's exponent ``(1-l1)(1-l2)(1-l3)``; l3 is inf where ``quality`` is not known
    losses: tuple[float, float, float]  # (float, float, float)
    error: float  # of each task's answer


def theorem_5(
    tasks: int,
    workers: int,
    types: int,
    epsilon: float,
    delta: float,
    least_quality: float,
    gamma: float,
    *,
    gold: int | None = None,
    quality: float | None = None,
    assigned_quality: float | None = None,
) -> Guarantee:
    """Plan gold for the Main Algorithm, and say what is promised for it (Ho et al. 2013, Theorem 5).

    tasks, workers, types: n, m and T.
    epsilon, delta: in (0, 1/2).
    least_quality: q-bar*_min, at most each task's mean evidence per label in the LP's optimum.
    gamma: preliminary workers per worker to come, in (0, 1].
    gold: gold tasks one can pay; default: the theorem's own ``s = 8 ln(4 T (1+gamma) m / delta) / qmin^2``.
    quality: q-hat_i, the mean true evidence of the labels of the task in question; without it no error is promised.
    assigned_quality: q-hat_min, the least estimated evidence of a pair that the sampled LP assigns; without it no
    number of labels is promised. It is a least value where ``least_quality`` is a mean, and may be far below it.
    """
    _check(epsilon, delta, gamma)
    for what, value in (("qmin", least_quality), ("quality", quality), ("assigned quality", assigned_quality)):
        if value is not None and not 0 < value <= 1:
            raise InputError(f"{what} must lie in (0, 1], not {value}")
    union = log(4 * types * (1 + gamma) * workers / delta)
    asked = ceil(8 * union / least_quality**2) if gold is None else gold
    if asked < 1:
        raise InputError(f"gold must be at least 1, not {asked}")
    tolerance = sqrt(union / (2 * asked))
    need = -2 * log(epsilon)
    l1 = 4 * tolerance / least_quality
    loose = (1 - l1) * need
    l2 = 6 * log(4 / delta) / sqrt(gamma * loose) if l1 < 1 else inf
    l3 = inf if quality is None else 4 * tolerance / quality
    holds = l1 < 1 and gamma >= 1 / need
    ratio = inf
    if holds and assigned_quality is not None:
        ratio = _labels_ratio(tasks, workers, assigned_quality, loose, gamma, 4 / delta)
    return Guarantee(
        asked,
        ceil((1 + gamma) * workers - 1e-9) * asked * types,
        gamma,
        1 / need,
        tolerance,
        exp(-loose / 2),
        ratio,
        (l1, l2, l3),
        exp(log(epsilon) * (1 - l1) * (1 - l2) * (1 - l3)) if holds and l2 < 1 and l3 < 1 else 1.0,
    )


def _power(epsilon: float, exponent: float) -> float:
    """``epsilon^exponent``, inf where that is beyond float64."""
    logarithm = exponent * log(epsilon)
    return exp(logarithm) if logarithm < log(float_info.max) else inf


def _check(epsilon: float, delta: float, gamma: float) -> None:
    if not (0 < epsilon < HALF and 0 < delta < HALF and 0 < gamma <= 1):
        raise InputError(
            f"epsilon and delta must lie in (0, 1/2) and gamma in (0, 1], not {epsilon}, {delta} and {gamma}"
        )


def _labels_ratio(tasks: int, workers: int, quality: float, need: float, gamma: float, odds: float) -> float:
    """``1 + min(m, n) / (qmin n C) + 35 ln(odds) / (qmin sqrt(gamma C))``, odds 2/delta or 4/delta."""
    rounding = min(workers, tasks) / (quality * tasks * need)
    return 1 + rounding + 35 * log(odds) / (quality * sqrt(gamma * need))
