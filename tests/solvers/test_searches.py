"""What a search takes and tells: options of its own, seeds and nodes, moments on the way, an interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import BackendMissing, InputError, Options, relax, solve_program
from crowdopt import solvers as backends
from crowdopt.core.solution import Progress
from crowdopt.programs import assignment
from tests.children import after_computing
from tests.sampled import first_of

OPTIMUM = 105.0


@pytest.mark.parametrize("backend", first_of(["highs", "scip", "ortools-cpsat"], 2))
def test_moments_close_in_on_the_optimum(backend: str) -> None:
    """Points fall, never below the optimum, bounds rise, never above it; at least one of either, to draw a gap."""
    program = assignment.build(crowdopt.recipe("L3:12x10", priced=True))
    moments: list[Progress] = []
    try:
        solve_program(program, backend, Options(time_limit=20.0), moments.append, isolated=True)
    except BackendMissing as missing:
        pytest.skip(str(missing))
    values = [moment.value for moment in moments if moment.value is not None]
    bounds = [moment.bound for moment in moments if moment.bound is not None]
    assert values[-1] == pytest.approx(OPTIMUM) and values[-1] >= OPTIMUM - 1e-6
    assert values == sorted(values, reverse=True)
    assert bounds and max(bounds) <= OPTIMUM + 1e-6
    assert all(moment.seconds >= 0 for moment in moments)


def test_equal_seeds_and_nodes_give_equal_points():
    """A node limit, unlike seconds, does not depend on the machine."""
    program = assignment.build(crowdopt.recipe("R10:60x20"))
    first, second = (solve_program(program, options=Options(nodes=20, seed=3)) for _ in range(2))
    assert first.status is second.status and np.array_equal(first.primal, second.primal)
    assert first.claimed_bound == second.claimed_bound


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


INTERRUPTED = """
import crowdopt
from crowdopt.programs import assignment
program = assignment.build(crowdopt.recipe("R1:20x30"))  # incumbents at once, no proof for half a minute
print("ready", flush=True)
solution = crowdopt.solve_program(program, options=crowdopt.Options(time_limit=60))
print(solution.interrupted, solution.status.value, crowdopt.certify(solution).is_feasible())
"""


def test_ctrl_c_keeps_the_best_point():
    """SIGINT after a second of search ends the search; the incumbent is kept and is feasible."""
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert child.stdout is not None and child.stdout.readline().strip() == "ready"
    after_computing(child, 1.0)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=40)[0].split()
    assert said == ["True", "feasible", "True"] and child.returncode == 0


def test_an_interrupted_search_ends_the_caller(monkeypatch):
    """An answer that cannot say it was cut short must not be made of one that was."""
    program = relax(assignment.build(crowdopt.recipe("R1:10x20", seed=0)))
    found = backends.solve_program(program)
    assert (backends.solve_whole(program).primal == found.primal).all()
    monkeypatch.setattr(backends, "solve_program", lambda *_: replace(found, interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        backends.solve_whole(program)
