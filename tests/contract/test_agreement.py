"""Every backend finds what enumeration finds on small assignments with prices, limits and forbidden pairs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from crowdopt.core.program import Program
from crowdopt.programs import assignment
from crowdopt.solvers import registered
from tests.contract.accuracy import accuracy
from tests.contract.agreement import instance
from tests.contract.rows import BACKENDS, MORE, SAMPLE, row

SEARCHING = [name for name in BACKENDS if registered()[name].integers]
PRICING = [name for name in BACKENDS if registered()[name].continuous and registered()[name].duals]
UNDECIDED = 0.1  # share of instances on which a first-order method may come to no end
SLACK = 1e-9  # what an enumerated point may lack, as everywhere


@cache
def brute_force(seed: int) -> float:
    """The least cost of all 0-1 points that keep every row and the box; infinity if none does."""
    program: Program = assignment.build(instance(seed))
    points = (np.arange(2**program.cost.size)[:, None] >> np.arange(program.cost.size)) & 1
    activity = points @ program.matrix.toarray().T
    kept = (activity >= program.row_lower - SLACK).all(1) & (activity <= program.row_upper + SLACK).all(1)
    kept &= (points >= program.lower).all(1) & (points <= program.upper).all(1)
    return float((points[kept] @ program.cost).min(initial=np.inf))


def search_agrees(backend: str, seeds: range) -> None:
    for seed in seeds:
        found = row(backend, f"agreement/{seed}")["integer"]
        best = brute_force(seed)
        if best == np.inf:
            assert found["status"] == "infeasible", (seed, found)
            continue
        assert found["status"] == "optimal", (seed, found)
        assert found["feasible"], (seed, found)
        assert found["value"] == pytest.approx(best, rel=1e-6), (seed, found)
        assert found["bound"] == pytest.approx(best, rel=1e-6), (seed, found)


def prices_agree(backend: str, seeds: range) -> None:
    silent = 0
    for seed in seeds:
        found = row(backend, f"agreement/{seed}")["linear"]
        margin = accuracy(backend)
        if found["status"] == "infeasible":
            assert brute_force(seed) == np.inf, (seed, found)
        elif found["status"] != "optimal":
            silent += 1
        else:
            scale = max(1.0, abs(found["value"]))
            assert found["violation"] <= margin, (seed, found)
            assert abs(found["value"] - found["bound"]) <= margin * scale, (seed, found)
            assert found["bound"] <= brute_force(seed) + margin * scale, (seed, found)
    assert silent <= (UNDECIDED * len(seeds) if margin > 1e-6 else 0)


@pytest.mark.parametrize("backend", SEARCHING)
def test_every_search_proves_what_enumeration_finds(backend: str) -> None:
    """The optimum is unique as a value: a backend that proves another one, or none, is wrong."""
    search_agrees(backend, SAMPLE)


@pytest.mark.parametrize("backend", PRICING)
def test_every_linear_optimum_is_proven_by_its_own_multipliers(backend: str) -> None:
    """Weak duality: value and Lagrangian bound enclose the optimum, and neither exceeds the best whole plan."""
    prices_agree(backend, SAMPLE)


@pytest.mark.slow
@pytest.mark.parametrize("backend", SEARCHING)
def test_every_search_proves_what_enumeration_finds_on_all(backend: str) -> None:
    """As above, on the other instances."""
    search_agrees(backend, MORE)


@pytest.mark.slow
@pytest.mark.parametrize("backend", PRICING)
def test_every_linear_optimum_is_proven_on_all(backend: str) -> None:
    """As above, on the other instances."""
    prices_agree(backend, MORE)
