"""Options of a solver's own, and a search that was cut short."""

from __future__ import annotations

from dataclasses import replace

import pytest

import crowdopt
from crowdopt import InputError, relax
from crowdopt import solvers as backends
from crowdopt.programs import assignment


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
