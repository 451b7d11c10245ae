"""No policy sees what has not happened yet, or what it is not told."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.online.policies import named, policies
from tests.online.streams import EVERY, Noisy, scrambled, start, stream, without_skills


def decisions(text, of, arrivals):
    """All that was asked up to an arrival, and of whom."""
    return list(start(text, of).advance(arrivals).ledger.arrays().values())


@pytest.mark.parametrize("text", EVERY)
def test_equal_pasts_give_equal_decisions(text):
    """Two streams that agree up to arrival t agree in every decision up to t, whatever is later or never told."""
    of = stream()
    for until in (15, 1, 7)[:1]:
        pairs = zip(decisions(text, of, until), decisions(text, scrambled(of, until), until), strict=True)
        for one, other in pairs:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("text", [text for text in EVERY if not named(text).shows_skill])
def test_true_skills_and_truth_are_never_looked_at(text):
    """A policy that asks gold learns skills from labels alone: overwriting the skills themselves changes nothing."""
    of = stream()
    for one, other in zip(decisions(text, of, 20), decisions(text, without_skills(of), 20), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_scrambled_stream_is_another_one():
    """Otherwise the tests above could not fail: with the whole past scrambled, decisions differ."""
    of = stream()
    assert not np.array_equal(decisions("re-solve", of, 20)[0], decisions("re-solve", scrambled(of, 0), 20)[0])
    noisy = Noisy(of.crowd, 0)
    assert not np.array_equal(noisy.label(0, np.arange(24)), of.crowd.label(0, np.arange(24)))


def test_every_registered_policy_is_tested():
    """A policy that is added is tested on arrival."""
    assert {text.partition(":")[0] for text in EVERY} == set(policies())


@pytest.mark.parametrize("text", EVERY)
def test_a_snapshot_at_any_arrival_gives_the_same_bytes(text, tmp_path):
    """Stop at any arrival, write the arrays to a file, start a fresh policy from them: all the rest is the same."""
    of = stream()
    whole = start(text, of).finish()
    for arrivals in (6, 20, 0, 1, 13)[:2]:
        run, fresh = start(text, of).advance(arrivals), start(text, of).policy
        np.savez(tmp_path / "state.npz", **run.policy.snapshot())
        with np.load(tmp_path / "state.npz", allow_pickle=False) as stored:
            fresh.restore(dict(stored))
        run.policy = fresh
        resumed = run.finish()
        for name in ("task", "worker", "label", "skills", "prices"):
            one, other = getattr(whole, name), getattr(resumed, name)
            assert (one is None and other is None) or one.tobytes() == other.tobytes(), (name, arrivals)
        assert (whole.labels, whole.cost, whole.notes) == (resumed.labels, resumed.cost, resumed.notes)
