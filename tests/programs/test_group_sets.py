"""The master over sets under limits of groups: with every set in it, it is the LP over mixtures of sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdopt.programs import group_sets
from crowdopt.programs.group_sets import MasterRows
from tests.programs.optima import optimum


@pytest.mark.parametrize("seed", range(6))
def test_no_whole_choice_is_cheaper_than_the_master(seed: int) -> None:
    """Two kinds of tasks, three workers with capacities, a share: brute force over all ways to deal the sets."""
    rng = np.random.default_rng(seed)
    sets = np.array([a for a in itertools.product((0, 1), repeat=3) if sum(a) == 2])
    kind, count = np.repeat([0, 1], 3), np.vstack([sets, sets])
    cost, tasks = rng.integers(1, 5, 6).astype(float), np.array([2.0, 1.0])
    rows = MasterRows(np.vstack([np.eye(3), [0.5, -0.5, -0.5]]), np.full(4, -np.inf), np.array([2.0, 2, 2, -0.5]))
    program = group_sets.of_sets(rows, tasks, kind, count, cost, 100.0, np.full(4, 100.0))
    best = np.inf
    for chosen in itertools.product(range(3), range(3), range(3, 6)):
        use = rows.weight @ count[list(chosen)].sum(axis=0)
        best = min(best, cost[list(chosen)].sum() + 100 * np.maximum(0, use - rows.upper).sum())
    assert optimum(program) <= best + 1e-9
    free = group_sets.of_sets(rows, tasks, kind, count, cost, 100.0, np.zeros(4))
    assert optimum(free) == pytest.approx(2 * cost[:3].min() + cost[3:].min()), "rows that cost nothing do not bind"
