"""What only HiGHS is asked: rays, limits, interrupts. The contract itself is tested for every backend at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from crowdopt import Options, Status, certify, recipe, relax, solve
from crowdopt.backends import BackendMissing
from crowdopt.programs import assignment
from tests.children import after_computing

HARD = "R10:200x60"  # no general solver proves it within a minute
SLOW_PROOF = "R1:20x30"  # incumbents at once, no proof for half a minute


def test_no_time_gives_no_point():
    """At a limit too short for any incumbent HiGHS' arrays are zeros: they must not come out as a plan."""
    solution = solve(assignment.build(recipe(HARD)), options=Options(time_limit=0.02))
    assert solution.status is Status.UNDECIDED
    assert solution.primal is None and solution.dual is None and solution.claimed_bound is None


@pytest.fixture(scope="module")
def stopped():
    """A search that ends at its limit, and all that its listener heard."""
    heard = []
    solution = solve(assignment.build(recipe(SLOW_PROOF)), options=Options(time_limit=2.0), listener=heard.append)
    return solution, heard


def test_an_incumbent_at_the_limit_is_feasible_not_optimal(stopped):
    """Out of time with a point in hand: the point is a point, and the bound is below it."""
    solution, _ = stopped
    certificate = certify(solution)
    assert solution.status is Status.FEASIBLE and certificate.is_feasible()
    assert certificate.bound < certificate.value and certificate.proof == "solver"


@pytest.mark.parametrize("backend", ["highs", "highs-simplex", "highs-ipm"])
def test_exact_lp_solvers_certify_their_optimum(backend):
    """Multipliers come back in our sign: the Lagrangian bound from them meets the value, to the last digits."""
    solution = solve(relax(assignment.build(recipe("R10:60x20"))), backend)
    certificate = certify(solution)
    assert solution.status is Status.OPTIMAL and certificate.proof == "certificate"
    assert certificate.proves_optimal(1e-9)


@pytest.mark.parametrize("backend", ["highs", "highs-simplex", "highs-ipm"])
def test_infeasibility_comes_with_a_ray(backend):
    """B5 at 50 x 20 has no plan, not even of shares: the multipliers that come back prove it."""
    certificate = certify(solve(relax(assignment.build(recipe("B5:50x20"))), backend))
    assert certificate.proves_infeasible()


def test_equal_seeds_and_nodes_give_equal_points():
    """A node limit, unlike seconds, does not depend on the machine."""
    program = assignment.build(recipe("R10:60x20"))
    first, second = (solve(program, options=Options(nodes=20, seed=3)) for _ in range(2))
    assert first.status is second.status and np.array_equal(first.primal, second.primal)
    assert first.claimed_bound == second.claimed_bound


def test_a_listener_hears_incumbents_and_bounds(stopped):
    """Values only fall, bounds only rise, and no bound passes a value."""
    _, heard = stopped
    values = [moment.value for moment in heard if moment.value is not None]
    bounds = [moment.bound for moment in heard if moment.bound is not None]
    assert values and bounds
    assert values == sorted(values, reverse=True) and max(bounds) <= min(values) + 1e-6


def test_integers_are_refused_by_an_lp_solver():
    """highs-ipm would silently drop integrality: it says so instead."""
    with pytest.raises(BackendMissing, match="linear programs only"):
        solve(assignment.build(recipe("R10:60x20")), "highs-ipm")


INTERRUPTED = """
import crowdopt
from crowdopt.programs import assignment
from tests.children import after_computing
program = assignment.build(crowdopt.recipe("R1:20x30"))
print("ready", flush=True)
solution = crowdopt.solve(program, options=crowdopt.Options(time_limit=60))
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
