"""What the paper's theorems ask for and promise, as functions: plan gold and samples before paying for them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, inf, log, sqrt

from crowdopt.errors import InputError


def gold_for(tolerance: float, delta: float) -> int:
    """``s = ln(2/delta) / (2 t^2)`` gold tasks put p-hat within t of p with probability 1 - delta (Lemma 2)."""
    if not 0 < tolerance < 1 or not 0 < delta < 1:
        raise InputError(f"tolerance and delta must lie in (0, 1), not {tolerance} and {delta}")
    return ceil(log(2 / delta) / (2 * tolerance**2))


def tolerance_of(gold: int, delta: float) -> float:
    """``t = sqrt(ln(2/delta) / (2 s))``, Lemma 2 read the other way."""
    if gold < 1 or not 0 < delta < 1:
        raise InputError(f"gold must be at least 1 and delta in (0, 1), not {gold} and {delta}")
    return sqrt(log(2 / delta) / (2 * gold))


def evidence_error(tolerance: float) -> float:
    """``|q-hat - q| <= 4 t`` if ``|p-hat - p| <= t`` (Lemma 3)."""
    return 4 * tolerance


def loosened(epsilon: float, tolerance: float, least_quality: float) -> float:
    """``epsilon' = epsilon^(1 - 4t/qmin)``, under which the approximated LP costs no more (Theorem 3)."""
    if not 0 <= 4 * tolerance < least_quality <= 1:
        raise InputError(f"Theorem 3 needs 4 t < qmin <= 1, not t = {tolerance:.4g} and qmin = {least_quality:.4g}")
    return float(epsilon ** (1 - 4 * tolerance / least_quality))


def error_after(epsilon: float, tolerance: float, least_quality: float, quality: float) -> float:
    """``epsilon^((1 - 4t/qmin)(1 - 4t/q_i))``: the error at mean true evidence q_i per label (Theorem 4).

    Where 4 t exceeds q_i the theorem says nothing, and 1 is returned.

    Parameters
    ----------
    epsilon, tolerance : float
        The target, and t.
    least_quality, quality : float
        qmin and q_i.
    """
    exponent = (1 - 4 * tolerance / least_quality) * (1 - 4 * tolerance / quality)
    return float(epsilon**exponent) if 4 * tolerance < quality and 4 * tolerance < least_quality else 1.0


def wald(accuracy: float, epsilon: float) -> float:
    """``(1 - 2 eps) ln((1 - eps)/eps) / ((2p - 1) logit p)``: least labels per task of equal workers (Wald 1945)."""
    if not (0 < accuracy < 1 and accuracy != 0.5 and 0 < epsilon < 1):
        raise InputError(f"accuracy must lie in (0, 1) and differ from 1/2, epsilon in (0, 1): {accuracy}, {epsilon}")
    return (1 - 2 * epsilon) * log((1 - epsilon) / epsilon) / ((2 * accuracy - 1) * log(accuracy / (1 - accuracy)))


@dataclass(frozen=True)
class Guarantee:
    """What Theorem 5 asks for and promises; ``labels_ratio`` is inf and ``error`` 1 where it promises nothing.

    Parameters
    ----------
    gold : int
        s, gold tasks per worker and type.
    gold_labels : int
        What that costs: ``ceil((1 + gamma) m) s T`` labels.
    gamma, least_gamma : float
        Share of preliminary workers, and the least the theorem accepts, ``1/C``.
    tolerance : float
        t.
    epsilon : float
        epsilon'.
    losses : (float, float, float)
        l1, l2 and l3 of the error's exponent ``(1-l1)(1-l2)(1-l3)``.
    """

    gold: int
    gold_labels: int
    gamma: float
    least_gamma: float
    tolerance: float
    epsilon: float
    labels_ratio: float
    losses: tuple[float, float, float]
    error: float


def theorem_5(
    tasks: int,
    workers: int,
    types: int,
    epsilon: float,
    delta: float,
    least_quality: float,
    gamma: float,
    gold: int | None = None,
    quality: float | None = None,
) -> Guarantee:
    """Plan gold for the Main Algorithm, and say what is promised for it (Ho et al. 2013, Theorem 5).

    Parameters
    ----------
    least_quality : float
        qmin, at most each task's mean evidence per label in the LP's optimum.
    gold : int, optional
        Gold tasks one can pay; default: the theorem's own ``s = 8 ln(4 T (1+gamma) m / delta) / qmin^2``.
    quality : float, optional
        q_i of the task in question; default: ``least_quality``.
    """
    if not (0 < epsilon < 1 and 0 < delta < 1 and 0 < least_quality <= 1 and 0 < gamma <= 1):
        raise InputError("epsilon and delta must lie in (0, 1), qmin and gamma in (0, 1]")
    union = log(4 * types * (1 + gamma) * workers / delta)
    asked = ceil(8 * union / least_quality**2) if gold is None else gold
    tolerance = sqrt(union / (2 * asked))
    need = -2 * log(epsilon)
    l1 = 4 * tolerance / least_quality
    loose = epsilon ** (1 - l1)
    l2 = 6 * log(4 / delta) / sqrt(gamma * need)
    l3 = 4 * tolerance / (quality or least_quality)
    holds = l1 < 1 and gamma >= 1 / need
    return Guarantee(
        asked,
        ceil((1 + gamma) * workers - 1e-9) * asked * types,
        gamma,
        1 / need,
        tolerance,
        float(loose),
        _labels_ratio(tasks, workers, least_quality, -2 * log(loose), gamma, delta) if holds else inf,
        (l1, l2, l3),
        exp(log(epsilon) * (1 - l1) * (1 - l2) * (1 - l3)) if holds and l2 < 1 and l3 < 1 else 1.0,
    )


def _labels_ratio(tasks: int, workers: int, quality: float, need: float, gamma: float, delta: float) -> float:
    rounding = min(workers, tasks) / (quality * tasks * need)
    return 1 + rounding + 35 * log(4 / delta) / (quality * sqrt(gamma * need))
