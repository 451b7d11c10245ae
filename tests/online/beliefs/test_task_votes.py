"""Votes of known accuracies against Bayes multiplied out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty
from crowdopt.online.beliefs.grid import error_at_level
from crowdopt.online.beliefs.task_votes import TaskVotes, vote_weight


@pytest.mark.parametrize("difficulty", [NONE, Difficulty(0.3, 0.4, 1.1), Difficulty(0.2, -0.2, 0.9)])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_votes_of_known_accuracies_are_bayes(classes, difficulty):
    """Every class, hard or not, multiplied out: the likeliest one, its error, and the chance of being hard."""
    rng = np.random.default_rng(classes)
    tasks, k = 30, 120
    task, label, accuracy = rng.integers(0, tasks, k), rng.integers(0, classes, k), rng.uniform(0.1, 0.9, k)
    votes = TaskVotes(tasks, classes)
    votes.add(task, label, vote_weight(accuracy, classes, difficulty), difficulty)
    votes.settle(np.arange(tasks), difficulty)
    states = np.zeros((tasks, classes, 2))
    for i, c, s in product(range(tasks), range(classes), (0, 1)):
        edge = (difficulty.hard if s else difficulty.easy) * (classes * accuracy - 1) / (classes - 1)
        right = (1 + (classes - 1) * np.clip(edge, -0.98 / (classes - 1), 0.98)) / classes
        here = task == i
        chances = np.where(label == c, right, (1 - right) / (classes - 1))[here]
        states[i, c, s] = (difficulty.share if s else 1 - difficulty.share) * chances.prod()
    states /= states.sum(axis=(1, 2), keepdims=True)
    chance = states.sum(axis=2)
    np.testing.assert_allclose(error_at_level(votes.level, classes), 1 - chance.max(axis=1), atol=1e-9)
    np.testing.assert_allclose(votes.chance, states[:, :, 1].sum(axis=1), atol=1e-9)
    some = np.bincount(task, minlength=tasks) > 0
    np.testing.assert_array_equal(votes.answer[some], chance[some].argmax(axis=1))
    assert (votes.answer[~some] == -1).all()
