"""Sorting in compiled loops: what numpy's stable sort gives, ties included."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.sorting_kernels import stable_order


@given(st.lists(st.integers(-4, 4), max_size=70))
def test_the_order_is_that_of_a_stable_sort(values):
    """Few different values, so that there are ties."""
    array = np.array(values, np.float64)
    assert stable_order(array).tolist() == np.argsort(array, kind="stable").tolist()
