"""``available`` and ``crowdopt backends``: tried, not guessed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crowdopt.solvers.probe import Available
from tests.strangers import environment, installed
from tests.typed import said

BROKEN = """
import os
from crowdopt.solvers import Backend
BACKENDS = [
    Backend("crashing", "nothing", "pip install nothing", True, True, lambda *_: os.abort()),
    Backend("lying", "nothing", "pip install nothing", False, False, lambda *_: __import__("lies")),
]
"""
TRIED = """
import json, sys
from dataclasses import asdict
from crowdopt.solvers import available, registered
print(json.dumps([asdict(one) for one in available(sys.argv[1:])]))
print(json.dumps([one.library for one in registered().values() if one.library in sys.modules]))
"""


def tried(*names: str, env: Any = os.environ) -> list[dict[str, Any]]:
    """What is told of each; the libraries of two may not be loaded together, so none is loaded by trying them."""
    done = subprocess.run([sys.executable, "-c", TRIED, *names], env=env, capture_output=True, text=True, check=True)
    found, loaded = map(json.loads, done.stdout.splitlines())
    assert loaded == []
    return found


def test_each_says_what_it_handles() -> None:
    """Clarabel knows no integers, HiGHS does; the version is the library's."""
    highs, clarabel = tried("highs", "cvxpy-clarabel")
    assert highs["integers"] and not clarabel["integers"]
    for one in (highs, clarabel):
        assert one["works"] and one["linear"] and one["duals"] and one["version"] and one["why"] == ""


def test_a_crash_or_a_missing_library_is_a_sentence(tmp_path: Path) -> None:
    """A library may take its process down with it; it must not take ours."""
    env = environment(installed(tmp_path, "broken", BROKEN, "[crowdopt.solvers]\nbroken = broken:BACKENDS\n"))
    crashing, lying = tried("crashing", "lying", env=env)
    assert not crashing["works"] and "SIGABRT" in crashing["why"]
    assert not lying["works"] and "lies" in lying["why"]


def test_the_verb_prints_a_table_and_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line a backend for people, one object for programs; missing libraries come with what to type."""
    there = Available("highs", "highspy", "1.0", True, True, True, True, "")
    missing = Available("scip", "pyscipopt", None, False, False, False, False, "pip install pyscipopt")
    monkeypatch.setattr("crowdopt.verbs.bench.available", lambda *_: [there, missing])
    assert "pip install pyscipopt" in said("backends")
    assert [one["name"] for one in json.loads(said("backends", "--json"))["backends"]] == ["highs", "scip"]
