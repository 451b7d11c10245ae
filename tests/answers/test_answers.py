"""Votes with known weights against Bayes multiplied out, votes that go on, methods believed by half, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.answers import FROM_LABELS, Answers, majority
from crowdopt.crowd.law import Coins, Law
from crowdopt.verbs.aggregate import vote
from tests.answers.tables import coins, drawn, likelihood, shares, table

SKILLS = np.array([0.4, 0.9, 0.3, 0.75, 0.6, 0.8, 0.5])
TABLES = np.random.default_rng(0).dirichlet(np.ones(3), (7, 3)) * 0.9 + 0.1 / 3
KNOWN = {"wmv-linear": {"accuracy": SKILLS}, "wmv-log": {"accuracy": SKILLS}, "wmv-confusion": {"confusion": TABLES}}


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", ["majority", *KNOWN])
def test_votes_are_bayes_and_stay_open(name, half):
    """Posteriors are the likelihood of all labels, whether these came at once or later; a task without has no answer.

    By half it is the mean of the likelihood's square root, normalised, and of the labels' shares.
    """
    labels, _ = drawn(2, tasks=20)
    counts, early, columns = np.zeros((20, 3)), np.arange(labels.task.size) % 3 > 0, ("task", "worker", "label")
    np.add.at(counts, (labels.task, labels.label), 1.0)
    wanted = shares(likelihood(labels, TABLES if name == "wmv-confusion" else coins(SKILLS, 3)))
    wanted = shares(counts) if name == "majority" else wanted
    some = replace(labels, **{column: getattr(labels, column)[early] for column in columns})
    found, first = (vote(table, name, difficulty=False, **KNOWN.get(name, {})) for table in (labels, some))
    if half:
        found = replace(found, tally=majority(labels).score, power=0.5)
        first = replace(first, tally=majority(some).score, power=0.5)
        wanted = ((wanted if name == "majority" else shares(wanted**0.5)) + shares(counts + 1 / 3)) / 2
    assert found.posterior == pytest.approx(wanted, abs=1e-12) and found.answer[0] == -1
    assert found.confidence == pytest.approx(wanted[np.arange(20), np.maximum(found.answer, 0)])
    later = first.with_labels(*(getattr(labels, column)[~early] for column in columns))
    assert later.score == pytest.approx(found.score) and later.posterior == pytest.approx(found.posterior)
    assert later.answer.tolist() == found.answer.tolist() and later.count.tolist() == labels.per_task.tolist()
    with pytest.raises(InputError, match="worker 7 is unknown"):
        found.with_labels([0], [7], [0])


def test_hard_tasks_are_a_part_of_the_law():
    """With K classes a posterior is Bayes' over every class, easy or hard."""
    labels, share, scale = table([0, 0], [0, 1], [2, 3], 1, 2, 4), np.array([0.8, 0.2]), (1.2, 0.3)
    edge, logs = np.array([0.3, 0.45]), np.log(share)[:, None, None] + np.zeros((2, 1, 4))
    law = Law(share, Coins(1 / 4 + edge[None, None], 4, scale))
    empty = Answers("hard", np.zeros((1, 4)), np.ones(2), np.zeros(1, int), law, logs)
    wanted = sum(s * likelihood(labels, coins(1 / 4 + x * edge, 4)) for s, x in zip(share, scale, strict=True))
    assert empty.with_labels(labels.task, labels.worker, labels.label).posterior == pytest.approx(shares(wanted))


def test_ties_go_to_the_first_class_and_no_label_is_no_answer():
    """One for each class is a tie, .3 + .3 against .6 too, though float64 disagrees; task 3 has no label."""
    labels = table([0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 2, 2], [1, 0, 1, 1, 0, 1], 4, 3)
    assert vote(labels, "wmv-linear", accuracy=[0.65, 0.65, 0.8]).answer.tolist() == [0, 0, 1, -1]
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
    ("method", "settings", "sentence"),
    [
        ("wmv-linear", {"accuracy": np.where(np.arange(7) == 3, np.nan, SKILLS)}, "worker w3 has no gold"),
        ("wmv-confusion", {"confusion": TABLES * 2}, "add up to 1"),
        ("one-coin", {"prior": "flat"}, "uniform, estimated"),
        ("dawid-skene", {"truth": np.full(12, 3)}, "one class per task"),
        ("belief-propagation", {"skills": [0.5, -1.0]}, "none below 0"),
        ("kos", {"start": np.ones(3)}, "one finite number per label"),
    ],
)
def test_what_cannot_be_used_gets_its_sentence(method, settings, sentence):
    """No silent default takes the place of what was asked."""
    with pytest.raises(InputError, match=sentence):
        vote(drawn(5)[0], method, **settings)
