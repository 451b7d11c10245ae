"""Twenty people at once beside one at a time: hardly more labels where newcomers wait for a crew that suffices."""

from __future__ import annotations

import os

import pytest

from benchmarks.flights import row


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CROWDOPT_DATA"), reason="recorded labels are not here: CROWDOPT_DATA")
def test_recorded_people_at_once_take_hardly_more_labels():
    """At most a twentieth more with the default crew; what a label tells differs in last bits by processor."""
    assert float(row("bluebird", "sequential").split("|")[4]) <= 1.05
