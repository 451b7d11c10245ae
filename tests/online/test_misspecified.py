"""Crowds that break the model: each breach does what it says, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.label_record import LabelRecord
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.misspecified import Misspecification, breach, breached
from crowdopt.online.recorded_crowd import recorded_stream

TASKS, WORKERS = 4000, 60


def plain(seed: int = 0, capacity: int = TASKS):
    skill = np.linspace(0.3, 0.8, WORKERS)[None]
    return simulated_stream(
        AssignmentInstance(skill, np.zeros(TASKS, np.int64), np.full(WORKERS, capacity), 0.1), (seed,)
    )


def right(stream):
    """Whether each worker is right on each task, (workers, tasks)."""
    every = np.arange(TASKS)
    return np.array([stream.crowd.label(j, every) == stream.truth for j in range(WORKERS)])


def gold(stream, count: int = 400):
    found = [stream.crowd.gold(stream.arrival(j, False), np.array([count]))[0][0] for j in range(WORKERS)]
    return np.array(found) / count


def test_a_breach_of_size_zero_is_the_unbroken_crowd():
    """The same stream object, so the same bytes."""
    of = plain()
    assert breached(of, breach("difficulty=0,clique=0,drift=0")) is of
    assert str(Misspecification()) == "" and breach(str(Misspecification(0.25, 0.5))) == Misspecification(0.25, 0.5)


@pytest.mark.parametrize("how", ["difficulty=1e-9", "clique=1e-9", "drift=1e-12"])
def test_a_vanishing_breach_gives_the_same_labels(how):
    """Trials are paired: what changes between a broken crowd and an unbroken one is the breach, not the chance."""
    of = plain()
    broken = breached(of, breach(how))
    np.testing.assert_array_equal(right(broken), right(of))
    np.testing.assert_array_equal(gold(breached(of, breach(how))), gold(of))


def test_hard_tasks_are_a_guess_for_everybody_and_the_mean_stays():
    """With 30 % hard tasks each worker is right as often as before, but errors of different workers go together."""
    of = plain()
    broken = breached(of, Misspecification(difficulty=0.3))
    hard, hits = broken.crowd.hard, right(broken)
    assert abs(hard.mean() - 0.3) < 0.03
    assert np.abs(hits[:, hard].mean(axis=1) - 0.5).max() < 4 * 0.5 / np.sqrt(hard.sum())
    assert np.abs(hits.mean(axis=1) - of.instance.accuracy[0]).max() < 4 * 0.5 / np.sqrt(TASKS)
    np.testing.assert_allclose(broken.instance.accuracy, of.instance.accuracy)
    easy = 0.5 + (of.instance.accuracy[0, 40:] - 0.5) / 0.7  # of the twenty best
    alone = (0.3 * 0.25 + 0.7 * (easy * (1 - easy)).mean()) / 20
    shared = 0.3 * 0.7 * (easy.mean() - 0.5) ** 2
    assert hits[40:].mean(axis=0).var() == pytest.approx(alone + shared, rel=0.1)
    assert np.abs(gold(broken) - of.instance.accuracy[0]).max() < 0.1


def test_where_certainty_limits_what_easy_tasks_can_give_back_the_instance_says_so():
    """Nobody is right more often than always: the mean accuracy falls, and the stream's own accuracies with it."""
    sure = AssignmentInstance([[0.95]], np.zeros(TASKS, np.int64), [TASKS], 0.1)
    broken = breached(simulated_stream(sure, (0,)), Misspecification(difficulty=0.4))
    assert broken.instance.accuracy[0, 0] == pytest.approx(0.6 * 1.0 + 0.4 * 0.5)
    assert abs((broken.crowd.label(0, np.arange(TASKS)) == broken.truth).mean() - 0.8) < 0.03


def test_a_clique_agrees_with_itself_and_is_right_half_of_the_time():
    """Agreement speaks for its members, gold against them."""
    broken = breached(plain(), Misspecification(clique=0.4))
    member, hits = broken.crowd.member, right(broken)
    assert 10 < member.sum() < 40
    assert (hits[member] == hits[member][0]).all()
    assert abs(hits[member][0].mean() - 0.5) < 0.04
    np.testing.assert_array_equal(hits[~member], right(plain())[~member])
    assert np.abs(gold(broken)[member] - 0.5).max() < 0.12
    assert (broken.instance.accuracy[0, member] == 0.5).all()


def test_skill_drifts_down_to_a_guess_and_not_below():
    """From p at the first label to p - drift at the last one, in the order in which labels are asked."""
    of = plain(capacity=2000)
    broken = breached(of, Misspecification(drift=0.2))
    batches = [
        np.array([np.mean(broken.crowd.label(j, part) == of.truth[part]) for part in parts])
        for j, parts in ((j, np.split(np.arange(2000), 4)) for j in range(WORKERS))
    ]
    told = of.instance.accuracy[0]
    expected = np.array([[max(p - 0.2 * (k + 0.5) / 4, min(p, 0.5)) for k in range(4)] for p in told])
    assert np.abs(np.array(batches) - expected).max() < 0.1
    assert abs((np.array(batches) - expected).mean()) < 0.01
    late = np.array([broken.crowd.gold(of.arrival(j, False), np.array([400]))[0][0] / 400 for j in range(WORKERS)])
    assert np.abs(late - np.maximum(told - 0.2, np.minimum(told, 0.5))).max() < 0.1  # gold is a label like any other


def test_what_makes_no_sense_is_refused():
    """A typing error, a size that is none, recorded labels."""
    for text, said in (("difficult=.3", "unknown breach"), ("clique", "needs a size"), ("drift=1.5", "must lie in")):
        with pytest.raises(InputError, match=said):
            breach(text)
    instance = AssignmentInstance([[0.7]], [0, 0], [2], 0.1)
    one = np.zeros(1, np.int64)
    recorded = recorded_stream(instance, LabelRecord(one, one, one, np.array([0, 1])), (0,), np.zeros(2, bool))
    with pytest.raises(InputError, match="their own way"):
        breached(recorded, Misspecification(clique=0.1))
