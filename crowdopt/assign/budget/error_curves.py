"""Convex curves that hold a task's error from below or above, as functions of its evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.rules import bhattacharyya_error, least_error, least_overlap

LEAST = 1e-12  # evidence has at least this price
HALVED = 70  # times, an interval of logarithms: to the last digit

Function: TypeAlias = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """A convex, falling function of a task's evidence that its error is held to be."""

    # of the evidence, (T,); the slope is negative
    value: Function
    slope: Function
    least: Function  # ``least(x) = min over A >= 0 of value(A) + x A`` for prices x > 0 of evidence
    reached: Function  # the A of that least


def surrogate_curve(prior: Floats) -> ErrorCurve:
    """``S e^{-A/2}``, which no log-odds vote's error exceeds; what greedy goes by. One row of the prior a task.

    prior (T, classes): of a task of each class; rows add up to 1.
    """
    top = bhattacharyya_error(np.zeros(len(prior)), prior)

    def least(x: Floats) -> Floats:
        inside = 2 * x < top
        best = 2 * x * (1 + np.log(top / np.where(inside, 2 * x, top)))
        return np.where(inside, best, top)

    def reached(x: Floats) -> Floats:
        return 2 * np.log(top / np.minimum(2 * x, top))

    return ErrorCurve(lambda a: top * np.exp(-a / 2), lambda a: -top * np.exp(-a / 2) / 2, least, reached)


def least_curve(prior: Floats) -> ErrorCurve:
    """``(1 - sqrt(1 - k e^{-A})) / 2``, k = 4 pi_0 pi_1: no vote errs less (Cauchy and Schwarz).

    Among more than two classes its like, crowdopt.crowd.rules.least_error.

    prior (T, classes): of a task of each class; rows add up to 1.
    """
    if prior.shape[1] > 2:
        return _least_among(prior)
    k = np.minimum(4 * prior[:, 0] * prior[:, 1], 1 - 1e-12)

    def value(a: Floats) -> Floats:
        return _half_share(k * np.exp(-a))

    def slope(a: Floats) -> Floats:
        rest = k * np.exp(-a)
        return -rest / (4 * np.sqrt(1 - rest))

    def left(x: Floats) -> Floats:
        return np.minimum(k, 2 * x / (np.sqrt(x * x + 0.25) + x))

    def least(x: Floats) -> Floats:
        return _half_share(left(x)) + x * np.log(k / left(x))

    def reached(x: Floats) -> Floats:
        return np.log(k / left(x))

    return ErrorCurve(value, slope, least, reached)


def _least_among(prior: Floats) -> ErrorCurve:
    """The e with ``phi(e) = S e^{-A/2}`` (crowdopt.crowd.rules.least_overlap): convex, for phi is concave."""
    # With ``tan(t) = sqrt(e / (1 - e))`` it is ``phi' = K/2 - 1 + sqrt(K - 1) / tan(2 t)``. Where a price x is paid
    # for evidence, ``e + 2 x ln(S / phi(e))`` is convex in e and least where ``phi = 2 x phi'``.
    classes = prior.shape[1]
    top = bhattacharyya_error(np.zeros(len(prior)), prior) * (1 - 1e-12)
    most = least_error(top, classes)

    def rise(e: Floats) -> Floats:
        return classes / 2 - 1 + np.sqrt(classes - 1) * (1 - 2 * e) / (2 * np.sqrt(e * (1 - e)))

    def value(a: Floats) -> Floats:
        return least_error(top * np.exp(-a / 2), classes)

    def slope(a: Floats) -> Floats:
        overlap = top * np.exp(-a / 2)
        return -overlap / (2 * rise(least_error(overlap, classes)))

    def left(x: Floats) -> Floats:
        low, high = np.full(most.shape, -700.0), np.log(most)
        for _ in range(HALVED):
            middle = (low + high) / 2
            short = least_overlap(np.exp(middle), classes) < 2 * x * rise(np.exp(middle))
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.exp(high)

    def reached(x: Floats) -> Floats:
        amount: Floats = 2 * np.log(top / least_overlap(left(x), classes))
        return np.maximum(0.0, amount)

    return ErrorCurve(value, slope, lambda x: left(x) + x * reached(x), reached)


def _half_share(rest: Floats) -> Floats:
    """``(1 - sqrt(1 - r)) / 2``, written so that nothing cancels."""
    return rest / (2 * (1 + np.sqrt(1 - rest)))
