"""What a score promises: error bounds of a set's vote, and the interval of its true score."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np

from crowdopt.crowd.rules import rule_named
from crowdopt.errors import InputError

FIXED_IN_ADVANCE = (
    "the interval holds for a set fixed before the control questions were answered; this one was chosen by the same "
    "answers, so its true score is likely below the estimate"
)


def linear_vote_bound(score: float, classes: int) -> float:
    """``(L - 1) exp(-F^2 / (2 (L - 1)^4))``, at most 1: no WMV-linear vote with unbiased weights errs more often.

    Li & Liu 2015, Theorem 1, corrected: a vote's contribution has a range of ``2 (L - 1)``, not L.

    score: F of eq. (5), with the true accuracies; an estimate gives an estimate.
    """
    return min(1.0, (classes - 1) * exp(-(score**2) / (2 * (classes - 1) ** 4)))


def best_vote_bound(accuracy: Any, classes: int) -> float:
    """Bhattacharyya's bound on the error of the log-odds vote, true accuracies (|S|,); at most 1 - 1/L."""
    rule = rule_named("bhattacharyya", classes)
    evidence = rule.evidence(np.asarray(accuracy, np.float64), classes).sum()
    return min(1 - 1 / classes, float(rule.error(evidence, classes)))


def interval_half_width(asked: Any, classes: int, coverage: float = 0.95) -> float:
    """``a (L - 1)^2 sqrt(mean((n_i/(n_i - 1))^2))`` with ``1 - 2 exp(-2 a^2)`` = coverage (Li & Liu 2015, Theorem 3).

    The score's estimate is within so much of the true score with that probability, for a set fixed in advance.

    asked (|S|,): control questions of each worker of the set; equal ones give the paper's ``n/(n - 1)``; coverage: in
    (0, 1).
    """
    if not 0 < coverage < 1:
        raise InputError(f"the coverage of an interval must lie strictly between 0 and 1, not {coverage}")
    n = np.asarray(asked, np.float64)
    width = sqrt(log(2 / (1 - coverage)) / 2) * (classes - 1) ** 2
    return float(width * np.sqrt(np.mean((n / (n - 1)) ** 2)))
