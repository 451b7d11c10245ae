"""When agreement with the majority is skill: what Liu & Liu (2015, Sections 2.3 and 3.5.3) presume, put right."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.labelers.sets import top_accuracies

HALF = 0.5  # a guess


def is_large_enough(accuracy: Any) -> bool:
    """Section 2.3: mean skill above 1/2 and ``M > ln 2 / (2 (mean - 1/2)^2)``: then a majority is mostly right."""
    p = np.asarray(accuracy, dtype=np.float64)
    lead = float(p.mean()) - HALF
    return lead > 0 and p.size > log(2) / (2 * lead**2)


def rivals(accuracy: Any) -> Floats:
    """``r_ij = pi(M minus i and j)``, the accuracy of all others' majority: ``E[Z_i - Z_j] = (2 r_ij - 1)(p_j - p_i)``.

    Where it is below 1/2 the better of two labelers disagrees with the majority more often.

    -> (labelers, labelers): symmetric; NaN on the diagonal.
    """
    p = np.asarray(accuracy, dtype=np.float64)
    table = np.full((p.size, p.size), np.nan)
    for i, j in zip(*np.triu_indices(p.size, 1), strict=True):
        rest = np.delete(p, [i, j])
        table[i, j] = table[j, i] = top_accuracies(rest)[-1] if rest.size else HALF
    return table
