"""The rows of every backend, each made once, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from crowdopt.backends import registered

ROOT = Path(__file__).parents[2]
PROMISED = ("highs", "pulp-cbc", "cvxpy-highs", "cvxpy-clarabel")  # these may not be missing
PATIENCE = 300  # seconds for all the cases of one backend; only a backend that ignores its limits needs them
BACKENDS = tuple(registered())


@cache
def rows(backend: str, module: str = "tests.contract.worker", *arguments: str) -> dict[str, dict[str, Any]]:
    """What the worker printed for a backend, by case; fewer rows if its process died."""
    command = [sys.executable, "-W", "ignore", "-m", module, backend, *arguments]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
        said, last = done.stdout, f"status {done.returncode}: {done.stderr[-2000:]}"
    except subprocess.TimeoutExpired as late:
        said = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        last = f"still running after {PATIENCE} s"
    found = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return {row["case"]: row for row in found} | {"end": {"error": last}}


def row(backend: str, case: str, module: str = "tests.contract.worker", *arguments: str) -> dict[str, Any]:
    """One row; skips where an optional library is missing, fails where a promised one is or where there is no row."""
    found = rows(backend, module, *arguments)
    facts = found.get(case, found["end"])
    if "missing" in facts and backend not in PROMISED:
        pytest.skip(facts["missing"])
    assert "missing" not in facts, facts["missing"]
    assert "error" not in facts, f"{backend}, {case}: {facts['error']}"
    return facts
