"""Belief propagation against brute force; the prior of skills, and whether a worker has one skill for all types."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdopt.crowd.law import NONE, Difficulty
from crowdopt.online.beliefs.state import CELLS, GRID, Beliefs, error_at_level, expected
from tests.chance import fewest, seeds

TREE = [  # a worker's tasks and labels: workers and tasks hang together without a cycle
    ([0, 1], [2, 1]),
    ([1, 2], [1, 0]),
    ([2, 3], [0, 2]),
    ([3], [2]),
]
RIGHT, ASKED = [[3], [0], [5], [1]], [[4], [0], [5], [3]]


def told(kind, types, rows, right, asked, classes=2) -> Beliefs:
    """Every worker's gold and labels, in the order in which they come."""
    beliefs = Beliefs(np.array(kind), types, len(rows), classes)
    for j, ((tasks, labels), c, s) in enumerate(zip(rows, right, asked, strict=True)):
        beliefs.welcome(j)
        beliefs.check(np.array(c), np.array(s), j)
        beliefs.hear(np.array(tasks), np.array(labels), j)
    return beliefs


def enumerated(kind, types, rows, right, asked, classes, difficulty, alike):
    """Posterior of each task's class and hardness, and skills' densities, by adding up all truths and hard sets."""
    tasks = len(kind)
    states, density = np.zeros((tasks, classes, 2)), np.zeros((len(rows), types, CELLS))
    gold = 1 / classes + difficulty.mean * (GRID - 1 / classes)
    on_hard = 1 / classes + difficulty.left * (GRID - 1 / classes)
    hard_sets = list(product((0, 1), repeat=tasks)) if difficulty.share else [(0,) * tasks]
    for truth, hard in product(product(range(classes), repeat=tasks), hard_sets):
        each = np.ones((len(rows), types, CELLS))
        for j, (given, labels) in enumerate(rows):
            for t in range(types):
                each[j, t] *= gold ** right[j][t] * (1 - gold) ** (asked[j][t] - right[j][t])
            for i, label in zip(given, labels, strict=True):
                skill = on_hard if hard[i] else GRID
                each[j, kind[i]] *= skill if label == truth[i] else (1 - skill) / (classes - 1)
        one, apart = expected(classes) * each.prod(axis=1), expected(classes) * each
        mass = apart.sum(axis=2)
        chance = alike * one.sum(axis=1) + (1 - alike) * mass.prod(axis=1)
        weight = chance.prod() * np.prod(np.where(hard, difficulty.share, 1 - difficulty.share))
        states[np.arange(tasks), truth, hard] += weight
        rest = mass.prod(axis=1)[:, None] / mass
        skills = alike * one[:, None, :] + (1 - alike) * apart * rest[:, :, None]
        density += weight * skills / chance[:, None, None]
    total = states[0].sum()
    return states / total, density / total


@pytest.mark.parametrize("difficulty", [NONE, Difficulty(0.3, 0.4, 1.0), Difficulty(0.2, -0.3, 1.0)])
@pytest.mark.parametrize(("kind", "types", "alike"), [([0] * 4, 1, 0.0), ([0, 0, 0, 1], 2, 0.6)])
@pytest.mark.parametrize("classes", [2, 3])
def test_messages_are_exact_on_a_tree(classes, kind, types, alike, difficulty):
    """A task is a node of 2 K states: on a tree its messages settle at Bayes' own answer, and so do all skills.

    So too where a worker may have one skill for all types, and what they do in one tells of the others.
    """
    right, asked = ([row * types for row in rows] for rows in (RIGHT, ASKED))
    rows = [(tasks, [y % classes for y in labels]) for tasks, labels in TREE]
    beliefs = told(kind, types, rows, right, asked, classes)
    beliefs.alike[0] = alike
    beliefs.suppose(difficulty)
    beliefs.propagate(12)
    states, density = enumerated(kind, types, rows, right, asked, classes, difficulty, alike)
    chance = states.sum(axis=2)
    np.testing.assert_allclose(error_at_level(beliefs.level, classes), 1 - chance.max(axis=1), atol=1e-9)
    np.testing.assert_array_equal(beliefs.answer, chance.argmax(axis=1))
    np.testing.assert_allclose(beliefs.hard_chance, states[:, :, 1].sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(beliefs.density, density, atol=1e-9)


def test_the_likeliest_prior_is_found():
    """EM climbs: no other prior makes skills and pseudo-workers likelier than the one at which it settles."""
    rng = np.random.default_rng(0)
    truth, skill, asked = rng.integers(0, 2, 40), rng.uniform(0.5, 0.9, 12), rng.integers(0, 4, (12, 2))
    rows = [
        (mine := rng.permutation(40)[: rng.integers(1, 40)], np.where(rng.random(mine.size) < p, 0, 1) ^ truth[mine])
        for p in skill
    ]
    beliefs = told(np.arange(40) % 2, 2, rows, rng.binomial(asked, skill[:, None]), asked)
    beliefs.refit(2.0, 0.0, 20_000)
    likelihood = (beliefs.gold * beliefs.agreement)[beliefs.weight > 0]

    def height(prior):
        return np.log(likelihood @ prior).sum() + 2.0 * expected() @ np.log(prior)

    best = height(beliefs.prior)
    for share in (0.01, 0.1, 0.5):
        for _ in range(20):
            other = (1 - share) * beliefs.prior + share * rng.dirichlet(np.full(CELLS, 0.3))
            assert height(other) <= best + 1e-6


@pytest.mark.chance
@pytest.mark.parametrize("one", [True, False])
def test_one_skill_for_all_types_is_recognised(one):
    """Where gold shows one skill per worker the share of such workers goes up, where it shows several it goes down.

    Crowds are independent: it is above .7 and below .3 in 95 of 100 or more (of 40 above .83 and below .19 in all).
    """
    nothing, sure = (np.zeros(0, int), np.zeros(0, int)), 0
    for rng in map(np.random.default_rng, seeds(5)):
        skill = rng.choice([0.5, 0.95], (40, 3))
        skill = skill[:, :1].repeat(3, axis=1) if one else skill
        beliefs = told([0, 1, 2], 3, [nothing] * 40, rng.binomial(20, skill), np.full((40, 3), 20))
        for _ in range(10):
            beliefs.refit(2.0, 4.0, 50)
            beliefs.propagate()
        sure += beliefs.alike[0] > 0.7 if one else beliefs.alike[0] < 0.3
    assert sure >= fewest(5, 0.95)
