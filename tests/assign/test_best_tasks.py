"""Which tasks a worker gets, where several are equally good."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.assign.best_tasks import best_of


@pytest.mark.parametrize("seed", range(20))
def test_equals_go_by_their_ties_and_then_by_their_place(seed):
    """A complete order leaves nothing to the processor: the same tasks are picked on every machine."""
    rng = np.random.default_rng(seed)
    value, ties = rng.integers(0, 3, 60).astype(float), rng.integers(0, 4, 60).astype(float)
    room = int(rng.integers(1, 60))
    order = np.lexsort([np.arange(60), ties, -value])[:room]
    np.testing.assert_array_equal(best_of(value, ties, np.arange(100, 160), room), 100 + np.sort(order))
