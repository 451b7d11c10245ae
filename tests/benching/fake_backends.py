"""Backends that misbehave, each in its own way; on the tiny program of the warm-up they just give up."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from crowdopt.core.solution import Solution, Status
from crowdopt.solvers import Backend

EATER = "import time\nheld = []\nwhile True:\n    held.append(bytearray(b'x' * 4_000_000))\n    time.sleep(0.001)\n"


def claim(program, status, point, bound=None):
    return Solution(program, "fake", status, point, None, None, bound, 0.0, "fake")


def lies(program, options, listener):
    return claim(program, Status.OPTIMAL, np.zeros(program.cost.size), 0.0)


def shortens(program, options, listener):
    return claim(program, Status.OPTIMAL, np.zeros(1))


def raises(program, options, listener):
    raise ArithmeticError("the matrix is too beautiful")


def crashes(program, options, listener):
    os.abort()


def spins(program, options, listener):
    """With a child that would outlive it."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
    while True:
        pass


def breeds(program, options, listener):
    """Its children eat; it holds nothing itself."""
    for eater in [subprocess.Popen([sys.executable, "-c", EATER]) for _ in range(2)]:
        eater.wait()


def make(name, run):
    def on_real_programs(program, options, listener):
        return claim(program, Status.UNDECIDED, None) if program.name == "tiny" else run(program, options, listener)

    return Backend(f"fake-{name}", "numpy", "nothing", integers=True, duals=False, run=on_real_programs)


FAKES = (lies, shortens, raises, crashes, spins, breeds)
BACKENDS = [make(run.__name__, run) for run in FAKES]
