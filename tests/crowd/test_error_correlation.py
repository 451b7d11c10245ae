"""Who errs together, from labels with known truth."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.crowd.error_correlation import error_correlation


def labels(tied: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six workers, 400 tasks; the first three copy a crib with probability ``tied``, all err with .2."""
    rng = np.random.default_rng(seed)
    wrong = rng.random((400, 6)) < 0.2
    crib, copies = rng.random(400) < 0.2, rng.random((400, 3)) < tied
    wrong[:, :3] = np.where(copies, crib[:, None], wrong[:, :3])
    task, worker = np.indices(wrong.shape)
    return task.ravel(), worker.ravel(), wrong.ravel()


def test_a_crib_is_found_and_its_users_suggested_as_a_family() -> None:
    """Copies with probability .7 correlate by .49; three such are worth about 1.5 votes."""
    found = error_correlation(*labels(0.7), 6)
    inside = (found.first < 3) & (found.second < 3)
    assert found.warned[inside].all() and found.family.tolist()[:3] == [0, 0, 0]
    assert ((found.low[inside] < 0.49) & (found.high[inside] > 0.49)).all()
    assert found.effective_votes([0, 1, 2]) == pytest.approx(3 / (1 + 2 * 0.49), abs=0.25)


def test_the_independent_are_left_in_peace() -> None:
    """Over 40 crowds of independent workers hardly any is warned about, and none of a pair that shares too little."""
    warned = [error_correlation(*labels(0.0, seed), 6).warned.any() for seed in range(40)]
    assert np.mean(warned) <= 0.15
    task, worker, wrong = labels(1.0)
    assert error_correlation(task[:48], worker[:48], wrong[:48], 6).first.size == 0
    with pytest.raises(InputError, match="twice"):
        error_correlation([0, 0], [1, 1], [True, False], 2)
