"""Whatever a backend does, its row says so; an honest one's row says what is proven."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import cache

import psutil
import pytest

from crowdopt.benching import measure as measuring
from crowdopt.benching.measure import measure

PROBLEM = "R10:10x20"  # its optimum is 69; with all 200 labels every task has its evidence
LIMITS = 2.0, 300.0, 1  # seconds, megabytes, threads
SOON = 0.5, 300.0, 1  # for those that only the end of their time stops


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(measuring, "GRACE", 0.5)


@cache
def row(method: str, program: str = "ip", problem: str = PROBLEM, limits: tuple = LIMITS) -> dict:
    return measure({}, problem, program, 0, method, *limits)


@pytest.mark.parametrize(
    ("fake", "outcome", "said"),
    [
        pytest.param("lies", "wrong", "breaks a row by", marks=pytest.mark.slow),
        ("raises", "failed", "ArithmeticError: the matrix is too beautiful"),
        ("crashes", "crashed", "was ended by SIGABRT and without an answer: Fatal Python error"),
        ("spins", "out of time", "did not keep its time limit of 0.5 s"),
        ("shortens", "wrong", "a point of shape (1,) for a program that needs (200,)"),
        pytest.param("breeds", "out of memory", "more than the 300 MB allowed", marks=pytest.mark.slow),
    ],
)
def test_each_misbehaviour_is_caught_and_named(fakes, fake, outcome, said):
    """Caught from outside or by recomputing; never the end of the benchmark.

    How far an eater gets before it is killed is a question of speed.
    """
    found = row(f"fake-{fake}", limits=SOON if outcome == "out of time" else LIMITS)
    assert (found["outcome"], said in found["why"]) == (outcome, True), found["why"]
    assert (found["megabytes"] > LIMITS[1]) == (outcome == "out of memory")
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("method", "program", "value"),
    [("highs-ipm", "lp", 64.16448486741893), pytest.param("exact", "ip", 69, marks=pytest.mark.slow)],
)
def test_honest_rows(method, program, value):
    """Recomputed value and bound meet; its seconds and its memory are its own."""
    found = row(method, program, limits=(20.0, 2000.0, 1))
    assert found["outcome"] in ("proven", "vouched") and found["gap"] <= 1e-6
    assert found["value"] == pytest.approx(value)
    assert 0 < found["seconds"] < 20 and found["megabytes"] > 20


def test_what_no_backend_can_is_refused_and_an_infeasible_program_proven_so():
    """A row, not an error; the certificate is Farkas' and is checked here."""
    found = row("highs-ipm", "ip")
    assert found["outcome"] == "refused" and "linear programs only" in found["why"]
    found = row("highs", "lp", "B5:50x20")
    assert (found["outcome"], found["proof"], found["why"]) == ("infeasible", "certificate", "")


def test_a_subject_dies_with_the_harness(fakes, tmp_path):
    """Kill -9 on the watcher leaves no solver running, however deaf it is."""
    measured = f"measure({{}}, {PROBLEM!r}, 'ip', 0, 'fake-spins', 60, 300, 1)"
    code = f"from crowdopt.benching.measure import measure; {measured}"
    with subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}) as harness:
        wait_for(lambda: any(tmp_path.glob("*/working")))
        solving = wait_for(lambda: psutil.Process(harness.pid).children(recursive=True))
        harness.send_signal(signal.SIGKILL)
    wait_for(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in solving[:1]))
    for orphan in solving:
        orphan.kill() if orphan.is_running() else None


def wait_for(look, seconds: float = 60.0):
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found
