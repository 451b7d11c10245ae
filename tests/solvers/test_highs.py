"""What only HiGHS is asked: rays, limits, interrupts. The contract itself is tested for every backend at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np

from crowdopt import Options, Status, certify, recipe, solve_program
from crowdopt.programs import assignment
from tests.children import after_computing

SLOW_PROOF = "R1:20x30"  # incumbents at once, no proof for half a minute


def test_an_incumbent_at_the_limit_is_feasible_not_optimal():
    """Out of time with a point in hand: values only fell, bounds only rose, and no bound has passed a value."""
    heard = []
    solution = solve_program(
        assignment.build(recipe(SLOW_PROOF)), options=Options(time_limit=1.0), listener=heard.append
    )
    certificate = certify(solution)
    assert solution.status is Status.FEASIBLE and certificate.is_feasible()
    assert certificate.bound < certificate.value and certificate.proof == "solver"
    values = [moment.value for moment in heard if moment.value is not None]
    bounds = [moment.bound for moment in heard if moment.bound is not None]
    assert values and bounds
    assert values == sorted(values, reverse=True) and max(bounds) <= min(values) + 1e-6


def test_equal_seeds_and_nodes_give_equal_points():
    """A node limit, unlike seconds, does not depend on the machine."""
    program = assignment.build(recipe("R10:60x20"))
    first, second = (solve_program(program, options=Options(nodes=20, seed=3)) for _ in range(2))
    assert first.status is second.status and np.array_equal(first.primal, second.primal)
    assert first.claimed_bound == second.claimed_bound


INTERRUPTED = """
import crowdopt
from crowdopt.programs import assignment
from tests.children import after_computing
program = assignment.build(crowdopt.recipe("R1:20x30"))
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
