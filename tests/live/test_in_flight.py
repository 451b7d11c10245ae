"""Twenty people at once beside one at a time: hardly more labels where newcomers wait for a crew that suffices."""

from __future__ import annotations

import os

import pytest

from tests.live.flights import FLIGHT, flown

SEEDS = 4


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CROWDOPT_DATA"), reason="recorded labels are not here: CROWDOPT_DATA")
def test_recorded_people_at_once_take_hardly_more_labels():
    """At most a twentieth more over all seeds, with the crew that is the default."""
    one = sum(flown("bluebird", "sequential", seed, 1).labels for seed in range(SEEDS))
    many = sum(flown("bluebird", "sequential", seed, FLIGHT, 3).labels for seed in range(SEEDS))
    assert many <= 1.05 * one
