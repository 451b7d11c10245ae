"""Belief propagation against brute force, and arrays written in place against arrays made anew."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdopt.crowd.difficulty.hard_tasks import NONE, Difficulty
from crowdopt.online.beliefs.grid import CELLS, GRID, error_at_level, expected
from crowdopt.online.beliefs.state import Beliefs
from tests.chance import fewest, seeds

TREE = [  # a worker's tasks and labels: workers and tasks hang together without a cycle
    ([0, 1], [1, 1]),
    ([1, 2], [1, 0]),
    ([2, 3, 4], [0, 1, 0]),
    ([4], [0]),
]
RIGHT, ASKED = [[3], [0], [5], [1]], [[4], [0], [5], [3]]


def told(kind, types, rows, right, asked, classes=2) -> Beliefs:
    """Every worker's gold and labels, in the order in which they come."""
    beliefs = Beliefs(np.array(kind), types, len(rows), classes)
    for (tasks, labels), c, s in zip(rows, right, asked, strict=True):
        beliefs.welcome()
        beliefs.check(np.array(c), np.array(s))
        beliefs.hear(np.array(tasks), np.array(labels))
    return beliefs


def odds(beliefs: Beliefs):
    """Log odds of the second of two classes where no task is hard, (tasks,)."""
    return beliefs.votes.easy[:, 1] - beliefs.votes.easy[:, 0]


def enumerated(kind, types, rows, right, asked, alike):
    """Log odds of each task and density of each skill, by adding up all truths; one skill for all types at times."""
    odds, density = np.zeros((2, len(kind))), np.zeros((len(rows), types, CELLS))
    for truth in product((0, 1), repeat=len(kind)):
        each = np.ones((len(rows), types, CELLS))
        for j, (tasks, labels) in enumerate(rows):
            for t in range(types):
                each[j, t] *= GRID ** right[j][t] * (1 - GRID) ** (asked[j][t] - right[j][t])
            for i, label in zip(tasks, labels, strict=True):
                each[j, kind[i]] *= GRID if label == truth[i] else 1 - GRID
        one = expected() * each.prod(axis=1)
        apart = expected() * each
        mass = apart.sum(axis=2)
        chance = alike * one.sum(axis=1) + (1 - alike) * mass.prod(axis=1)
        weight = chance.prod()
        for i, z in enumerate(truth):
            odds[z, i] += weight
        rest = mass.prod(axis=1)[:, None] / mass
        skill = alike * one[:, None, :] + (1 - alike) * apart * rest[:, :, None]
        density += weight * skill / chance[:, None, None]
    return np.log(odds[1] / odds[0]), density / odds.sum(axis=0)[0]


@pytest.mark.parametrize(
    ("kind", "types", "alike"), [([0] * 5, 1, 0.0), ([0, 0, 1, 1, 0], 2, 0.0), ([0, 0, 0, 0, 1], 2, 0.6)]
)
def test_messages_are_exact_on_a_tree(kind, types, alike):
    """Without a cycle the messages settle at the posterior itself: of every truth and of every skill.

    So too where a worker may have one skill for all types, and what they do in one tells of the others.
    """
    right, asked = ([row * types for row in rows] for rows in (RIGHT, ASKED))
    beliefs = told(kind, types, TREE, right, asked)
    beliefs.alike[0] = alike
    beliefs.propagate(10)
    expected_odds, density = enumerated(kind, types, TREE, right, asked, alike)
    np.testing.assert_allclose(odds(beliefs), expected_odds, atol=1e-9)
    np.testing.assert_allclose(beliefs.level, np.abs(expected_odds), atol=1e-9)
    np.testing.assert_allclose(beliefs.density, density, atol=1e-9)


def crowd(seed, tasks=40, workers=12, types=2, classes=2):
    """Labels and gold of one-coin workers."""
    rng = np.random.default_rng(seed)
    kind, truth, skill = np.arange(tasks) % types, rng.integers(0, classes, tasks), rng.uniform(0.5, 0.9, workers)
    rows, asked = [], rng.integers(0, 4, (workers, types))
    for j in range(workers):
        mine = rng.permutation(tasks)[: rng.integers(1, tasks)]
        rows.append((mine, np.where(rng.random(mine.size) < skill[j], truth[mine], (truth[mine] + 1) % classes)))
    return kind, types, rows, rng.binomial(asked, skill[:, None]), asked


@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_up_to_date_is_what_a_fresh_start_finds(seed):
    """Labels in any portions with sweeps in between, or all at once: the messages settle at the same point."""
    whole = told(*crowd(seed))
    kind, types, rows, right, asked = crowd(seed)
    parts = Beliefs(kind, types, len(rows))
    for (tasks, labels), c, s in zip(rows, right, asked, strict=True):
        worker = parts.welcome()
        for k in range(0, tasks.size, 3):
            parts.hear(tasks[k : k + 3], labels[k : k + 3])
            parts.settle(worker)
        for one in range(int(s.max(initial=0))):
            parts.check((one < c).astype(np.int64), (one < s).astype(np.int64))
        parts.propagate()
    for beliefs in (whole, parts):
        beliefs.propagate(200)
    np.testing.assert_allclose(odds(parts), odds(whole), atol=1e-6)
    np.testing.assert_allclose(parts.density, whole.density, atol=1e-6)
    np.testing.assert_allclose(parts.weight, whole.weight, atol=1e-6)


@pytest.mark.parametrize("difficulty", [NONE, Difficulty(0.3, 0.4, 1.0)])
@pytest.mark.parametrize("classes", [2, 3])
def test_votes_are_the_sum_of_messages_at_any_time(classes, difficulty):
    """What is added message by message does not drift from the whole."""
    for seed in range(3):
        beliefs = told(*crowd(seed, classes=classes), classes)
        beliefs.suppose(difficulty)
        for _ in range(30):
            beliefs.propagate()
            beliefs.refit(2.0, 4.0, 20)
            kept = beliefs.votes.arrays()
            beliefs.suppose(difficulty)
            for name, array in beliefs.votes.arrays().items():
                np.testing.assert_allclose(kept[name], array, atol=1e-9, err_msg=name)


def test_the_likeliest_prior_is_found():
    """EM climbs: no other prior makes skills and pseudo-workers likelier than the one at which it settles."""
    beliefs = told(*crowd(0))
    beliefs.refit(2.0, 0.0, 20_000)
    likelihood = (beliefs.gold * beliefs.agreement)[beliefs.weight > 0]

    def height(prior):
        return np.log(likelihood @ prior).sum() + 2.0 * expected() @ np.log(prior)

    best, rng = height(beliefs.prior), np.random.default_rng(0)
    for share in (0.01, 0.1, 0.5):
        for _ in range(20):
            other = (1 - share) * beliefs.prior + share * rng.dirichlet(np.full(CELLS, 0.3))
            assert height(other) <= best + 1e-6


@pytest.mark.chance
def test_one_skill_for_all_types_is_recognised():
    """Where gold shows one skill per worker the share of such workers goes up, where it shows several it goes down.

    Crowds are independent: it is above .7 and below .3 in 95 of 100 or more (of 40 above .83 and below .19 in all).
    """
    up = sum(alike_after(seed, True) > 0.7 for seed in seeds(5))
    down = sum(alike_after(seed, False) < 0.3 for seed in seeds(5))
    assert min(up, down) >= fewest(5, 0.95)


def alike_after(seed, one):
    """Believed share of workers of one skill, after gold of forty who have one each, or three."""
    rng = np.random.default_rng(seed)
    skill = rng.choice([0.5, 0.95], (40, 3))
    skill = skill[:, :1].repeat(3, axis=1) if one else skill
    nothing = (np.zeros(0, int), np.zeros(0, int))
    beliefs = told([0, 1, 2], 3, [nothing] * 40, rng.binomial(20, skill), np.full((40, 3), 20))
    for _ in range(10):
        beliefs.refit(2.0, 4.0, 50)
        beliefs.propagate()
    return beliefs.alike[0]


def test_a_table_is_what_was_heard():
    """Labels come back as they came in, with whose they are."""
    beliefs = told([0] * 5, 1, TREE, RIGHT, ASKED)
    task, worker, label = beliefs.table()
    heard = [(i, j, y) for j, (tasks, labels) in enumerate(TREE) for i, y in zip(tasks, labels, strict=True)]
    assert list(zip(task.tolist(), worker.tolist(), label.tolist(), strict=True)) == heard


def tree(classes):
    """A tree of four tasks with labels among some classes: every one is named."""
    rows = [([0, 1], [2, 1]), ([1, 2], [1, 0]), ([2, 3], [0, 2]), ([3], [2])]
    return [(tasks, [y % classes for y in labels]) for tasks, labels in rows]


def enumerated_states(classes, tasks, difficulty):
    """Posterior of each task's class and hardness, and skills' densities, by adding up all truths and hard sets."""
    states, density = np.zeros((tasks, classes, 2)), np.zeros((len(TREE), 1, CELLS))
    gold = 1 / classes + difficulty.mean * (GRID - 1 / classes)
    on_hard = 1 / classes + difficulty.left * (GRID - 1 / classes)
    hard_sets = list(product((0, 1), repeat=tasks)) if difficulty.share else [(0,) * tasks]
    for truth, hard in product(product(range(classes), repeat=tasks), hard_sets):
        weight, rows = np.prod(np.where(hard, difficulty.share, 1 - difficulty.share)), []
        for j, (given, labels) in enumerate(tree(classes)):
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


@pytest.mark.parametrize(
    "difficulty", [NONE, Difficulty(0.3, 0.4, 1.0), Difficulty(0.3, 0.0, 1.0), Difficulty(0.2, -0.3, 1.0)]
)
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_messages_about_classes_and_hard_tasks_are_exact_on_a_tree(classes, difficulty):
    """A task is a node of 2 K states: on a tree its messages settle at Bayes' own answer, and so do all skills."""
    beliefs = told([0] * 4, 1, tree(classes), RIGHT, ASKED, classes)
    beliefs.suppose(difficulty)
    beliefs.propagate(12)
    states, density = enumerated_states(classes, 4, difficulty)
    chance = states.sum(axis=2)
    np.testing.assert_allclose(error_at_level(beliefs.level, classes), 1 - chance.max(axis=1), atol=1e-9)
    np.testing.assert_array_equal(beliefs.answer, chance.argmax(axis=1))
    np.testing.assert_allclose(beliefs.hard_chance, states[:, :, 1].sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(beliefs.density, density, atol=1e-9)
