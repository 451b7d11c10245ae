"""Capacity dealt to parts: whole labels, never more than there are, and no worker gets less than they can be given."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.assign.parts import deal_rest, deal_room


@pytest.mark.parametrize("seed", range(5))
def test_what_is_dealt_adds_up(seed):
    """Each worker's labels are dealt to the last one, and a part loses labels only where all ask for too many."""
    rng = np.random.default_rng(seed)
    parts, workers = int(rng.integers(1, 9)), int(rng.integers(1, 7))
    loads, room = rng.integers(0, 50, (parts, workers)), rng.integers(0, 200, workers)
    dealt = deal_room(room, loads, rng.integers(1, 100, parts))
    assert (dealt >= 0).all() and (dealt.sum(axis=0) == room).all()
    enough = loads.sum(axis=0) <= room
    assert (dealt >= loads)[:, enough].all() and (dealt <= loads)[:, ~enough].all()


@pytest.mark.parametrize("seed", range(5))
def test_parts_that_lack_room_get_all_that_is_left(seed):
    """To the last label, in equal shares."""
    rng = np.random.default_rng(seed)
    rest, parts = rng.integers(0, 30, 4), int(rng.integers(1, 6))
    dealt = deal_rest(rest, parts)
    assert (dealt >= 0).all() and (dealt.sum(axis=0) == rest).all() and (np.ptp(dealt, axis=0) <= 1).all()
