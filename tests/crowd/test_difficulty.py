"""Tasks that are hard for every worker: found where they are, not where they are not, and heeded exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from crowdopt.crowd.gold import DROP, SHARES, EdgedLabels, _with_intervals, fitted
from tests.chance import fewest, most, seeds
from tests.sampled import first_of

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


@pytest.mark.parametrize("best", [0, 6, SHARES.size - 1])
def test_intervals_end_at_the_next_shares_that_are_tried(best):
    """Shares whose profile is within half a quantile of chi-square of the best, and one more on either side."""
    assert pytest.approx(chi2.ppf(0.95, 1) / 2, abs=0.001) == DROP
    depth = DROP * np.array([0.0, 0.9, 1.1])[np.minimum(2, np.abs(np.arange(SHARES.size) - best))]  # in, in, out
    found, ends = _with_intervals({(20, 5): -depth}, -30.0), [0.0, 0.0, *SHARES, SHARES[-1], SHARES[-1]]
    assert (found.share, found.gain) == (SHARES[best], 30)
    assert (found.low, found.high) == (ends[best], ends[best + 4])


@pytest.mark.slow
@pytest.mark.chance
@pytest.mark.parametrize(("share", "left"), [(0.3, 0.3), (0.2, 0.0)])
def test_intervals_have_the_truth_in_them_where_difficulty_is_seen(share, left):
    """In 19 of 20 crowds in which it is seen: the likelihood is that of the law that drew the labels."""
    seen = [known for seed in seeds(20) if (known := fitted(drawn(seed, share, left)[0], anchor=gold)).share]
    assert sum(known.low <= share <= known.high for known in seen) >= fewest(len(seen), 0.95)
    assert sum(known.least <= left <= known.most for known in seen) >= fewest(len(seen), 0.95)


@pytest.mark.chance
def test_difficulty_is_found_where_it_is():
    """A third of the tasks left to guessing is seen in nineteen of twenty crowds or more."""
    assert sum(fitted(drawn(seed, 0.3, 0.0)[0], anchor=gold).share > 0 for seed in seeds(8)) >= fewest(8, 0.95)


@pytest.mark.chance
@pytest.mark.parametrize(("tasks", "each"), first_of([(200, 5), (1000, 8)]))
def test_difficulty_is_not_found_where_it_is_not(tasks, each):
    """However often one looks while labels come in, one crowd in twenty at most is said to have hard tasks."""
    alarms = 0
    for seed in seeds(6):
        labels = drawn(seed, 0.0, 1.0, tasks, each)[0]
        order = np.random.default_rng([seed, 1]).permutation(labels.task.size)
        parts = [np.sort(order[: labels.task.size * k // 8]) for k in range(1, 9)]
        looks = [EdgedLabels(*(column[some] for column in labels[:3]), labels.shape) for some in parts]
        alarms += any(fitted(look, anchor=gold).share for look in looks)
    assert alarms <= most(6, 0.05)


@pytest.mark.chance
def test_only_known_answers_tell_misled_workers():
    """By agreement alone a crowd that is wrong together looks like one that is right together: s is at least 0.

    Where half of the answers are known s is below -.2 in 95 of 100 independent crowds or more.
    """
    misled, trials = 0, 5
    for seed in seeds(trials):
        labels, truth = drawn(seed, 0.25, -0.4, tasks=400, each=20)
        assert fitted(labels).left >= 0
        misled += fitted(labels, truth=np.where(np.arange(400) < 200, truth, -1)).left < -0.2
    assert misled >= fewest(trials, 0.95)


def test_a_known_task_with_one_label_counts():
    """One label tells nothing of a task whose answer is not known, and of difficulty where it is."""
    labels, truth = drawn(0, 0.3, 0.0, tasks=100)
    single = np.arange(100, 160), np.ones(60, np.int64), np.full(60, 0.6)
    more = EdgedLabels(*(np.concatenate(pair) for pair in zip(labels[:3], single, strict=True)), (160, 2))
    without = fitted(labels, truth)
    assert fitted(more, np.append(truth, np.full(60, -1))).share == pytest.approx(without.share, abs=1e-9)
    assert fitted(more, np.append(truth, np.zeros(60, np.int64))).share > without.share > 0
