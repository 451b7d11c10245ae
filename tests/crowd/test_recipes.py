"""Recipes: a name and a seed mean one instance."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import InputError, recipe


def test_the_same_seed_gives_the_same_instance():
    """Nothing but the seed decides: equal seeds agree, and drawn kinds differ between seeds."""
    for kind in ("HS", "U", "K3", "R10", "T7", "B5", "L3"):
        first, again, other = (recipe(f"{kind}:100x60", seed) for seed in (0, 0, 1))
        assert np.array_equal(first.accuracy, again.accuracy) and np.array_equal(first.capacity, again.capacity)
        assert np.array_equal(first.accuracy, other.accuracy) == (kind in ("U", "K3"))
        assert first.rule == "hoeffding" and (first.capacity <= 100).all()


def test_the_draws_come_in_the_stated_order():
    """R10: accuracies first, then capacities from floor(b/2) to floor(3b/2), then prices: so a name means one thing."""
    rng = np.random.default_rng(0)
    accuracy, mean = rng.uniform(0.5, 0.95, (10, 300)), 10.5 * 1000 / 300
    capacity = rng.integers(int(0.5 * mean), int(1.5 * mean) + 1, 300)
    prices = rng.integers(1, 6, 300)
    instance = recipe("R10:1000x300", 0, priced=True)
    assert np.array_equal(instance.accuracy, accuracy.round(10)) and np.array_equal(instance.capacity, capacity)
    assert np.array_equal(instance.cost[0], prices) and (instance.epsilon == 0.05).all()
    assert np.array_equal(instance.task_type, np.arange(1000) % 10)


def test_the_papers_crowds():
    """Ho et al. 2013, Section 6: 1000 tasks, 300 workers, capacity 200, epsilon .1."""
    hammers = recipe("HS:1000x300")
    assert sorted(set(hammers.accuracy[0])) == [0.5, 0.7] and (hammers.accuracy == 0.7).sum() == 150
    assert (hammers.capacity == 200).all() and (hammers.epsilon == 0.1).all()
    assert (recipe("U:1000x300").accuracy == 0.6414).all()
    assert (recipe("K3:1000x300").accuracy == 0.7).sum(axis=0).tolist() == [1] * 300


def test_unknown_recipes_say_what_there_is():
    """The sentence shows the form and the kinds."""
    for name in ("HS", "HS:10", "HS:0x5", "X:10x10", "K:10x10", "HS:10x10x10", "", "T0:9x9"):
        with pytest.raises(InputError, match="KIND:TASKSxWORKERS"):
            recipe(name)


def test_items_have_features():
    """I<k>: a row per task and always prices, the draws in the stated order, so that a name means one instance."""
    rng = np.random.default_rng(0)
    skill, difficulty = rng.normal(1.2, 0.6, 20), np.minimum(rng.normal(0.0, 0.8, 50), 1.5)
    loading = rng.normal(0.0, 0.3 / np.sqrt(2), (2, 20))
    cost = np.round(np.exp(rng.normal(0.0, 0.7, 20) + 0.5 * skill), 3)
    right = 1 / (1 + np.exp(-(skill - 0.7 * difficulty[:, None] + rng.normal(size=(50, 2)) @ loading)))
    instance = recipe("I2:50x20", 0)
    assert instance.accuracy == pytest.approx(np.clip(0.5 + 0.49 * right, 0.5, 0.99), abs=0.51e-10)
    assert np.array_equal(instance.cost[0], cost) and np.array_equal(instance.task_type, np.arange(50))
