"""Votes against values by hand."""

from __future__ import annotations

from math import log

import numpy as np

from crowdopt.answers import majority, wmv_linear, wmv_log
from tests.answers.tables import table


def test_votes_by_hand():
    """Weights 2w - 1 = (.8, .2, .2) against ln-odds; the first outvotes the others; ties go to the first class."""
    labels, w = table([0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [1, 0, 0, 0, 1, 1], 2, 3), [0.9, 0.6, 0.6]
    assert majority(labels).answer.tolist() == [0, 1]
    linear, logs = wmv_linear(labels, w), wmv_log(labels, w)
    np.testing.assert_allclose(linear.score, [[0.4, 0.8], [0.8, 0.4]], rtol=1e-12)
    assert linear.answer.tolist() == [1, 0]
    np.testing.assert_allclose(logs.weight, [log(9), log(1.5), log(1.5)], rtol=1e-12)
    np.testing.assert_allclose(wmv_log(labels, [1.0, 0.5, 0.5]).weight, [log(19), 0, 0], atol=1e-12)  # kept at .95
    three = table([0, 0, 0], [0, 1, 2], [0, 1, 2], 1, 3, 3), [0.8, 1 / 3, 0.2]
    np.testing.assert_allclose(wmv_log(*three).weight, [log(8), 0, log(0.5)], atol=1e-12)
    np.testing.assert_allclose(wmv_linear(*three).weight, [1.4, 0, -0.4], atol=1e-12)
