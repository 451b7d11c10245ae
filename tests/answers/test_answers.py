"""Votes with known weights against Bayes multiplied out, votes that go on, methods believed by half, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.answers import (
    FROM_LABELS,
    Answers,
    belief_propagation,
    kos,
    majority,
    one_coin,
    wmv_confusion,
    wmv_linear,
    wmv_log,
)
from crowdopt.api.aggregate import vote
from crowdopt.crowd.law import Coins, Law
from tests.answers.tables import coins, drawn, likelihood, shares, table

SKILLS = np.array([0.4, 0.9, 0.3, 0.75, 0.6, 0.8, 0.5])
TABLES = np.random.default_rng(0).dirichlet(np.ones(3), (7, 3)) * 0.9 + 0.1 / 3
VOTES = {
    "majority": majority,
    "wmv-linear": lambda labels: wmv_linear(labels, SKILLS),
    "wmv-log": lambda labels: wmv_log(labels, SKILLS),
    "wmv-confusion": lambda labels: wmv_confusion(labels, TABLES),
    "by half": lambda labels: replace(wmv_log(labels, SKILLS), tally=majority(labels).score),
}


@pytest.mark.parametrize("name", VOTES)
def test_votes_are_bayes_and_stay_open(name):
    """Posteriors are the likelihood of all labels, whether they were there or came later; no label is no answer."""
    labels, _ = drawn(2, tasks=20)
    found, counts = VOTES[name](labels), np.zeros((20, 3))
    np.add.at(counts, (labels.task, labels.label), 1.0)
    wanted = shares(likelihood(labels, TABLES if name == "wmv-confusion" else coins(SKILLS, 3)))
    wanted = shares(counts) if name == "majority" else wanted
    wanted = (wanted + shares(counts + 1 / 3)) / 2 if name == "by half" else wanted
    assert found.posterior == pytest.approx(wanted, abs=1e-12)
    assert found.confidence == pytest.approx(wanted[np.arange(20), np.maximum(found.answer, 0)])
    early, columns = np.arange(labels.task.size) % 3 > 0, ("task", "worker", "label")
    first = VOTES[name](replace(labels, **{column: getattr(labels, column)[early] for column in columns}))
    later = first.with_labels(*(getattr(labels, column)[~early] for column in columns))
    assert later.score == pytest.approx(found.score) and later.posterior == pytest.approx(found.posterior)
    assert later.answer.tolist() == found.answer.tolist() and later.count.tolist() == labels.per_task.tolist()


def test_hard_tasks_are_a_part_of_the_law():
    """With K classes a posterior is Bayes' over every class, easy or hard."""
    labels, share, scale = table([0, 0], [0, 1], [2, 3], 1, 2, 4), np.array([0.8, 0.2]), (1.2, 0.3)
    edge = np.array([0.3, 0.45])
    law, logs = (
        Law(share, Coins(1 / 4 + edge[None, None], 4, scale)),
        np.log(share)[:, None, None] + np.zeros((2, 1, 4)),
    )
    empty = Answers("hard", np.zeros((1, 4)), np.ones(2), np.zeros(1, int), law, logs)
    wanted = sum(s * likelihood(labels, coins(1 / 4 + x * edge, 4)) for s, x in zip(share, scale, strict=True))
    assert empty.with_labels(labels.task, labels.worker, labels.label).posterior == pytest.approx(shares(wanted))


def test_ties_go_to_the_first_class_and_no_label_is_no_answer():
    """One for each class is a tie, .3 + .3 against .6 too, though float64 disagrees; task 3 has no label."""
    labels = table([0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 2, 2], [1, 0, 1, 1, 0, 1], 4, 3)
    assert wmv_linear(labels, [0.65, 0.65, 0.8]).answer.tolist() == [0, 0, 1, -1]
    for method in FROM_LABELS.values():
        assert method(labels).answer[3] == -1 and method(labels).confidence[3] == 0.5
        assert method(table([0, 1], [0, 0], [0, 0], 2, 1, 1)).confidence.tolist() == [1, 1]


@pytest.mark.parametrize("method", ["auto", "majority", "one-coin", "dawid-skene", "belief-propagation"])
def test_what_is_known_stays_known(method):
    """Whatever is said of it; a task without labels has no answer all the same."""
    labels, truth = drawn(6, 120, 9)
    known = np.where((np.arange(120) < 40) & (labels.per_task > 0), truth, -1)
    found = vote(labels, method, truth=known)
    assert (found.confidence[known >= 0] > 1 - 1e-9).all() and (found.answer == truth)[known >= 0].all()
    assert found.answer[0] == -1 and found.confidence[0] == 1 / 3


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda labels: wmv_linear(labels, np.where(np.arange(7) == 3, np.nan, SKILLS)), "worker w3 has no gold"),
        (lambda labels: wmv_log(labels, SKILLS, truncation=0.5), "truncation must lie strictly"),
        (lambda labels: wmv_confusion(labels, TABLES * 2), "add up to 1"),
        (lambda labels: majority(labels).with_labels([0], [7], [0]), "worker 7 is unknown"),
        (lambda labels: majority(labels).with_labels([0, 1], [0], [0]), "there are 2 tasks, 1 workers"),
        (lambda labels: one_coin(labels, prior="flat"), "uniform, estimated"),
        (lambda labels: one_coin(labels, smoothing=-1), "smoothing must be"),
        (lambda labels: one_coin(labels, truth=np.full(12, 3)), "one class per task"),
        (lambda labels: belief_propagation(labels, iterations=0), "at least one iteration"),
        (lambda labels: belief_propagation(labels, skills=[0.5, -1.0]), "none below 0"),
        (lambda labels: kos(labels, start=np.ones(3)), "one finite number per label"),
    ],
)
def test_what_cannot_be_used_gets_its_sentence(call, sentence):
    """No silent default takes the place of what was asked."""
    with pytest.raises(InputError, match=sentence):
        call(drawn(5)[0])
