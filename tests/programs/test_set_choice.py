"""The master over sets of labels: with every set in it, it is the LP over mixtures of sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from crowdopt.programs import set_choice
from tests.programs.optima import optimum


@pytest.mark.parametrize("seed", range(6))
def test_no_whole_choice_is_cheaper_than_the_master(seed: int) -> None:
    """Two kinds of tasks, three workers with capacities, a share: brute force over all ways to deal the sets."""
    rng = np.random.default_rng(seed)
    pairs = np.array([a for a in itertools.product((0, 1), repeat=3) if sum(a) == 2])
    kind, count = np.repeat([0, 1], 3), np.vstack([pairs, pairs])
    cost, tasks = rng.integers(1, 5, 6).astype(float), np.array([2, 1])
    weight = np.vstack([np.eye(3), [0.5, -0.5, -0.5]])
    sides = np.full(4, -np.inf), np.array([2.0, 2, 2, -0.5])
    columns = set_choice.columns(2, kind, sparse.csc_array(weight @ count.T))
    program = set_choice.of_sets(sides, tasks, cost, columns, 100.0, (np.full(4, 100.0), np.full(4, 100.0)))
    best = np.inf
    for chosen in itertools.product(range(3), range(3), range(3, 6)):
        use = weight @ count[list(chosen)].sum(axis=0)
        best = min(best, cost[list(chosen)].sum() + 100 * np.maximum(0, use - sides[1]).sum())
    assert optimum(program) <= best + 1e-9
    free = set_choice.of_sets(sides, tasks, cost, columns, 100.0, (np.zeros(4), np.zeros(4)))
    assert optimum(free) == pytest.approx(2 * cost[:3].min() + cost[3:].min()), "rows that cost nothing do not bind"
