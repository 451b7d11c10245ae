"""One contract for every backend, judged by recomputation alone: nothing counts because a solver says so."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest

from crowdopt.core.solution import Status
from crowdopt.solvers import registered
from crowdopt.testing.backend_contract import CASES, CLAIMS, ContractClaim, best_of
from tests.contract.accuracy import accuracy
from tests.contract.rows import BACKENDS, PROMISED, row
from tests.contract.silent import SILENT


@cache
def wholes(name: str) -> tuple[bool, bool]:
    """Whether some columns of a case are integer, and whether all are."""
    integer = CASES[name].build().integer
    return bool(integer.any()), bool(integer.all())


def suited(backend: str, name: str) -> bool:
    some, every = wholes(name)
    able = registered()[backend]
    return (able.integers or not some) and (able.continuous or every)


def claims() -> list[object]:
    """Every backend with every claim and case that it says it handles."""
    return [
        pytest.param(claim, backend, name, id=f"{backend}:{name}:{claim.says}")
        for claim in CLAIMS
        for backend in BACKENDS
        if registered()[backend].duals or not claim.needs_duals
        for name in claim.cases
        if suited(backend, name)
    ]


@pytest.mark.parametrize(("claim", "backend", "name"), claims())
def test_the_contract(claim: ContractClaim, backend: str, name: str) -> None:
    """What crowdopt.testing asks of any backend; a silent library may decide nothing, but then says so."""
    facts = row(backend, name)
    if (backend, name) in SILENT and facts["status"] in (Status.UNDECIDED.value, Status.FEASIBLE.value):
        pytest.skip(f"{backend} {SILENT[backend, name]}")
    claim.judge(facts, CASES[name], best_of(name), accuracy(backend))


@pytest.mark.parametrize("backend", PROMISED)
def test_the_promised_backends_are_here(backend: str) -> None:
    """They belong to the package's own dependencies (CBC, under PuLP 4, to the extra `test`)."""
    assert row(backend, "optimal")["status"] == Status.OPTIMAL.value


def test_importing_the_backends_loads_no_solver() -> None:
    """``import crowdopt`` has to be quick, and ortools and highspy cannot be loaded together."""
    libraries = sorted({backend.library for backend in registered().values()} | {"scipy.optimize", "scipy.stats"})
    code = (
        "import sys, json; from crowdopt.solvers import registered; registered();"
        f"print(json.dumps([name for name in {libraries!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
