"""A limit on seconds is one on the method over patterns too: long votes of many different skills are not counted."""

from __future__ import annotations

import time

import numpy as np
import pytest

from crowdopt import AssignmentInstance, assign
from crowdopt.assign.bisection import first_that
from crowdopt.assign.patterns.columns import EACH, spread


@pytest.mark.parametrize("count", range(12))
def test_the_first_that_does_is_found(count):
    """Whichever it is, asked within what there is."""
    for first in range(count + 1):
        asked: list[int] = []

        def good(k: int, first: int = first, asked: list[int] = asked) -> bool:
            asked.append(k)
            return k >= first

        assert first_that(good, count) == first
        assert all(0 <= k < count for k in asked)


def test_many_skills_and_prices_take_no_longer_than_they_may():
    """Forty pools of 300 workers: what is tried first was all the worst labels, some 30 seconds of one."""
    rng = np.random.default_rng(0)
    instance = AssignmentInstance(
        rng.uniform(0.55, 0.95, (3, 300)),
        rng.integers(0, 3, 1000),
        np.full(300, 100),
        0.2,
        cost=rng.integers(1, 6, 300).astype(float),
        rule="mean-error",
    )
    assign(instance, "patterns:pools=8", time_limit=1.0)  # compiles
    begin = time.monotonic()
    plan = assign(instance, "patterns:pools=8", time_limit=1.0)
    assert plan.found and time.monotonic() - begin < 5.0


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 7), (3, 40), (0, 300), (50, 300), (12, 10_000)])
def test_patterns_to_begin_with_are_few_however_many_labels_there_are(first, last):
    """Both ends are there, every number up to some is, and long votes are a few dozen: each costs milliseconds."""
    some = spread(first, last)
    assert some[0] == first and some[-1] == last and (np.diff(some) > 0).all() and some.size <= 3 * EACH
    assert np.isin(np.arange(first, min(last, EACH)), some).all() and spread(last + 1, last).size == 0
