"""``available`` and ``crowdopt backends``: tried, not guessed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crowdopt.solvers import available
from crowdopt.solvers.probe import Available
from tests.contract.rows import PROMISED
from tests.strangers import environment, installed
from tests.typed import run

BROKEN = """
import os
from crowdopt.solvers import Backend
BACKENDS = [
    Backend("crashing", "nothing", "pip install nothing", True, True, lambda *_: os.abort()),
    Backend("lying", "nothing", "pip install nothing", False, False, lambda *_: __import__("lies")),
]
"""


@pytest.mark.slow
def test_trying_loads_no_solver_here() -> None:
    """Two libraries that cannot be loaded together are tried by one call only if neither is loaded by it."""
    code = (
        "import sys; from crowdopt.solvers import available;"
        f"found = available({list(PROMISED)!r});"
        "assert all(one.works and one.why == '' for one in found), found;"
        "assert not {'highspy', 'pulp', 'cvxpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_each_says_what_it_handles() -> None:
    """Clarabel knows no integers, CBC and HiGHS do; the version is the library's."""
    found = {one.name: one for one in available(["highs", "cvxpy-clarabel"])}
    assert found["highs"].integers
    assert not found["cvxpy-clarabel"].integers
    assert all(one.linear and one.duals and one.version for one in found.values())


def test_a_crash_or_a_missing_library_is_a_sentence(tmp_path: Path) -> None:
    """A library may take its process down with it; it must not take ours."""
    env = environment(installed(tmp_path, "broken", BROKEN, "[crowdopt.solvers]\nbroken = broken:BACKENDS\n"))
    code = (
        "import json; from dataclasses import asdict; from crowdopt.solvers import available;"
        "print(json.dumps([asdict(one) for one in available(['crashing', 'lying'])]))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    crashing, lying = json.loads(done.stdout)
    assert not crashing["works"]
    assert "SIGABRT" in crashing["why"]
    assert not lying["works"]
    assert "lies" in lying["why"]


def test_the_verb_prints_a_table_and_json(monkeypatch) -> None:
    """One line a backend for people, one object for programs; missing libraries come with what to type."""
    there = Available("highs", "highspy", "1.0", True, True, True, True, "")
    missing = Available("scip", "pyscipopt", None, False, False, False, False, "pip install pyscipopt")
    monkeypatch.setattr("crowdopt.verbs.bench.available", lambda *_: [there, missing])
    said = run("backends")
    assert said.exit_code == 0
    assert "highs" in said.output
    assert "pip install pyscipopt" in said.output
    listed = json.loads(run("backends", "--json").output)["backends"]
    assert [one["name"] for one in listed] == ["highs", "scip"]
