"""The rows of every backend: a library's in one process of its own, started again behind a case that kills it."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from crowdopt.solvers import registered
from crowdopt.testing.backend_contract import CASES

ROOT = Path(__file__).parents[2]
PROMISED = ("highs", "pulp-cbc", "cvxpy-highs", "cvxpy-clarabel")  # these may not be missing
PATIENCE = 300  # seconds a backend for all its cases; only one that ignores its limits needs them
BACKENDS = tuple(registered())
SAMPLE, MORE = range(2), range(2, 24)  # seeds of the small instances: a sample by default, the rest when asked for
Row = dict[str, Any]


def seeded(part: str, seeds: range) -> tuple[str, ...]:
    """The names of a part's small instances: ``agreement/3``."""
    return tuple(f"{part}/{seed}" for seed in seeds)


BATCHES = (  # what runs in one process: the start of one costs more than a dozen cases
    (*CASES, *seeded("agreement", SAMPLE), *seeded("hiring", SAMPLE), "again/options"),
    (*seeded("agreement", MORE), *seeded("hiring", MORE)),
    ("hiring/full",),
)


def of_one_library(backend: str) -> tuple[str, ...]:
    """The backends beside it whose names begin alike, itself among them: they load the same library."""
    return tuple(name for name in BACKENDS if name.partition("-")[0] == backend.partition("-")[0])


@cache
def rows(backends: tuple[str, ...], batch: tuple[str, ...]) -> dict[str, Row]:
    """What the worker printed, by BACKEND:CASE; the one at which its process died has the reason for a row."""
    found: dict[str, Row] = {}
    while waiting := [key for name in backends for case in batch if (key := f"{name}:{case}") not in found]:
        printed, ending = _process(waiting, PATIENCE * len(backends))
        found |= printed
        if silent := [key for key in waiting if key not in printed]:
            found[silent[0]] = {"error": ending}
    return found


def _process(keys: list[str], patience: float) -> tuple[dict[str, Row], str]:
    """Run the cases in their order in one process: the rows it printed, and how it ended."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.contract.worker", *keys]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patience, check=False)
        text, ending = done.stdout, f"status {done.returncode}: {done.stderr[-2000:]}"
    except subprocess.TimeoutExpired as late:
        text = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        ending = f"still running after {patience} s"
    printed = [json.loads(line) for line in text.splitlines() if line.startswith('{"case"') and line.endswith("}")]
    return {row["case"]: row for row in printed}, ending


def row(backend: str, case: str) -> Row:
    """One row; skips where an optional library is missing, fails where a promised one is or where there is no row."""
    batch = next(batch for batch in BATCHES if case in batch)
    facts = rows(of_one_library(backend), batch)[f"{backend}:{case}"]
    if "missing" in facts and backend not in PROMISED:
        pytest.skip(facts["missing"])
    assert "missing" not in facts, facts["missing"]
    assert "error" not in facts, f"{backend}, {case}: {facts['error']}"
    return facts
