"""Whatever is drawn together has a plan, and the checker sees when it is damaged; its errors, by every answer."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.checkers import errors
from tests.checkers.errors import error_bounds
from tests.checkers.plans import broken, promised, table
from tests.draw import RULES, WISHES, _drawn, clash, planned
from tests.sampled import first_of

SIZES = [(3, 5, 12), (40, 15, 8), (300, 25, 10), (3000, 800, 2)]


@pytest.mark.parametrize(("tasks", "workers", "count"), first_of(SIZES, 2))
def test_the_hidden_plan_holds_and_a_damaged_one_is_seen(tasks, workers, count):
    """A target just below what a task's labels keep, a worker without room, a label twice, one less where needed."""
    for seed in range(count):
        drawn = planned(seed, tasks, workers)
        one, plan, every = drawn.instance, drawn.plan, np.arange(tasks)
        assert plan is not None and not broken(one, plan), seed
        load = np.bincount(plan[:, 1], minlength=workers)
        full = replace(one, min_load=None, fixed=None, capacity=np.where(load == load.max(), load - 1, one.capacity))
        assert any(said.startswith("capacity of") for said in broken(full, plan)), seed
        kept = promised(one, every, table(one, plan) | table(one, one.collected))
        strict = replace(one, epsilon=np.clip(kept - 1e-9, 1e-12, one.epsilon))
        assert (kept < 1e-9).any() or any(said.startswith("target") for said in broken(strict, plan)), seed
        assert "a pair twice" in broken(one, np.concatenate([plan, plan[:1]])), seed
        fewer = promised(one, every, table(one, plan[1:]) | table(one, one.collected))
        assert (fewer >= kept - 1e-9).all(), seed
        needed = fewer[plan[0, 0]] > one.epsilon[plan[0, 0]]
        assert not needed or any(said.startswith("target") for said in broken(one, plan[1:])), seed


def test_every_wish_is_drawn_and_none_with_what_it_clashes_with():
    """Whoever adds a wish sees it drawn."""
    asked = [_drawn(np.random.default_rng(seed), "three") for seed in range(120)]
    assert set().union(*asked) == {*RULES, *WISHES} and not any(map(clash, asked))


def by_every_answer(skills: errors.Skills, prior: np.ndarray) -> float:
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
        assert error_bounds(skills, prior) == pytest.approx([by_every_answer(skills, prior)] * 2, rel=1e-9, abs=1e-12)


def test_joined_outcomes_enclose_the_error(monkeypatch):
    """Whoever joins outcomes knows less, and errs at most ``exp(width)`` times as much (see ``error_bounds``)."""
    rng, prior = np.random.default_rng(5), np.array([0.4, 0.6])
    skills = tuple(np.sort(rng.uniform(0.55, 0.9, 12)).tolist())
    exact = error_bounds(skills, prior)[1]
    errors._half.cache_clear()
    monkeypatch.setattr(errors, "MOST", 8)
    monkeypatch.setattr(errors, "CELL", 0.3)
    low, high = error_bounds(skills, prior)
    errors._half.cache_clear()
    assert low < exact < high


def test_on_hard_tasks_the_vote_stays_as_it_was():
    """One worker errs with their own error on easy tasks and with what is left of their skill on hard ones."""
    low, high = error_bounds((0.9,), np.array([0.5, 0.5]), (0.2, 0.5))
    assert low == high == pytest.approx(0.8 * 0.1 + 0.2 * 0.3)
