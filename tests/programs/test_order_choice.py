"""The master over orders of asking: limits that cannot be kept are paid for, errors by one multiple of all targets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from crowdopt.programs.order_choice import OrderLimits, of_orders
from tests.programs.optima import optimum

NONE = np.full(1, -np.inf)
MATRIX = sparse.csc_array([[1.0, 1.0], [0.5, 0.1], [0.0, 2.0]])  # answer at once, or ask a worker twice; one start


def test_orders_are_mixed_until_errors_are_within_their_target():
    """Ten tasks, at most 3 wrong: half of them ask, by hand."""
    limits = OrderLimits(np.array([10.0]), np.array([3.0]), NONE, np.array([100.0]))
    assert optimum(of_orders(limits, np.array([0.0, 2.0]), MATRIX, 100.0)) == pytest.approx(10.0)


def test_what_is_beyond_limits_is_paid_for():
    """The worker has 4 labels: 2 tasks ask, 4.2 answers are wrong, 1.2 too many; or labels too many, where dear."""
    limits = OrderLimits(np.array([10.0]), np.array([3.0]), NONE, np.array([4.0]))
    assert optimum(of_orders(limits, np.array([0.0, 2.0]), MATRIX, 100.0)) == pytest.approx(4 + 1.2 * 100)


def test_targets_grow_together():
    """Two kinds, one of which is out of reach: the other's target grows by the same multiple, so it asks less."""
    both = sparse.csc_array([[1.0, 1.0, 0, 0], [0, 0, 1.0, 1.0], [0.5, 0.4, 0, 0], [0, 0, 0.5, 0.1], [0, 1.0, 0, 1.0]])
    limits = OrderLimits(np.full(2, 10.0), np.full(2, 2.0), NONE, np.array([100.0]))
    found = optimum(of_orders(limits, np.array([0, 1.0, 0, 1.0]), both, 100.0))
    assert found == pytest.approx(10 + (5 - 4) / 0.4 + 100 * 4)  # both targets are 4: ten ask in vain, 2.5 of the rest
