"""A search tells of its points and bounds on the way, and what it tells is true."""

from __future__ import annotations

import pytest

import crowdopt
from crowdopt import BackendMissing, Options, solve_program
from crowdopt.core.solution import Progress
from crowdopt.programs import assignment
from tests.sampled import first_of

OPTIMUM = 105.0


@pytest.mark.parametrize("backend", first_of(["highs", "scip", "ortools-cpsat"], 2))
def test_moments_close_in_on_the_optimum(backend: str) -> None:
    """Points never below the optimum, bounds never above it, and at least one of either, so that a gap can be drawn."""
    program = assignment.build(crowdopt.recipe("L3:12x10", priced=True))
    moments: list[Progress] = []
    try:
        solve_program(program, backend, Options(time_limit=20.0), moments.append, isolated=True)
    except BackendMissing as missing:
        pytest.skip(str(missing))
    values = [moment.value for moment in moments if moment.value is not None]
    bounds = [moment.bound for moment in moments if moment.bound is not None]
    assert values and min(values) == pytest.approx(OPTIMUM) and min(values) >= OPTIMUM - 1e-6
    assert bounds and max(bounds) <= OPTIMUM + 1e-6
    assert all(moment.seconds >= 0 for moment in moments)
