"""Twenty people at once beside one at a time: hardly more labels where newcomers wait for a crew that suffices."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.flights import row

PAGE = Path(__file__).parents[2] / "crowdopt" / "live" / "README.md"


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CROWDOPT_DATA"), reason="recorded labels are not here: CROWDOPT_DATA")
def test_recorded_people_at_once_take_hardly_more_labels():
    """The guide's row is what the code gives; with the crew that is the default at most a twentieth more."""
    line = row("bluebird", "sequential")
    assert line in PAGE.read_text("utf-8")
    assert float(line.split("|")[4]) <= 1.05
