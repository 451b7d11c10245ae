"""Backends of third parties run in processes of their own: what they break or never end is not ours."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from crowdopt import (
    AssignmentInstance,
    BackendFailed,
    Options,
    certify,
    isolated,
    programs,
    relax,
    solve,
    solve_program,
)
from crowdopt import solvers as backends
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


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The package of a third party, on the path of this process and of its children."""
    points = "[crowdopt.solvers]\ntheirs = theirs:BACKENDS\n"
    monkeypatch.syspath_prepend(strangers.installed(tmp_path, "theirs", THEIRS, points))
    monkeypatch.setattr(isolated, "LOADING", 6.0)
    backends.registered.cache_clear()
    yield
    backends.registered.cache_clear()


def test_an_honest_one_is_as_good_as_ours():
    """Point, multipliers and moments come through unchanged."""
    moments = []
    program = programs.assignment.build(INSTANCE)
    theirs, ours = solve_program(program, "honest", listener=moments.append), solve_program(program, "highs")
    assert backends.named("honest").isolated and not backends.named("highs").isolated
    assert certify(theirs).value == certify(ours).value and theirs.status == ours.status
    linear = solve_program(relax(program), "honest")
    assert certify(linear).proves_optimal() and certify(linear).proof == "certificate"
    assert solve(INSTANCE, "honest").proven and solve(INSTANCE, "highs").proven  # not theirs of that name


def test_what_it_writes_into_is_its_own_copy():
    """The caller's program stays as it is, and so does what is certified."""
    program = programs.assignment.build(INSTANCE)
    before = program.matrix.data.copy(), program.cost.copy(), program.row_lower.copy()
    certificate = certify(solve_program(program, "writes"))
    assert all(
        (a == b).all() for a, b in zip(before, (program.matrix.data, program.cost, program.row_lower), strict=True)
    )
    assert certificate.value == certify(solve_program(program, "highs")).value


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("leaves", "status 0 and without an answer"),
        pytest.param("shouts", "SystemExit: 0", marks=pytest.mark.slow),
    ],
)
def test_whatever_ends_it_is_a_sentence(name, words):
    """No exit status and no silence of theirs becomes ours."""
    with pytest.raises(BackendFailed, match=words):
        solve(INSTANCE, name, time_limit=0.5, gap=0.0)


def test_a_solver_that_hangs_is_stopped_when_its_time_is_up(monkeypatch):
    """What loading may take is no part of it: half a second of solving ends long before thirty."""
    monkeypatch.setattr(isolated, "LOADING", 30.0)
    began = time.monotonic()
    with pytest.raises(BackendFailed, match=r"did not keep its time limit of 0.5 s"):
        solve_program(programs.assignment.build(INSTANCE), "hangs", Options(time_limit=0.5))
    assert time.monotonic() - began < 15


def test_memory_is_limited():
    """A process that takes more than it may is stopped."""
    with pytest.raises(BackendFailed, match="more than the 300 MB allowed"):
        solve_program(programs.assignment.build(INSTANCE), "eats", Options(time_limit=20, memory=300))
