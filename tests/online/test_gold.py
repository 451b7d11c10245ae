"""Gold one by one is the same gold as all at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt.io.campaign.label_record import LabelRecord
from crowdopt.online.recorded_crowd import hold_out, recorded_stream
from tests.chance import BASE, binomial
from tests.online.streams import crowd, stream


def recorded():
    """A table in which every worker labelled everything, a third of it held out."""
    rng = np.random.default_rng(1)
    whole = replace(crowd(tasks=90), forbidden=None)
    truth = rng.integers(0, 2, 90)
    pairs = np.argwhere(np.ones((90, whole.n_workers), bool))
    instance, held = hold_out(whole, truth, 0.3, seed=4)
    label = np.where(rng.random(len(pairs)) < 0.7, truth[pairs[:, 0]], 1 - truth[pairs[:, 0]])
    return recorded_stream(instance, LabelRecord(*pairs.T, label, truth), (2,), held, preliminary=3)


def asked(of, number, preliminary, portions):
    """Tallies of a worker who is asked in portions, each after the last."""
    arrival, done, right = of.arrival(number, False, preliminary), np.zeros(2, np.int64), np.zeros(2, np.int64)
    for counts in portions:
        good, there = of.crowd.gold(replace(arrival, gold_done=done), np.array(counts))
        done, right = done + there, right + good
    return right.tolist(), done.tolist()


@pytest.mark.parametrize("make", [stream, recorded])
@pytest.mark.parametrize("preliminary", [False, True])
def test_portions_do_not_matter(make, preliminary):
    """The k-th gold task of a worker and type has one outcome: 1 and 1 is 2, whatever the other type is asked."""
    of, differ = make(), 0
    for number in range(3):
        whole = asked(of, number, preliminary, [(9, 5)])
        for portions in ([(1, 0)] * 9 + [(0, 1)] * 5, [(4, 5), (5, 0)], [(0, 2), (8, 2), (1, 1)]):
            assert asked(of, number, preliminary, portions) == whole
        ones = [asked(of, number, preliminary, [(k, 0)])[0][0] for k in range(10)]
        assert set(np.diff(ones)) <= {0, 1}
        differ += len(set(np.diff(ones))) - 1
    assert differ, "some answers are right and some wrong, else nothing was tested"


def test_a_table_has_what_it_has():
    """Asked on and on, a worker comes to the end of their held-out labels, and all of them have been counted."""
    of = recorded()
    right, done = asked(of, 0, False, [(7, 7)] * 9)
    assert done == of.crowd.gold_asked[:, 0].tolist() and right == of.crowd.gold_right[:, 0].tolist()


@pytest.mark.chance
def test_gold_is_right_as_often_as_the_worker_is():
    """Tallies are binomial by the workers' skills, each by itself and all together."""
    of = stream(BASE, workers=200, tasks=300)
    skill = of.instance.accuracy
    right = np.array([asked(of, j, False, [(70, 70)])[0] for j in range(200)]).T
    assert binomial(right, 70, skill)
    assert binomial(right.sum(), 70 * skill.size, skill.mean())
