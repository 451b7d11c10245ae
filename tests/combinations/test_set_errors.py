"""The checker's exact errors against every answer that can be given."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.checkers import errors as set_errors
from tests.checkers.errors import Skills, error_bounds


def by_every_answer(skills: Skills, prior: np.ndarray) -> float:
    """The error of the best answer, each answer of each worker looked at."""
    total = 0.0
    for said in product(range(prior.size), repeat=len(skills)):
        chance = prior.copy()
        for label, p in zip(said, skills, strict=True):
            chance *= np.where(np.arange(prior.size) == label, p, (1 - p) / (prior.size - 1))
        total += float(chance.sum() - chance.max())
    return total


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_labels_of_equal_skill_may_be_counted_together(classes):
    """What was said, and not by whom, decides: tallies and all answers err the same."""
    rng = np.random.default_rng(classes)
    for labels in range(7 if classes < 4 else 6):
        skills = tuple(np.sort(rng.choice([0.2, 0.6, 0.75, 0.9], labels)).tolist())
        prior = rng.dirichlet(np.full(classes, 3.0))
        low, high = error_bounds(skills, prior)
        assert low <= by_every_answer(skills, prior) * (1 + 1e-9) and high >= by_every_answer(skills, prior) - 1e-12
        assert high - low <= 1e-12


def test_joined_outcomes_enclose_the_error(monkeypatch):
    """Whoever joins outcomes knows less, and errs at most ``exp(width)`` times as much (see ``error_bounds``)."""
    rng, prior = np.random.default_rng(5), np.array([0.4, 0.6])
    skills = tuple(np.sort(rng.uniform(0.55, 0.9, 12)).tolist())
    exact = error_bounds(skills, prior)[1]
    set_errors._half.cache_clear()
    monkeypatch.setattr(set_errors, "MOST", 8)
    monkeypatch.setattr(set_errors, "CELL", 0.3)
    low, high = error_bounds(skills, prior)
    set_errors._half.cache_clear()
    assert low < exact < high


def test_on_hard_tasks_the_vote_stays_as_it_was():
    """One worker errs with their own error on easy tasks and with what is left of their skill on hard ones."""
    low, high = error_bounds((0.9,), np.array([0.5, 0.5]), (0.2, 0.5))
    assert low == high == pytest.approx(0.8 * 0.1 + 0.2 * 0.3)
