"""Every MILP backend hires the best allowed set: by looking at all sets, and at the paper's full size by the proof."""

from __future__ import annotations

from functools import cache

import pytest

from crowdopt.core.solution import Status
from crowdopt.hire.ranking import ranked
from crowdopt.solvers import registered
from tests.contract.accuracy import accuracy
from tests.contract.hiring import full, small
from tests.contract.rows import BACKENDS, MORE, SAMPLE, row
from tests.selections import best_sets

SEARCHING = [name for name in BACKENDS if registered()[name].integers and registered()[name].continuous]


@cache
def truth(seed: int) -> float | None:
    """The best score of all allowed sets; None where there is none."""
    best, _ = best_sets(small(seed))
    return None if best is None else float(abs(best)) ** 0.5 * (1 if best >= 0 else -1)


def search_agrees(backend: str, seeds: range) -> None:
    for seed in seeds:
        facts, best = row(backend, f"hiring/{seed}"), truth(seed)
        if best is None:
            assert facts["status"] == Status.INFEASIBLE.value, seed
        else:
            assert facts["score"] == pytest.approx(best, abs=accuracy(backend)), seed


@pytest.mark.parametrize("backend", SEARCHING)
def test_a_search_finds_the_best_allowed_set(backend: str) -> None:
    """Money, required and barred workers, groups; infeasible ones are said to be."""
    search_agrees(backend, SAMPLE)


@pytest.mark.slow
@pytest.mark.parametrize("backend", SEARCHING)
def test_a_search_finds_the_best_allowed_set_of_all(backend: str) -> None:
    """As above, on the other instances."""
    search_agrees(backend, MORE)


@pytest.mark.long
@pytest.mark.parametrize("backend", SEARCHING)
def test_algorithm_1_and_the_program_agree_on_300_workers(backend: str) -> None:
    """The search's set scores what Algorithm 1's does, whose proof bounds all; and the search claims no more."""
    facts = row(backend, "hiring/full")
    found = ranked(full())
    assert found.proven
    assert facts["claim"] == Status.OPTIMAL.value
    assert facts["value"] == pytest.approx(found.score, rel=accuracy(backend))
    assert facts["bound"] >= found.score * (1 - accuracy(backend))
    assert sorted(facts["workers"]) == sorted(found.workers.tolist())
