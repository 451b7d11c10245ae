"""Sessions: what is asked again is certified again, and equal to what a cold solve says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError, certify, relax
from crowdopt import solvers as backends
from crowdopt.core.solution import Status
from crowdopt.programs import assignment
from crowdopt.solvers.session import session


def test_chains_agree_with_cold_solves() -> None:
    """Random chains of changes: warm and cold certificates are equal, infeasible ends included.

    Hot starts may go wrong; what multipliers do not prove is solved again, so a session never does.
    """
    for seed in range(20):
        rng = np.random.default_rng(seed)
        program = assignment.build(crowdopt.recipe("R10:6x8" if seed % 2 else "R10:8x20", seed=seed % 7))
        program = program if seed % 5 == 0 else relax(program)
        asked = session(program, "highs" if seed % 5 == 0 else "highs-simplex")
        for _ in range(4):
            move = rng.integers(0, 3)
            if move == 0:
                asked.set_cost(rng.uniform(0.5, 3.0, program.cost.size))
            elif move == 1:
                scale = rng.choice([0.3, 0.8, 1.1], program.row_lower.size)
                asked.set_sides(lower=np.where(np.isfinite(program.row_lower), program.row_lower * scale, -np.inf))
            else:
                asked.set_bounds(upper=(rng.random(program.cost.size) < 0.9).astype(float))
            warm, cold = asked.solve(), crowdopt.solve_program(asked.program, asked.backend)
            assert warm.status is cold.status, seed
            mine, other = certify(warm), certify(cold)
            if other.value is not None:
                assert mine.value == pytest.approx(other.value, rel=1e-7, abs=1e-7), seed
                assert mine.bound == pytest.approx(other.bound, rel=1e-6, abs=1e-6), seed
        assert asked.builds == 1 and asked.solves == 4


def test_a_kind_of_side_that_is_new_is_built_again() -> None:
    """A row that had no upper side cannot get one by changing a number in CVXPY or PuLP: the count says so."""
    program = relax(assignment.build(crowdopt.recipe("R10:8x20", seed=0)))
    for backend in ("cvxpy-highs", "pulp-cbc"):
        asked = session(program, backend)
        asked.solve()
        asked.set_sides(upper=np.where(np.isinf(program.row_upper), 50.0, program.row_upper))
        assert certify(asked.solve()).proves_optimal(1e-6) and asked.builds == 2


def test_senseless_numbers_are_refused_and_crossed_sides_are_infeasible() -> None:
    """A wrong shape is a sentence; a lower side above its upper one has no point, and no library is asked."""
    program = relax(assignment.build(crowdopt.recipe("R10:8x20", seed=0)))
    asked = session(program)
    with pytest.raises(InputError, match="cost have shape"):
        asked.set_cost([1.0, 2.0])
    asked.set_bounds(lower=2.0)
    assert asked.solve().status is Status.INFEASIBLE
    asked.set_bounds(lower=0.0)
    assert certify(asked.solve()).proves_optimal()


def test_options_of_a_solver_s_own(tmp_path) -> None:
    """In the method's name; our own methods take none; a value of the wrong kind is a sentence."""
    instance = crowdopt.recipe("R10:10x20", seed=0)
    plan = crowdopt.solve(instance, "highs[presolve=off]")
    assert plan.proven and plan.objective == crowdopt.solve(instance, "highs[presolve=off,threads=2]").objective
    for method, sentence in (
        ("exact[presolve=off]", "our own"),
        ("highs[presolv=off]", "near ones are presolve"),
        ("highs[mip_max_nodes=few]", "is a number"),
        ("highs[presolve=off,presolve=on]", "given twice"),
        ("highs[presolve=off", "no backend with options"),
    ):
        with pytest.raises(InputError, match=sentence):
            crowdopt.solve(instance, method)


def test_an_interrupted_search_ends_the_caller(monkeypatch):
    """An answer that cannot say it was cut short must not be made of one that was."""
    program = relax(assignment.build(crowdopt.recipe("R1:10x20", seed=0)))
    found = backends.solve_program(program)
    assert (backends.solve_whole(program).primal == found.primal).all()
    monkeypatch.setattr(backends, "solve_program", lambda *_: replace(found, interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        backends.solve_whole(program)
