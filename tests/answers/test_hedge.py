"""Half of a chance is the method's, half the share of the labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdopt.answers import dawid_skene
from crowdopt.answers.hedge import Hedge
from crowdopt.api.aggregate import vote
from tests.answers.tables import drawn
from tests.chance import BASE

LABELS, TRUTH = drawn(BASE, 120, 9, skill=[0.8] * 9)


def test_no_answer_costs_more_than_a_coin_above_the_better_half():
    """A mean of two chances is at least half of each, so its log loss is at most ln 2 above either's."""
    answers = dawid_skene(LABELS)
    hedge = Hedge.of(LABELS)
    both = replace(answers, hedge=hedge)
    shares = 2 * both.posterior - answers.posterior
    np.testing.assert_allclose(both.posterior.sum(axis=1), 1)
    np.testing.assert_allclose(shares * (hedge.tally.sum(axis=1, keepdims=True) + 1), hedge.tally + 1 / 3)
    place = np.arange(TRUTH.size), TRUTH
    loss, by_method, by_shares = (-np.log(table[place]) for table in (both.posterior, answers.posterior, shares))
    assert (loss <= np.minimum(by_method, by_shares) + np.log(2) + 1e-9).all()
    some = np.bincount(LABELS.task, minlength=120) > 0
    assert (both.answer == both.posterior.argmax(axis=1))[some].all()


def test_labels_that_come_later_count_as_if_they_had_been_there():
    """Tallies alike, and the method's own votes too."""
    some = np.arange(LABELS.task.size) % 4 > 0
    columns = {name: getattr(LABELS, name) for name in ("task", "worker", "label")}
    before = vote(replace(LABELS, **{name: column[some] for name, column in columns.items()}))
    assert before.hedge is not None
    after = before.with_labels(**{name: column[~some] for name, column in columns.items()})
    assert after.hedge.tally.tolist() == Hedge.of(LABELS).tally.tolist()
    np.testing.assert_allclose(after.posterior, replace(after, hedge=Hedge.of(LABELS)).posterior)


def test_what_is_known_stays_known_and_what_nobody_labelled_is_open():
    """A known answer is no matter of shares; a task without labels has no answer."""
    known = np.where(np.arange(TRUTH.size) < 40, TRUTH, -1)
    known[0] = -1
    answers = vote(LABELS, truth=known)
    there = np.bincount(LABELS.task, minlength=120)[1:40] > 0
    assert (answers.confidence[1:40] > 1 - 1e-9)[there].all() and (answers.answer[1:40] == TRUTH[1:40])[there].all()
    assert answers.answer[0] == -1 and answers.confidence[0] == 1 / 3
    assert answers.confidence[40:].max() < 1
