"""Crowds that break the model: each breach does what it says, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

from crowdopt import AssignmentInstance
from crowdopt.crowd.law import Difficulty
from crowdopt.errors import InputError
from crowdopt.io.campaign import LabelRecord
from crowdopt.online.crowds import Misspecification, breach, breached, recorded_stream, simulated_stream
from tests.chance import binomial, seeds

TASKS, WORKERS, GOLD = 4000, 60, 400


def plain(capacity: int = TASKS):
    skill = np.linspace(0.3, 0.8, WORKERS)[None]
    return simulated_stream(
        AssignmentInstance(skill, np.zeros(TASKS, np.int64), np.full(WORKERS, capacity), 0.1), (*seeds(1),)
    )


def right(stream):
    """Whether each worker is right on each task, (workers, tasks)."""
    every = np.arange(TASKS)
    return np.array([stream.crowd.label(j, every) == stream.truth for j in range(WORKERS)])


def gold(stream):
    """How many gold tasks of GOLD each worker has right."""
    return np.array([stream.crowd.gold(stream.arrival(j, False), np.array([GOLD]))[0][0] for j in range(WORKERS)])


def most_are_wrong(skills):
    """Chance that no more than half of workers of these skills are right on a task, label by label."""
    law = reduce(np.convolve, ([1 - p, p] for p in skills))
    return law[: len(skills) // 2 + 1].sum()


@pytest.mark.parametrize("how", ["difficulty=1e-9", "clique=1e-9", "drift=1e-12"])
def test_a_vanishing_breach_gives_the_same_labels(how):
    """Trials are paired: what changes between a broken crowd and an unbroken one is the breach, not the chance."""
    of = plain()
    assert breached(of, breach("difficulty=0,clique=0,drift=0")) is of
    broken = breached(of, breach(how))
    np.testing.assert_array_equal(right(broken), right(of))
    np.testing.assert_array_equal(gold(breached(of, breach(how))), gold(of))


@pytest.mark.chance
def test_on_a_campaigns_hard_tasks_what_it_says_is_left():
    """So many tasks are hard; a worker is right there by what is left, elsewhere by their skill; gold is mixed."""
    of, left = plain(), Difficulty(0.3, 0.5)
    campaign = replace(of.instance, rule="exact-error", difficulty=left, epsilon=np.full(TASKS, 0.25))
    stream = simulated_stream(campaign, (*seeds(1),))
    hard, hits, skill = stream.crowd.hard, right(stream), stream.instance.accuracy[0]
    there = 0.5 + left.left * (skill - 0.5)
    assert binomial(hard.sum(), TASKS, left.share)
    assert binomial(hits[:, hard].sum(axis=1), hard.sum(), there)
    assert binomial(hits[:, ~hard].sum(axis=1), (~hard).sum(), skill)
    assert binomial(gold(stream), GOLD, 0.7 * skill + 0.3 * there)
    with pytest.raises(InputError, match="take difficulty out of the breach"):
        breached(stream, breach("difficulty=.2"))
    drifting = breached(stream, breach("drift=1e-12"))
    np.testing.assert_array_equal(right(drifting), hits)


@pytest.mark.chance
def test_hard_tasks_are_a_guess_for_everybody_and_the_mean_stays():
    """With 30 % hard tasks each worker is right as often as before, but errors of different workers go together.

    Where certainty limits what easy tasks can give back the instance says so: nobody is right more often than always.

    Tasks are independent, so every count over tasks is binomial: hard ones, right labels of a worker on them and on
    all, gold, and tasks on which half of the twenty best err, which takes a shared difficulty to happen that often.
    """
    of = plain()
    broken = breached(of, Misspecification(difficulty=0.3))
    hard, hits, skill = broken.crowd.hard, right(broken), of.instance.accuracy[0]
    assert binomial(hard.sum(), TASKS, 0.3)
    assert binomial(hits[:, hard].sum(axis=1), hard.sum(), 0.5)
    assert binomial(hits.sum(axis=1), TASKS, skill)
    np.testing.assert_allclose(broken.instance.accuracy, of.instance.accuracy)
    best = np.argsort(skill)[-20:]
    together = 0.3 * most_are_wrong([0.5] * 20) + 0.7 * most_are_wrong(0.5 + (skill[best] - 0.5) / 0.7)
    seen = (hits[best].sum(axis=0) <= 10).sum()
    assert binomial(seen, TASKS, together) and not binomial(seen, TASKS, most_are_wrong(skill[best]))
    assert binomial(gold(broken), GOLD, skill)
    sure = breached(
        simulated_stream(replace(of.instance, accuracy=[[0.95] * WORKERS]), (*seeds(1),)), breach("difficulty=.4")
    )
    np.testing.assert_allclose(sure.instance.accuracy, 0.6 * 1.0 + 0.4 * 0.5)
    assert binomial((sure.crowd.label(0, np.arange(TASKS)) == sure.truth).sum(), TASKS, 0.8)


@pytest.mark.chance
def test_a_clique_agrees_with_itself_and_is_right_half_of_the_time():
    """Agreement speaks for its members, gold against them. Members, their right labels and their gold are binomial."""
    broken = breached(plain(), Misspecification(clique=0.4))
    member, hits = broken.crowd.member, right(broken)
    assert binomial(member.sum(), WORKERS, 0.4)
    assert (hits[member] == hits[member][0]).all()
    assert binomial(hits[member][0].sum(), TASKS, 0.5)
    np.testing.assert_array_equal(hits[~member], right(plain())[~member])
    assert binomial(gold(broken)[member], GOLD, 0.5)
    assert (broken.instance.accuracy[0, member] == 0.5).all()


@pytest.mark.chance
def test_skill_drifts_down_to_a_guess_and_not_below():
    """From p at the first label to p - drift at the last one, in the order in which labels are asked.

    Right labels of a batch are sums of independent trials, no wider than the binomial law of their mean chance.
    """
    of = plain(capacity=2000)
    broken, told = breached(of, Misspecification(drift=0.2)), of.instance.accuracy[0]
    parts = np.split(np.arange(2000), 4)
    batches = [[np.sum(broken.crowd.label(j, part) == of.truth[part]) for part in parts] for j in range(WORKERS)]
    chance = np.maximum(told[:, None] - 0.2 * np.arange(2000) / 1999, np.minimum(told, 0.5)[:, None])
    assert binomial(batches, 500, chance.reshape(WORKERS, 4, 500).mean(axis=2))
    assert binomial(np.sum(batches), chance.size, chance.mean())
    assert not binomial(np.sum(batches), chance.size, np.maximum(told - 0.2, np.minimum(told, 0.5)).mean())
    assert binomial(gold(broken), GOLD, np.maximum(told - 0.2, np.minimum(told, 0.5)))  # gold is a label like any other


def test_what_makes_no_sense_is_refused():
    """A typing error, a size that is none, recorded labels."""
    assert str(Misspecification()) == "" and breach(str(Misspecification(0.25, 0.5))) == Misspecification(0.25, 0.5)
    for text, said in (("difficult=.3", "of a breach"), ("clique", "needs a number"), ("drift=1.5", "must lie in")):
        with pytest.raises(InputError, match=said):
            breach(text)
    instance = AssignmentInstance([[0.7]], [0, 0], [2], 0.1)
    one = np.zeros(1, np.int64)
    recorded = recorded_stream(instance, LabelRecord(one, one, one, np.array([0, 1])), (0,), np.zeros(2, bool))
    with pytest.raises(InputError, match="their own way"):
        breached(recorded, Misspecification(clique=0.1))
