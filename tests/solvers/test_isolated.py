"""Backends of third parties run in processes of their own: what they break or never end is not ours."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from crowdopt import AssignmentInstance, BackendFailed, Options, certify, isolated, relax, solve, solve_program
from crowdopt import solvers as backends
from crowdopt.programs import assignment
from tests import strangers

THEIRS = """
import os, sys, time
import numpy as np
from crowdopt.solvers import Backend, highs

def honest(program, options, listener):
    return highs.run("choose", program, options, listener)

def writes(program, options, listener):
    for array in (program.matrix.data, program.cost, program.row_lower, program.upper):
        array.setflags(write=True)
    truth = honest(program, options, listener)
    program.matrix.data[:] = 0.0
    program.cost[:] = 0.0
    program.row_lower[:] = -np.inf
    return truth

def leaves(program, options, listener):
    os._exit(0)

def hangs(program, options, listener):
    while True:
        time.sleep(1)

def eats(program, options, listener):
    held = []
    while True:
        held.append(bytearray(b"x" * 4_000_000))
        time.sleep(0.005)

def shouts(program, options, listener):
    print("optimal! optimal!")
    sys.exit(0)

BACKENDS = [
    Backend(run.__name__, "numpy", "pip install numpy", integers=True, duals=True, run=run)
    for run in (honest, writes, leaves, hangs, eats, shouts)
] + [Backend("highs", "numpy", "pip install numpy", integers=True, duals=True, run=leaves)]
"""
INSTANCE = AssignmentInstance(np.full((1, 8), 0.8), np.zeros(4, np.int64), np.full(8, 3), 0.2)
PROGRAM = assignment.build(INSTANCE)


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The package of a third party, on the path of this process and of its children."""
    points = "[crowdopt.solvers]\ntheirs = theirs:BACKENDS\n"
    monkeypatch.syspath_prepend(strangers.installed(tmp_path, "theirs", THEIRS, points))
    monkeypatch.setattr(isolated, "LOADING", 30.0)
    backends.registered.cache_clear()
    yield
    backends.registered.cache_clear()


def test_an_honest_one_is_as_good_as_ours():
    """Point and multipliers come through unchanged; a name of ours stays ours."""
    theirs, ours = solve(INSTANCE, "honest"), solve(INSTANCE, "highs")
    assert theirs.proven and ours.proven and theirs.objective == ours.objective
    assert backends.named("honest").isolated and not backends.named("highs").isolated
    linear = certify(solve_program(relax(PROGRAM), "honest"))
    assert linear.proves_optimal() and linear.proof == "certificate"


def test_what_it_writes_into_is_its_own_copy():
    """The caller's program stays as it is, and so does what is certified."""
    given = PROGRAM.matrix.data, PROGRAM.cost, PROGRAM.row_lower
    before = [values.copy() for values in given]
    certificate = certify(solve_program(PROGRAM, "writes"))
    assert all(map(np.array_equal, before, given))
    assert certificate.value == certify(solve_program(PROGRAM, "highs")).value


@pytest.mark.parametrize(
    ("name", "words", "limits"),
    [
        ("leaves", "status 0 and without an answer", {}),
        pytest.param("shouts", "SystemExit: 0", {}, marks=pytest.mark.slow),
        ("hangs", "did not keep its time limit of 0.5 s", {"time_limit": 0.5}),
        ("eats", "more than the 300 MB allowed", {"memory": 300}),
    ],
)
def test_whatever_ends_it_is_a_sentence(name, words, limits):
    """No exit status and no silence of theirs becomes ours; what hangs or takes more than it may is stopped.

    What loading may take, thirty seconds here, is no part of the time limit.
    """
    began = time.monotonic()
    with pytest.raises(BackendFailed, match=words):
        solve_program(PROGRAM, name, Options(**{"time_limit": 20.0, **limits}))
    assert name != "hangs" or time.monotonic() - began < 15
