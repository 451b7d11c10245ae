"""Formulas that the papers print and no method needs: the gain in two more forms, Theorem 1 as it stands.

Li & Liu, *Cheaper and Better: Selecting Good Workers for Crowdsourcing*, 2015.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.hiring.gains import reliability


def gain_from_estimates(accuracy: Any, variance: Any, classes: int) -> Floats:
    """``G = (L w - 1)^2 - L^2 var``, unbiased for ``(L w - 1)^2`` with any unbiased estimates (eq. 8, 25; Lemma 2).

    variance (workers,): unbiased estimates of their variance; -> (workers,).
    """
    w, spread = np.asarray(accuracy, np.float64), np.asarray(variance, np.float64)
    gain: Floats = (classes * w - 1) ** 2 - classes**2 * spread
    return gain


def gain_completed_square(correct: Any, asked: Any, classes: int) -> Floats:
    """G, the gain of the tallies, as ``n/(n-1) [(L w - 1 - (L-2)/(2n))^2 - ((L-2)^2/(4n^2) + (L-1)/n)]`` (eq. 26).

    correct, asked (workers,): control questions answered correctly; answered, n; -> (workers,).
    """
    n = np.asarray(asked, np.float64)
    shift = (classes - 2) / (2 * n)
    square = (classes * reliability(correct, n) - 1 - shift) ** 2
    gain: Floats = n / (n - 1) * (square - (shift**2 + (classes - 1) / n))
    return gain


def printed_linear_vote_bound(score: float, classes: int) -> float:
    """``exp(-2 F^2 / (L^2 (L - 1)^2) + ln(L - 1))``: Theorem 1 as printed; false for L >= 3."""
    return exp(-2 * score**2 / (classes**2 * (classes - 1) ** 2) + log(classes - 1))
