"""Bounds on rounding: what float64 may have added to a lower bound is subtracted."""

from __future__ import annotations

from math import fsum

import numpy as np
from scipy import sparse

from crowdopt.arrays import Floats

UNIT = 2.0**-53  # relative; float64's rounding of one operation
DEPTH = 64  # roundings that a term may pass through: a few products, and numpy's pairwise sum of up to 2^40 terms


def lowered(total: float, size: float) -> float:
    """A number that the exact sum is not below, given its float64 value and the sum of its terms' absolute values."""
    return float(total - DEPTH * UNIT * size)


def sum_below(terms: Floats, more: float = 0.0) -> float:
    """At most the exact sum of terms (k,), -inf if one is not finite; more: absolute values that cancelled in them."""
    size = float(np.abs(terms).sum()) + more
    return lowered(fsum(terms), size) if np.isfinite(size) else -np.inf


def product_error(matrix: sparse.csc_array, vector: Floats) -> Floats:
    """By how much ``matrix.T @ vector`` may be off, entry by entry: ``(k + 2) u sum_i |a_i y_i|``, k entries."""
    absolute = sparse.csc_array((np.abs(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    return (np.diff(matrix.indptr) + 2) * UNIT * (absolute.T @ np.abs(vector))
