"""Campaigns as they are after a round: labels of the first one in, and only what is open still needed."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError, read_campaign
from crowdopt.api.generate import generate


def test_a_second_round_has_the_labels_of_the_first(tmp_path):
    """No worker is asked twice, what a worker gave is off their capacity, the seed decides, and few tasks are open."""
    first = generate("R10:60x40", 3)
    second = generate("R10:60x40", 3, round=2, output=tmp_path / "second")
    again = read_campaign(tmp_path / "second")
    load = np.bincount(second.collected[:, 1], minlength=40)
    assert load.sum() > 0 and (second.capacity + load == first.capacity).all()
    assert np.array_equal(second.collected, again.collected) and np.array_equal(second.capacity, again.capacity)
    assert 0 < (second.residual_need > 0).sum() < 60
    same = generate("R10:60x40", 3, round=2)
    assert np.array_equal(same.collected, second.collected) and same.residual_need == pytest.approx(
        second.residual_need
    )


def test_rounds_begin_at_one():
    """There is no round before the first."""
    with pytest.raises(InputError, match="at least 1"):
        generate("R10:60x40", round=0)
