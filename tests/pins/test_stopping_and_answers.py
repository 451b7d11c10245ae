"""Stopping rules, lower bounds and aggregation against values by hand."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest

from crowdopt.answers import dawid_skene, kos, majority, one_coin, wmv_linear, wmv_log
from crowdopt.answers.answers import decide
from crowdopt.crowd.labels import Labels
from crowdopt.online.limits import best_stopping


def test_optimal_stopping_by_hand():
    """Skills 1 and 1/2, even odds, gains 1 and -1, two labels. After a right label the chance of 1 is 2/3: the second
    is worth 1/3 more, after a wrong one nothing. Worth: 0 + (3/4)(1/3) = 1/4; labels: one for each, and a second for
    those who begin right: (1/2)(2) and (1/2)(1 + 1/2).
    """
    found = best_stopping(np.array([1.0, 0.5]), np.array([0.5, 0.5]), np.array([1.0, -1.0]), 2)
    assert found.worth == pytest.approx(float(Fraction(1, 4)), rel=1e-12)
    np.testing.assert_allclose(found.labels, [1.0, 0.75], rtol=1e-12)


def test_a_known_worker_is_worth_every_label_by_hand():
    """Skill .7 for sure, gain 1, three labels: worth 3, whether the first are right or wrong."""
    found = best_stopping(np.array([0.7]), np.ones(1), np.array([1.0]), 3)
    assert found.worth == pytest.approx(3.0, rel=1e-12) and found.labels[0] == pytest.approx(3.0, rel=1e-12)


def test_told_after_one_label_by_hand():
    """The same, but the skill is told after one label: (1/2)(2 * 1) - 1/2 = 1/2, more than 1/4, never less."""
    told = best_stopping(np.array([1.0, 0.5]), np.array([0.5, 0.5]), np.array([1.0, -1.0]), 2, longest=1)
    assert told.worth == pytest.approx(0.5, rel=1e-12)
    np.testing.assert_allclose(told.labels, [1.0, 0.5], rtol=1e-12)


def test_a_worker_worth_nothing_is_never_asked():
    found = best_stopping(np.array([0.7]), np.ones(1), np.array([-0.1]), 5)
    assert found.worth == 0.0 and found.labels.tolist() == [0.0]


def table(rows: list[list[int]], classes: int = 2) -> Labels:
    """One row per task, one column per worker, -1 where no worker was asked."""
    cells = [(i, j, label) for i, row in enumerate(rows) for j, label in enumerate(row) if label >= 0]
    names = tuple("abcdefgh"[:classes])
    task, worker, label = (np.array(column) for column in zip(*cells, strict=True))
    return Labels(task, worker, label, tuple(map(str, range(len(rows)))), tuple(map(str, range(len(rows[0])))), names)


def test_votes_by_hand():
    """Weights 2w - 1 = (.8, .2, .2) against ln-odds; the first outvotes the others; ties go to the first class."""
    labels, w = table([[1, 0, 0], [0, 1, 1]]), [0.9, 0.6, 0.6]
    assert majority(labels).answer.tolist() == [0, 1]
    linear, logs = wmv_linear(labels, w), wmv_log(labels, w)
    np.testing.assert_allclose(linear.score, [[0.4, 0.8], [0.8, 0.4]], rtol=1e-12)
    assert linear.answer.tolist() == [1, 0]
    np.testing.assert_allclose(logs.weight, [log(9), log(1.5), log(1.5)], rtol=1e-12)
    np.testing.assert_allclose(wmv_log(labels, [1.0, 0.5, 0.5]).weight, [log(19), 0, 0], atol=1e-12)  # kept at .95
    three = wmv_log(table([[0, 1, 2]], 3), [0.8, 1 / 3, 0.2])
    np.testing.assert_allclose(three.weight, [log(8), 0, log(0.5)], atol=1e-12)
    np.testing.assert_allclose(wmv_linear(table([[0, 1, 2]], 3), [0.8, 1 / 3, 0.2]).weight, [1.4, 0, -0.4], atol=1e-12)


def test_posteriors_by_hand():
    """Labels .9 for class 1, .6 and .6 for class 0: odds 9 against 2.25, so .8."""
    labels = table([[1, 0, 0]])
    assert wmv_log(labels, [0.9, 0.6, 0.6]).posterior[0, 1] == pytest.approx(0.8, rel=1e-12)
    assert majority(labels).posterior[0].tolist() == pytest.approx([2 / 3, 1 / 3])


def test_ties_go_to_the_first_class():
    assert decide(np.array([[0.3, 0.1 + 0.2], [0.0, 0.0]]), np.array([2, 0])).tolist() == [0, -1]


def test_one_step_of_one_coin_em_by_hand():
    """Task 1: 1, 1, 0; task 2: 0, 0, 0. Shares (1/3, 2/3), (1, 0). Worker 1 is right in 2/3 + 1 of 2; with one credit
    on either side (5/3 + 1)/4 = 2/3, worker 3 (1/3 + 1 + 1)/4 = 7/12.
    """
    found = one_coin(table([[1, 1, 0], [0, 0, 0]]), iterations=1)
    np.testing.assert_allclose(found.accuracy, [2 / 3, 2 / 3, 7 / 12], rtol=1e-12)
    score = 2 * log(2) - log(7 / 5)
    assert found.posterior[0, 1] == pytest.approx(1 / (1 + np.exp(-score)), rel=1e-12)


def test_one_step_of_dawid_skene_by_hand():
    """The same table: worker 1 said class 1 in task 1 (true 1 with 2/3) and class 0 in task 2 (true 0): with credits of
    1/2 each P(says 1 | 1) = (2/3 + 1/2)/(2/3 + 1) = 7/10, P(says 0 | 0) = (1 + 1/2)/(4/3 + 1) = 9/14.
    """
    found = dawid_skene(table([[1, 1, 0], [0, 0, 0]]), iterations=1)
    np.testing.assert_allclose(found.confusion[0], [[9 / 14, 5 / 14], [3 / 10, 7 / 10]], rtol=1e-12)


def test_known_truth_stays():
    """A task of known class has it, whatever is said, and teaches who is right."""
    free, told = (one_coin(table([[1, 1, 0], [0, 0, 0]]), iterations=1, truth=given) for given in (None, [0, -1]))
    assert told.answer.tolist() == [0, 0] and free.answer.tolist() == [1, 0]
    np.testing.assert_allclose(told.accuracy, [0.5, 0.5, 0.75], rtol=1e-12)


def test_two_rounds_of_message_passing_by_hand():
    """Labels +-1 (class 1 is +): tasks (+, +, -), (-, -, -). Round one: x to a worker is the sum of the others' labels;
    y the sum over the worker's other task. Scores, in units in which a label is 1: task 1 is undone by worker 3's
    agreement.
    """
    a = np.array([[1.0, 1.0, -1.0], [-1.0, -1.0, -1.0]])
    y = np.ones((2, 3))
    for _ in range(2):
        x = (a * y).sum(axis=1, keepdims=True) - a * y
        y = (a * x).sum(axis=0) - a * x
    wanted = (a * y).sum(axis=1)
    found = kos(table([[1, 1, 0], [0, 0, 0]]), iterations=2)
    lead = found.score[:, 1] - found.score[:, 0]
    np.testing.assert_allclose(lead / np.abs(lead).max(), wanted / np.abs(wanted).max(), atol=1e-12)
