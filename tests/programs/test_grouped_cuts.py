"""The model of the bound: above the bound at any prices in its box, and equal to it where a line was drawn."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.programs import grouped_cuts
from crowdopt.programs.grouped_cuts import Box
from tests.programs.optima import optimum

SETS = [np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), np.array([[1, 0, 0], [0, 0, 1]])]  # of two tasks, one a group
PAID = [np.array([2.0, 2.5, 3.0]), np.array([1.0, 1.5])]
ROOM, LEAST = np.array([1.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0])


def bound(price: np.ndarray, lift: float) -> float:
    """Each task its cheapest set."""
    worker = price - np.array([0.0, 0.0, lift])
    tasks = sum((paid + sets @ worker).min() for sets, paid in zip(SETS, PAID, strict=True))
    return float(tasks - ROOM @ price + LEAST[2] * lift)


def model(sets: list[tuple[int, int]], price: np.ndarray, lift: float, radius: float) -> float:
    """The model's optimum with the lines of some sets, in a box around a point."""
    load = np.array([SETS[g][k] for g, k in sets], float)
    paid = np.array([PAID[g][k] for g, k in sets])
    group, last = np.array([g for g, _ in sets]), np.array([0.0, 0.0, 1.0])
    low, high = np.maximum(0.0, price - radius), price + radius
    lifts = np.maximum(0.0, lift - radius) * last, (lift + radius) * last
    box = Box(low, high, *lifts, (0.0, 0.0))
    return -optimum(grouped_cuts.of_lines(load, paid, group, ROOM, LEAST, 0.0, box))


@pytest.mark.parametrize("seed", range(5))
def test_all_lines_are_the_bound_itself(seed):
    """With a line for every set, and a box that is a point, the model says what the bound is there."""
    rng = np.random.default_rng(seed)
    price, lift = rng.uniform(0, 1, 3), float(rng.uniform(0, 1))
    every = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert model(every, price, lift, 0.0) == pytest.approx(bound(price, lift))


def test_fewer_lines_promise_more():
    """A model with fewer lines is never lower, and in a wider box its optimum is never lower."""
    price = np.array([0.3, 0.1, 0.2])
    few, every = [(0, 0), (1, 0)], [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert model(few, price, 0.1, 0.2) >= model(every, price, 0.1, 0.2) >= bound(price, 0.1)
    assert model(every, price, 0.1, 0.4) >= model(every, price, 0.1, 0.2)
