"""References between subjects: which rows a disturbed machine has spoilt."""

from __future__ import annotations

import pytest

from crowdopt.bench.harness.circumstances import reference, sentence, slowdowns
from crowdopt.bench.run import disturbed
from crowdopt.jobs import Row


def test_rows_beside_a_slow_reference_are_found():
    """The quickest is the measure; a row that failed in the harness has none."""
    seconds = [0.1, 0.11, None, 0.2]
    assert slowdowns(seconds) == [1.0, pytest.approx(1.1), None, 2.0]
    rows = [Row("f", {}, {"reference": one}) if one else Row("f", {}, error="died") for one in seconds]
    assert disturbed(rows) == [3]
    said = sentence(seconds)
    assert "1.10 times its quickest (median; at most 2.00)" in said and "1 of 3 rows" in said
    assert sentence([None]) == ""


def test_a_reference_takes_time_but_little():
    """So that it neither vanishes in the clock's grain nor doubles a benchmark."""
    assert 0.001 < min(reference() for _ in range(3)) < 1.0
