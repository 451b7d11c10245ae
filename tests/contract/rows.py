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
ACCURACY = {  # what its optimum may be off by: relative to max(1, |optimum|) for values, absolute for rows
    "highs-pdlp": 1e-5,  # first order; stops at a relative gap of 1e-7 of scaled data
    "cvxpy-scs": 1e-5,  # first order; asked for residuals of 1e-8 of scaled data
    "cvxpy-osqp": 1e-4,  # first order; asked for residuals of 1e-6, which a box of FREE multiplies
    "ortools-pdlp": 1e-5,  # first order; asked for 1e-8 of the sides' norm
}
ACCURACY = dict.fromkeys(BACKENDS, 1e-6) | ACCURACY  # simplex and branch and bound
SAMPLE, MORE = range(2), range(2, 24)  # seeds of the small instances: a sample by default, the rest when asked for
Row = dict[str, Any]


BATCHES = (  # what runs in one process: the start of one costs more than a dozen cases
    (*CASES, *(f"agreement/{seed}" for seed in SAMPLE), "own-options"),
    tuple(f"agreement/{seed}" for seed in MORE),
)


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
    library = backend.partition("-")[0]  # backends whose names begin alike load the same
    facts = rows(tuple(name for name in BACKENDS if name.partition("-")[0] == library), batch)[f"{backend}:{case}"]
    if "missing" in facts and backend not in PROMISED:
        pytest.skip(facts["missing"])
    assert "missing" not in facts, facts["missing"]
    assert "error" not in facts, f"{backend}, {case}: {facts['error']}"
    return facts
