"""Trials summed up: intervals, paired differences, notes."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.studies.intervals import interval, summarise


def test_the_interval_is_students():
    """Mean and t-quantile times the standard error; t(.975, 3) = 3.18245."""
    mean, half = interval(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3.0 and half == pytest.approx(3.18245 * np.std([1, 2, 3, 6], ddof=1) / 2, rel=1e-5)
    assert interval(np.array([2.0])) == (2.0, None)


def test_differences_are_paired_and_notes_are_counted():
    """A constant difference within trials has no width, however much the trials differ; absent figures stay absent."""
    rows = [
        {
            "text": text,
            "trial": k,
            "ratio_bound": base + k,
            "error_realised": None,
            "cost": 1.0 * k,
            "notes": [f"{k} gone"],
        }
        for k in range(4)
        for text, base in (("a", 1.0), ("b", 3.0))
    ]
    first, second = summarise(rows, ["a", "b"], "a")
    assert second["ratio_bound_minus_a"] == pytest.approx(2.0) and second["ratio_bound_minus_a_half"] == 0.0
    assert second["ratio_bound_half"] > 1 and second["error_realised_minus_a"] is None
    assert first["notes"] == ["0 gone (so or alike in 4 of 4 trials)"]
