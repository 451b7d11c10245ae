"""The nested master: each set serves any task of its row that needs no more, which brute force knows too."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdopt import solve
from crowdopt.programs import nested_sets
from crowdopt.programs.own_sets import KnownSets
from tests.programs.optima import optimum

DEAR = 100.0
ROW, COUNT = np.array([0, 0, 1]), np.array([1, 1, 2])  # two levels of one row, one of another


def drawn(seed: int) -> tuple[KnownSets, np.ndarray, list[tuple[int, ...]]]:
    """Two sets of two workers for each of three levels, of four workers."""
    rng = np.random.default_rng(seed)
    sets = [tuple(sorted(rng.choice(4, 2, replace=False).tolist())) for _ in range(6)]
    known = KnownSets(np.repeat(np.arange(3), 2), rng.uniform(1, 3, 6), 2 * np.arange(7), np.array(sets).reshape(-1))
    return known, rng.integers(1, 4, 4).astype(float), sets


def choices(known: KnownSets, room: np.ndarray, sets: list[tuple[int, ...]]):
    """What each choice costs, a set or none for each of the four tasks; sets of a higher level serve a lower one."""
    low, high, other = (-1, 0, 1, 2, 3), (-1, 2, 3), (-1, 4, 5)
    for chosen in itertools.product(low, high, other, other):
        some = [s for s in chosen if s >= 0]
        load = np.bincount([j for s in some for j in sets[s]], minlength=4)
        if (load <= room).all():
            yield known.cost[some].sum() + DEAR * (4 - len(some))


@pytest.mark.parametrize("seed", range(8))
def test_the_whole_master_is_the_best_choice(seed):
    """A set for each task, at what brute force says; shares of sets cost no more.

    ``without`` counts at the highest level: a task below it that has no set is the same, because sets move down.
    """
    known, room, sets = drawn(seed)
    best = min(choices(known, room, sets))
    whole = nested_sets.of_sets(known, ROW, COUNT, room, DEAR, True)
    assert whole.cost @ solve(whole).primal == pytest.approx(best)
    assert optimum(nested_sets.of_sets(known, ROW, COUNT, room, DEAR, False)) <= best + 1e-9
