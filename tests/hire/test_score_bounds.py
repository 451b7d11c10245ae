"""Bounds, against errors computed exactly or simulated."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.crowd.hiring.gains import score
from crowdopt.hire import score_bounds
from tests.chance import fewest, rng


@pytest.mark.parametrize("accuracy", [(0.9,), (0.7, 0.8, 0.6), (0.95, 0.9, 0.55, 0.6), (0.2, 0.3, 0.9)])
def test_no_best_vote_errs_more_than_bhattacharyya(accuracy: tuple[float, ...]) -> None:
    """For two classes the vote by log-odds errs with probability sum min(P, Q)/2, over all 2^k answers."""
    p = np.array(accuracy)
    right = np.array([np.prod(np.where(r, p, 1 - p)) for r in product([0, 1], repeat=p.size)])
    error = np.minimum(right, right[::-1]).sum() / 2  # the reversed list has every answer turned round
    assert error <= score_bounds.best_vote_bound(p, 2) <= 0.5


@pytest.mark.chance
def test_theorem_3_covers_a_set_fixed_in_advance() -> None:
    """Simulated with unequal numbers of questions, 4000 times: those covered are binomial by 95 % or more."""
    n, w, classes = np.array([4, 7, 10, 10]), np.array([0.5, 0.7, 0.9, 0.35]), 3
    c = rng().binomial(n, w, (4000, 4))
    estimates = ((classes * c / n - 1) ** 2 - classes**2 * c * (n - c) / (n**2 * (n - 1))).sum(axis=1) / 2
    width = score_bounds.interval_half_width(n, classes, 0.95)
    assert (np.abs(estimates - score((classes * w - 1) ** 2)) <= width).sum() >= fewest(4000, 0.95)
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        score_bounds.interval_half_width([10], 2, 1.0)
