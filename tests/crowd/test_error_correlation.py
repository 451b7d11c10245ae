"""Who errs together, from labels with known truth."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.crowd.gold.common_errors import chances_of_common, discoveries
from crowdopt.crowd.gold.error_correlation import error_correlation
from tests.chance import fewest, most, seeds


def labels(tied: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six workers, 400 tasks; the first three copy a crib with probability ``tied``, all err with .2."""
    rng = np.random.default_rng(seed)
    wrong = rng.random((400, 6)) < 0.2
    crib, copies = rng.random(400) < 0.2, rng.random((400, 3)) < tied
    wrong[:, :3] = np.where(copies, crib[:, None], wrong[:, :3])
    task, worker = np.indices(wrong.shape)
    return task.ravel(), worker.ravel(), wrong.ravel()


@pytest.mark.chance
def test_a_crib_is_found_and_its_users_suggested_as_a_family() -> None:
    """Copies with probability .7 correlate by .49; three such are worth about 1.5 votes.

    Crowds are independent. In 95 of 100 or more the three are a family and their votes are near that number; the first
    pair's interval has .49 in it in 70 of 100 or more (of 1000 in 83: Fisher's transform is of normal errors).
    """
    seen, trials = np.zeros(3, int), 20
    for seed in seeds(trials):
        found = error_correlation(*labels(0.7, seed), 6)
        inside = (found.first < 3) & (found.second < 3)
        family = found.warned[inside].all() and found.family.tolist()[:3] == [0, 0, 0]
        near = abs(found.effective_votes([0, 1, 2]) - 3 / (1 + 2 * 0.49)) < 0.25
        seen += [family, near, found.low[0] < 0.49 < found.high[0]]
    assert (seen >= [fewest(trials, 0.95), fewest(trials, 0.95), fewest(trials, 0.7)]).all()


def crowd(shape: tuple[int, int, int], low: float, high: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(tasks, workers, labels of a task): independent workers with skills between, and who labels what by chance."""
    tasks, workers, each = shape
    rng = np.random.default_rng(seed)
    wrong = rng.random((tasks, workers)) > rng.uniform(low, high, workers)
    there = np.argsort(rng.random((tasks, workers)), axis=1) < each
    task, worker = np.nonzero(there)
    return task, worker, wrong[there]


@pytest.mark.chance
@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        ((400, 6, 6), 0.8, 0.8),
        ((200, 20, 20), 0.6, 0.85),
        ((60, 15, 15), 0.6, 0.85),
        ((60, 15, 15), 0.85, 0.98),
        pytest.param((1000, 100, 10), 0.6, 0.85, marks=pytest.mark.slow),  # 5,000 pairs, ten seconds
    ],
)
def test_the_independent_are_left_in_peace(shape: tuple[int, int, int], low: float, high: float) -> None:
    """Of independent crowds one in twenty at most has any pair that is warned about, whatever the skills and shape."""
    trials = 60
    warned = sum(error_correlation(*crowd(shape, low, high, seed), shape[1]).warned.any() for seed in seeds(trials))
    assert warned <= most(trials, 0.05)


def test_the_chance_of_common_errors_is_that_of_all_orders() -> None:
    """Two types of four and five tasks: of all ways to lay the second worker's errors out, type by type."""
    first = [np.array([1, 1, 0, 0]), np.array([1, 1, 1, 0, 0])]
    seen = [np.array([1, 0, 1, 0]), np.array([1, 1, 0, 1, 0])]
    sums = [
        [int((mine * other).sum()) for other in set(permutations(theirs))]
        for mine, theirs in zip(first, seen, strict=True)
    ]
    ways = np.add.outer(*map(np.array, sums)).ravel()
    tallies = [np.array([[row.sum()] for row in rows]) for rows in (first, seen)]
    for common in range(6):
        chance = chances_of_common(np.array([common]), np.array([[4], [5]]), *tallies)[0]
        usual = 2 * 2 / 4 + 3 * 3 / 5
        assert chance == pytest.approx((ways >= common).mean() if common > usual else 1.0, abs=1e-12)


def test_within_types_it_is_the_correlation_of_what_is_left_of_errors() -> None:
    """Of errors less each worker's share in the type: that every sixth task is hard for all is no dependence."""
    task, worker, wrong = labels(0.7, 0)
    wrong |= task % 6 == 1
    found = error_correlation(task, worker, wrong, 6, kind=task % 2)
    left = wrong.reshape(400, 6).astype(float)
    for type_ in range(2):
        left[type_::2] -= left[type_::2].mean(axis=0)
    assert found.correlation == pytest.approx(np.corrcoef(left.T)[found.first, found.second], abs=1e-12)


def test_steps_of_holm_end_at_the_first_chance_that_is_too_large() -> None:
    """.01 <= .05/4, .0166 <= .05/3, .026 > .05/2; .04 is below .05, but behind it."""
    assert discoveries(np.array([0.04, 0.01, 0.026, 0.0166]), 0.05).tolist() == [False, True, False, True]


def test_pairs_that_share_too_little_are_left_out() -> None:
    """Eight tasks in common tell nothing; a label twice is an error."""
    task, worker, wrong = labels(1.0, 0)
    assert error_correlation(task[:48], worker[:48], wrong[:48], 6).first.size == 0
    with pytest.raises(InputError, match="twice"):
        error_correlation([0, 0], [1, 1], [True, False], 2)
