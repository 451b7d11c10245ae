"""Skills on a grid: what a label by each is worth, where they are expected before anybody is seen, and levels.

A task's *level* is ``ln((K - 1) P / (1 - P))``, P the posterior of its likeliest class among K: 0 where nothing is
known, and ``|log odds|`` where K = 2.
"""

from __future__ import annotations

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.rules import log_odds

CELLS = 40
ODD = 0.1  # how much rarer than good ones workers are expected to be who are wrong more often than right

GRID: Floats = (np.arange(CELLS) + 0.5) / CELLS  # g, the chance of a right label


def information(accuracy: Floats, classes: int = 2) -> Floats:
    """``(g - u) ln(g / u)``, u = (1 - g)/(K - 1): Kullback-Leibler divergence of a label's laws under two classes."""
    edge = (classes * accuracy - 1) / (classes - 1)
    return np.asarray(edge * log_odds(accuracy, classes))


def expected(classes: int = 2) -> Floats:
    """The prior's prior: ``w0 ~ (1 - g) / (1 - 1/K)`` above guessing, a little mass below; (cells,), sums to 1."""
    weight = np.where(classes * GRID > 1, (1 - GRID) / (1 - 1 / classes), ODD * (classes * GRID) ** 2)
    return weight / weight.sum()


def level_at_error(chance: Floats, classes: int = 2) -> Floats:
    """``ln((K - 1) (1 - e) / e)``, the level at which a task's posterior error is e in (0, 1); any shape."""
    return np.asarray(np.log((1 - chance) / chance) + np.log(classes - 1))


def error_at_level(level: Floats, classes: int = 2) -> Floats:
    """``(K - 1) / (K - 1 + e^l)``, the posterior error of a task at a level l >= 0; any shape."""
    with np.errstate(over="ignore"):
        return np.asarray((classes - 1) / (classes - 1 + np.exp(level)))


def edge_at_level(level: Floats, classes: int = 2) -> Floats:
    """``(e^l - 1) / (e^l + K - 1)``: chance of the likeliest class less that of another, others alike; any shape."""
    half = np.tanh(np.asarray(level) / 2)
    return half if classes == 2 else 2 * half / (2 * half + classes * (1 - half))
