"""The error of one weighted vote."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.crowd.rules import log_odds
from crowdopt.crowd.vote_errors import vote_errors


def weighted_error(accuracy: Any, weights: Any = None, prior: float = 0.5, bias: float | None = None) -> float:
    """``P(the weighted vote of two classes is wrong)``, ties broken by a fair coin; exact up to rounding.

    The vote says class 1 where ``bias + sum w_j l_j > 0``, l = +1 for class 1, -1 for the other.

    accuracy (k,): p of each label; below 1/2 and exactly 0 or 1 are allowed.
    weights (k,): w. Default: log-odds, which no vote beats.
    prior: probability of class 1.
    bias: default: ``ln(prior / (1 - prior))``, which belongs to log-odds weights; give 0 for votes that ignore the
    prior.
    -> where more than about 24 labels all differ, an upper bound: see :func:`vote_errors` for its width.
    """
    p = np.asarray(accuracy, dtype=np.float64)
    w = log_odds(p) if weights is None else np.asarray(weights, dtype=np.float64)
    lean = log_odds(prior) if bias is None else bias
    return float(vote_errors(np.array([0, p.size]), p, w, np.array([prior]), np.array([lean]))[0][0])
