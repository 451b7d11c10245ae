"""Who errs together, from labels with known truth."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.crowd.gold.error_correlation import error_correlation
from tests.chance import fewest, most, seeds
from tests.effort import tries


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
    seen, trials = np.zeros(3, int), tries(200, 20)
    for seed in seeds(trials):
        found = error_correlation(*labels(0.7, seed), 6)
        inside = (found.first < 3) & (found.second < 3)
        family = found.warned[inside].all() and found.family.tolist()[:3] == [0, 0, 0]
        near = abs(found.effective_votes([0, 1, 2]) - 3 / (1 + 2 * 0.49)) < 0.25
        seen += [family, near, found.low[0] < 0.49 < found.high[0]]
    assert (seen >= [fewest(trials, 0.95), fewest(trials, 0.95), fewest(trials, 0.7)]).all()


@pytest.mark.chance
def test_the_independent_are_left_in_peace() -> None:
    """Of independent crowds of independent workers one in ten at most is warned about (one in twenty, nominally)."""
    trials = tries(400, 40)
    warned = sum(error_correlation(*labels(0.0, seed), 6).warned.any() for seed in seeds(trials))
    assert warned <= most(trials, 0.1)


def test_pairs_that_share_too_little_are_left_out() -> None:
    """Eight tasks in common tell nothing; a label twice is an error."""
    task, worker, wrong = labels(1.0, 0)
    assert error_correlation(task[:48], worker[:48], wrong[:48], 6).first.size == 0
    with pytest.raises(InputError, match="twice"):
        error_correlation([0, 0], [1, 1], [True, False], 2)
