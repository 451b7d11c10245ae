"""Half of a chance is the method's, half the share of the labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.answers import dawid_skene
from crowdopt.answers.hedge import Hedge
from crowdopt.api.aggregate import vote
from crowdopt.crowd.labels import Labels
from tests.chance import rng


def drawn(tasks: int = 120, workers: int = 9, classes: int = 3) -> tuple[Labels, np.ndarray]:
    """Each worker labels six of ten tasks, right in seven of ten."""
    chance = rng()
    truth = chance.integers(0, classes, tasks)
    task, worker = np.nonzero(chance.random((tasks, workers)) < 0.6)
    right = chance.random(task.size) < 0.7
    label = np.where(right, truth[task], chance.integers(0, classes, task.size))
    names = (tuple(map(str, range(size))) for size in (tasks, workers, classes))
    return Labels(task, worker, label, *names), truth


def test_no_answer_costs_more_than_a_coin_above_the_better_half():
    """A mean of two chances is at least half of each, so its log loss is at most ln 2 above either's."""
    labels, truth = drawn()
    answers = dawid_skene(labels)
    hedge = Hedge.of(labels)
    both = replace(answers, hedge=hedge)
    shares = 2 * both.posterior - answers.posterior
    np.testing.assert_allclose(both.posterior.sum(axis=1), 1)
    np.testing.assert_allclose(shares * (hedge.tally.sum(axis=1, keepdims=True) + 1), hedge.tally + 1 / 3)
    place = np.arange(truth.size), truth
    loss, by_method, by_shares = (-np.log(table[place]) for table in (both.posterior, answers.posterior, shares))
    assert (loss <= np.minimum(by_method, by_shares) + np.log(2) + 1e-9).all()
    assert (both.answer == both.posterior.argmax(axis=1)).all()


def test_labels_that_come_later_count_as_if_they_had_been_there():
    """Tallies alike, and the method's own votes too."""
    labels, _ = drawn()
    some = np.arange(labels.task.size) % 4 > 0
    first = replace(labels, **{name: getattr(labels, name)[some] for name in ("task", "worker", "label")})
    rest = {name: getattr(labels, name)[~some] for name in ("task", "worker", "label")}
    before = vote(first)
    assert before.hedge is not None
    after = before.with_labels(**rest)
    assert after.hedge.tally.tolist() == Hedge.of(labels).tally.tolist()
    np.testing.assert_allclose(after.posterior, replace(after, hedge=Hedge.of(labels)).posterior)


def test_what_is_known_stays_known_and_what_nobody_labelled_is_open():
    """A known answer is no matter of shares; a task without labels has no answer."""
    labels, truth = drawn()
    kept = labels.task != 0
    labels = replace(labels, **{name: getattr(labels, name)[kept] for name in ("task", "worker", "label")})
    known = np.where(np.arange(truth.size) < 40, truth, -1)
    known[0] = -1
    answers = vote(labels, truth=known)
    assert (answers.confidence[1:40] > 1 - 1e-9).all() and (answers.answer[1:40] == truth[1:40]).all()
    assert answers.answer[0] == -1 and answers.confidence[0] == 1 / 3
    assert answers.confidence[40:].max() < 1
