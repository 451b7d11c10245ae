"""The master over own sets: a mixture is never dearer than the best choice, which brute force knows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdopt import solve
from crowdopt.programs import own_sets
from crowdopt.programs.own_sets import KnownSets
from tests.programs.optima import optimum

DEAR = 100.0


def drawn(seed: int) -> tuple[KnownSets, np.ndarray, list[tuple[int, ...]]]:
    """Three sets of two workers for each of three tasks, of four workers."""
    rng = np.random.default_rng(seed)
    sets = [tuple(sorted(rng.choice(4, 2, replace=False).tolist())) for _ in range(9)]
    known = KnownSets(np.repeat(np.arange(3), 3), rng.uniform(1, 3, 9), 2 * np.arange(10), np.array(sets).reshape(-1))
    return known, rng.integers(1, 3, 4).astype(float), sets


def choices(known: KnownSets, room: np.ndarray, sets: list[tuple[int, ...]]):
    """What each choice of one set per task costs, what is over dearly."""
    for chosen in itertools.product(range(3), range(3, 6), range(6, 9)):
        load = np.bincount([j for s in chosen for j in sets[s]], minlength=4)
        yield known.cost[list(chosen)].sum() + DEAR * np.maximum(0.0, load - room).sum()


@pytest.mark.parametrize("seed", range(8))
def test_the_whole_master_is_the_best_choice(seed):
    """One set for each task, at what brute force says; shares of sets cost no more."""
    known, room, sets = drawn(seed)
    best = min(choices(known, room, sets))
    whole = own_sets.of_sets(known, room, np.zeros(4), np.inf, DEAR, True)
    assert whole.cost @ solve(whole).primal == pytest.approx(best)
    assert optimum(own_sets.of_sets(known, room, np.zeros(4), np.inf, DEAR, False)) <= best + 1e-9


def test_least_loads_and_money_count():
    """A least load that no set meets is dear by as much as is missing."""
    known, room, _ = drawn(0)
    free = optimum(own_sets.of_sets(known, room + 9, np.zeros(4), np.inf, DEAR, False))
    least = np.array([0.0, 0.0, 0.0, 5.0])
    assert optimum(own_sets.of_sets(known, room + 9, least, np.inf, DEAR, False)) >= free + 2 * DEAR - 1e-9
    assert solve(own_sets.of_sets(known, room + 9, np.zeros(4), free / 2, DEAR, False)).primal is None
