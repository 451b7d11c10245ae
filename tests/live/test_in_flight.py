"""Twenty people at once beside one at a time: hardly more labels where newcomers wait for a crew that suffices."""

from __future__ import annotations

import os

import pytest

from benchmarks.flights import row


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CROWDOPT_DATA"), reason="recorded labels are not here: CROWDOPT_DATA")
def test_recorded_people_at_once_take_hardly_more_labels():
    """With the crew that is the default at most a twentieth more; last bits, and so labels, differ by processor."""
    assert float(row("bluebird", "sequential").split("|")[4]) <= 1.05
