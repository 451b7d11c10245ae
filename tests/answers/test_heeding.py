"""Confidences that heed difficulty: right where some tasks are hard, the same as ever where none is."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.answers.choosing import chosen
from crowdopt.answers.hard_votes import HardVotes
from crowdopt.api.aggregate import aggregate
from crowdopt.crowd.law import Difficulty
from tests.answers.tables import drawn, table
from tests.chance import fewest, seeds


def hard(seed, share, left=0.0, tasks=600):
    """Twelve labels a task of a crowd U(.5, 1) in the mean; on a share of the tasks only part of the edge is left."""
    skill = np.random.default_rng([seed, 1]).uniform(0.5, 1, 40)
    return drawn(seed, tasks, 40, 2, each=12, skill=skill, hard=(share, left))


@pytest.mark.slow
@pytest.mark.chance
@pytest.mark.parametrize(("left", "known"), [(0.0, 0), (-0.5, 200)])
def test_claimed_errors_are_near_the_true_ones(left, known):
    """Guessed tasks show by agreement; misled ones only where some answers are known.

    Crowds are independent: in nine of ten or more the claims are within a third of the truth (a tenth below it in the
    mean), and in 95 of 100 or more those that heed nothing are below half of it.
    """
    near, blind, trials = 0, 0, 7
    for seed in seeds(trials):
        labels, truth = hard(seed, 0.3, left)
        told = np.where(np.arange(truth.size) < known, truth, -1)
        method = chosen(labels, told).method  # asked once: it takes longer than both answers
        answers = aggregate(labels, method, known=told)
        rest = told < 0
        claimed, wrong = 1 - answers.confidence[rest].mean(), (answers.answer != truth)[rest].mean()
        near += abs(claimed - wrong) < wrong / 3
        blind += 1 - aggregate(labels, method, difficulty=False).confidence[rest].mean() < wrong / 2
    assert near >= fewest(trials, 0.9)
    assert blind >= fewest(trials, 0.95)


def test_without_difficulty_nothing_changes():
    """Byte by byte; and labels that come later count as if they had been there."""
    labels, _ = hard(0, 0.0, tasks=200)
    method = chosen(labels).method
    bare = aggregate(labels, method, difficulty=False)
    assert aggregate(labels, method).posterior.tobytes() == bare.posterior.tobytes()
    labels, _ = hard(1, 0.3, tasks=200)
    answers, new = aggregate(labels, method), (np.array([0, 0]), np.array([3, 4]), np.array([1, 0]))
    later, there = answers.with_labels(*new).hard, answers.hard
    again = there.with_labels(labels.task, labels.worker, labels.label).with_labels(*new)
    np.testing.assert_allclose(there.likelihood + later.likelihood, again.likelihood, atol=1e-9)


def test_among_four_classes_it_is_bayes():
    """With K classes a posterior is Bayes' over every class, easy or hard: two labels multiplied out."""
    labels = table([0, 0], [0, 1], [2, 3], 1, 2, 4)
    how, edge = Difficulty(0.2, 0.3, 1.2), np.array([0.4, 0.6])
    empty = HardVotes.of(how, (1 + 3 * edge) / 4, np.zeros((1, 4)))
    found = empty.with_labels(labels.task, labels.worker, labels.label).posterior[0]
    chance = np.zeros(4)
    for weight, scale in ((0.8, 1.2), (0.2, 0.3)):
        right, wrong = (1 + 3 * scale * edge) / 4, (1 - scale * edge) / 4
        for k in range(4):
            chance[k] += weight * np.prod(np.where(labels.label == k, right, wrong))
    np.testing.assert_allclose(found, chance / chance.sum())
