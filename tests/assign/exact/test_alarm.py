"""Long loops end when the time is up, and leave labels that are still a deal."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import recipe
from crowdopt.assign.exact.alarm import alarm
from crowdopt.assign.exact.split import Split
from crowdopt.core.clock import Clock
from crowdopt.crowd.classes import classes_of

ENDLESS = 10**15  # tasks or pairs that may be looked at: years


def short_of_labels() -> Split:
    """Half of the labels that the tasks need, and no worker has time for more: no exchange covers every task."""
    classes = classes_of(recipe("R10:60x40"))
    amounts = (classes.tasks_in[:, None] * np.ones(classes.evidence.shape)).astype(np.int64) // 4
    split = Split.of_amounts(classes, amounts, np.inf, 0)
    split.dealt.left[:] = 0
    return split


@pytest.mark.parametrize("loop", ["trade", "finish"])
def test_a_loop_that_would_run_for_years_ends_with_the_clock(loop):
    """A thread beside the compiled loop has its turn: if the loop held Python's lock this test would not end."""
    split = short_of_labels()
    labels = int(split.dealt.held.sum())
    with alarm(Clock(0.2)) as rung:
        getattr(split.heeding(rung), loop)(ENDLESS)
        assert rung[0]
    assert not split.covered and split.dealt.held.sum() == labels


def test_once_it_has_rung_nothing_moves():
    """Levelling, finishing, exchanging and buying all look at the flag before they begin."""
    split, other = short_of_labels().heeding(np.ones(1, np.bool_)), short_of_labels()
    before = split.dealt.hands.copy()
    for one in (split, other):
        one.level()
        one.finish(1_000)
        one.trade(100_000)
    assert (split.dealt.hands == before).all() and not (other.dealt.hands == before).all()
