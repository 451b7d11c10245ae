"""What a worker's answers to control questions say about hiring them: estimates (10), gains (8), scores (5)-(9).

Li & Liu, *Cheaper and Better: Selecting Good Workers for Crowdsourcing*, 2015. A worker answered c of n control
questions correctly, n of their own; there are L classes. Gains are fractions of whole numbers, so ties are exact.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from crowdopt.arrays import Floats, Ints

Fractions: TypeAlias = tuple[Ints, Ints]  # numerators, denominators > 0


def reliability(correct: Any, asked: Any) -> Floats:
    """``w = c / n``, unbiased (Li & Liu, eq. 10). correct, asked (workers,): c and n of each; -> (workers,)."""
    return np.asarray(correct, np.float64) / np.asarray(asked, np.float64)


def reliability_variance(correct: Any, asked: Any) -> Floats:
    """``c (n - c) / (n^2 (n - 1))``, n at least 2: unbiased for the variance of ``c / n`` (Li & Liu, eq. 10)."""
    c, n = np.asarray(correct, np.float64), np.asarray(asked, np.float64)
    return c * (n - c) / (n**2 * (n - 1))


def gain_fractions(correct: Ints, asked: Ints, classes: int) -> Fractions:
    """G, unbiased for ``(L w - 1)^2`` (eq. 8): ``(L^2 c (c-1) - 2 L c (n-1) + n (n-1)) / (n (n-1))``, exactly.

    By factorial moments; equal to the paper's two forms.

    correct, asked (workers,): c and n of each, n at least 2; -> numerator, denominator (workers,).
    """
    c, n = correct, asked
    pairs = n * (n - 1)
    return classes**2 * (c * (c - 1)) - 2 * classes * (c * (n - 1)) + pairs, pairs


def plug_in_fractions(correct: Ints, asked: Ints, classes: int) -> Fractions:
    """``(L w - 1)^2 = (L c - n)^2 / n^2``, exactly: what the plug-in score (9) sums, biased by ``L^2 var``."""
    return (classes * correct - asked) ** 2, asked**2


def score(gain: Any) -> float:
    """``F = |S|^(-1/2) sum of gains`` of a set: F-hat (eq. 7), F-hat-plug of plug-in gains (9), F of true ones (5)."""
    of_set = np.asarray(gain, np.float64)
    return float(of_set.sum() / np.sqrt(of_set.size))
