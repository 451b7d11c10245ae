"""Tasks that are hard for every worker: found where they are, not where they are not, and heeded exactly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdopt.crowd.difficulty.difficulty_fit import EdgedLabels, fitted
from crowdopt.crowd.difficulty.hard_tasks import Difficulty, label_terms, mixed_odds
from tests.chance import fewest, seeds
from tests.effort import tries

BY_GOLD = 0.02  # how well the mean edge is known


def drawn(seed: int, share: float, left: float, tasks: int = 1000, each: int = 8):
    """Labels of workers with known mean edges; on a share of the tasks only part of the edge is left."""
    rng = np.random.default_rng(seed)
    hard, truth = rng.random(tasks) < share, rng.integers(0, 2, tasks)
    task = np.repeat(np.arange(tasks), each)
    mean = rng.uniform(0.1, 0.7, task.size)
    scale = np.where(hard, left, 1.0)[task] / (1 - share * (1 - left))
    right = rng.random(task.size) < (1 + scale * mean) / 2
    return EdgedLabels(task, np.where(right, truth[task], 1 - truth[task]), mean, (tasks, 2)), truth


def gold(scale):
    """Log-likelihood of what gold says of the mean edge."""
    return -((scale - 1) ** 2) / (2 * BY_GOLD**2)


@pytest.mark.chance
@pytest.mark.parametrize("left", [0.0, 0.3])
def test_difficulty_is_found_where_it_is(left):
    """The likelihood is that of the law that drew the labels; crowds are independent.

    The 95 % intervals by the profile have the share in them in 70 of 100 or more (of 200 crowds in 80 and 82 of 100),
    what is left of skill in 85 of 100 or more (in 92 and 96).
    """
    share, skill, trials = 0, 0, tries(100, 12)
    for seed in seeds(trials):
        known = fitted(drawn(seed, 0.3, left)[0], anchor=gold)
        share, skill = share + (known.low <= 0.3 <= known.high), skill + (known.least <= left <= known.most)
    assert share >= fewest(trials, 0.7)
    assert skill >= fewest(trials, 0.85)


@pytest.mark.chance
def test_difficulty_is_not_found_where_it_is_not():
    """A 95 % interval leaves h = 0 out once in twenty crowds without any: nine of ten or more say there is none."""
    trials = tries(100, 8)
    none = [fitted(drawn(seed, 0.0, 1.0)[0], anchor=gold).share for seed in seeds(trials)]
    assert none.count(0.0) >= fewest(trials, 0.9)


@pytest.mark.chance
def test_only_known_answers_tell_misled_workers():
    """By agreement alone a crowd that is wrong together looks like one that is right together: s is at least 0.

    Where half of the answers are known s is below -.2 in 95 of 100 independent crowds or more.
    """
    misled, trials = 0, tries(60, 5)
    for seed in seeds(trials):
        labels, truth = drawn(seed, 0.25, -0.4, tasks=400, each=20)
        assert fitted(labels).left >= 0
        misled += fitted(labels, truth=np.where(np.arange(400) < 200, truth, -1)).left < -0.2
    assert misled >= fewest(trials, 0.95)


def test_log_odds_are_those_of_bayes_over_all_four_states():
    """Every pattern of labels of four workers: P(y, hard, labels) multiplied out, state by state."""
    edge, how = np.array([0.2, 0.5, 0.6, 0.1]), Difficulty(0.3, -0.2, 1.4)
    easy, hard, lean, odds, chance = [], [], [], [], []
    for pattern in itertools.product((-1, 1), repeat=4):
        y = np.array(pattern)
        for rows, term in zip((easy, hard, lean), label_terms(edge * y, how), strict=True):
            rows.append(term.sum())
        states = {
            (truth, scale): weight * np.prod((1 + truth * y * scale * edge) / 2)
            for truth in (-1, 1)
            for weight, scale in ((0.7, how.easy), (0.3, how.hard))
        }
        up, down = (states[truth, how.easy] + states[truth, how.hard] for truth in (1, -1))
        odds.append(np.log(up / down))
        chance.append((states[1, how.hard] + states[-1, how.hard]) / (up + down))
    found = mixed_odds(np.array([easy, hard, lean]), 0.3)
    np.testing.assert_allclose(found, (odds, chance), rtol=1e-9, atol=1e-12)
