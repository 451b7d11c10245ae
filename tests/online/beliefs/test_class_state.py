"""Belief propagation among more than two classes against brute force, and against the loops for two classes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty
from crowdopt.online.beliefs.class_state import ClassBeliefs
from crowdopt.online.beliefs.grid import CELLS, GRID, error_at_level, expected
from crowdopt.online.beliefs.state import Beliefs
from crowdopt.online.beliefs.task_votes import votes_of
from tests.online.beliefs.test_state import crowd

TREE = [  # a worker's tasks and labels: workers and tasks hang together without a cycle
    ([0, 1], [2, 1]),
    ([1, 2], [1, 0]),
    ([2, 3], [0, 2]),
    ([3], [2]),
]
RIGHT, ASKED = [[3], [0], [5], [1]], [[4], [0], [5], [3]]


def told(beliefs, rows, right, asked):
    """Every worker's gold and labels, in the order in which they come."""
    for (tasks, labels), c, s in zip(rows, right, asked, strict=True):
        beliefs.welcome()
        beliefs.check(np.array(c), np.array(s))
        beliefs.hear(np.array(tasks), np.array(labels))
    return beliefs


def enumerated(classes, tasks, difficulty):
    """Posterior of each task's class and hardness, and skills' densities, by adding up all truths and hard sets."""
    states, density = np.zeros((tasks, classes, 2)), np.zeros((len(TREE), 1, CELLS))
    gold = 1 / classes + difficulty.mean * (GRID - 1 / classes)
    on_hard = 1 / classes + difficulty.left * (GRID - 1 / classes)
    hard_sets = list(product((0, 1), repeat=tasks)) if difficulty.share else [(0,) * tasks]
    for truth, hard in product(product(range(classes), repeat=tasks), hard_sets):
        weight, rows = np.prod(np.where(hard, difficulty.share, 1 - difficulty.share)), []
        for j, (given, labels) in enumerate(TREE):
            each = expected(classes) * gold ** RIGHT[j][0] * (1 - gold) ** (ASKED[j][0] - RIGHT[j][0])
            for i, label in zip(given, labels, strict=True):
                skill = on_hard if hard[i] else GRID
                each = each * (skill if label == truth[i] else (1 - skill) / (classes - 1))
            rows.append(each)
            weight *= each.sum()
        for i in range(tasks):
            states[i, truth[i], hard[i]] += weight
        density[:, 0] += weight * np.array([row / row.sum() for row in rows])
    total = states[0].sum()
    return states / total, density / total


@pytest.mark.parametrize("difficulty", [NONE, Difficulty(0.3, 0.4, 1.0), Difficulty(0.2, -0.3, 1.0)])
@pytest.mark.parametrize("classes", [3, 4])
def test_messages_are_exact_on_a_tree(classes, difficulty):
    """Without a cycle the messages settle at the posterior itself: of every truth, hard task and skill."""
    beliefs = told(ClassBeliefs(np.zeros(4, int), 1, len(TREE), classes), TREE, RIGHT, ASKED)
    beliefs.suppose(difficulty)
    beliefs.propagate(10)
    states, density = enumerated(classes, 4, difficulty)
    chance = states.sum(axis=2)
    np.testing.assert_allclose(error_at_level(beliefs.level, classes), 1 - chance.max(axis=1), atol=1e-9)
    np.testing.assert_array_equal(beliefs.answer, chance.argmax(axis=1))
    np.testing.assert_allclose(beliefs.hard_chance, states[:, :, 1].sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(beliefs.density, density, atol=1e-9)


@pytest.mark.parametrize("difficulty", [NONE, Difficulty(0.3, 0.4, 1.0)])
def test_two_classes_are_the_case_of_two(difficulty):
    """The loops for any number of classes, given two, believe what the loops for two believe."""
    kind, types, rows, right, asked = crowd(0)
    pair = told(Beliefs(kind, types, len(rows)), rows, right, asked)
    several = told(ClassBeliefs(kind, types, len(rows), 2), rows, right, asked)
    for beliefs in (pair, several):
        beliefs.suppose(difficulty)
        for _ in range(5):
            beliefs.propagate()
            beliefs.refit(2.0, 4.0, 20)
    np.testing.assert_allclose(several.level, pair.level, atol=1e-9)
    np.testing.assert_allclose(several.density, pair.density, atol=1e-9)
    np.testing.assert_allclose(several.weight, pair.weight, atol=1e-9)
    np.testing.assert_array_equal(several.answer, pair.answer)


@pytest.mark.parametrize("difficulty", [NONE, Difficulty(0.3, 0.4, 1.1), Difficulty(0.2, -0.2, 0.9)])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_votes_of_known_accuracies_are_bayes(classes, difficulty):
    """Every class, hard or not, multiplied out: the likeliest one, its error, and the chance of being hard."""
    rng = np.random.default_rng(classes)
    tasks, k = 30, 120
    task, label, accuracy = rng.integers(0, tasks, k), rng.integers(0, classes, k), rng.uniform(0.1, 0.9, k)
    votes = votes_of(tasks, classes)
    votes.add(task, label, accuracy, difficulty)
    hard = votes.settle(np.arange(tasks), difficulty)
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
    np.testing.assert_allclose(hard, states[:, :, 1].sum(axis=1), atol=1e-9)
    some = np.bincount(task, minlength=tasks) > 0
    np.testing.assert_array_equal(votes.answer[some], chance[some].argmax(axis=1))
    assert (votes.answer[~some] == -1).all()
