"""Which backends work here: tried on two tiny programs, each backend in a process of its own.

Several solver libraries do not get along in one process, and some are listed by a modelling library without being
usable: so none is believed to be there until it has solved something.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from crowdopt import isolated
from crowdopt.core.certificate import certify, lagrangian_bound
from crowdopt.core.program import Program, stack
from crowdopt.core.solution import Options
from crowdopt.notebooks import InNotebooks
from crowdopt.solvers import Backend, BackendMissing, named, solve_program

MEGABYTES = 4000.0  # that a library may take for two programs of two columns
LOOSE = 1e-3  # relative; enough to tell a working solver from a broken one, whatever its own accuracy


@dataclass(frozen=True)
class Available(InNotebooks):
    """What a backend can do here.

    ``linear`` and ``integers``: it solves linear programs, programs in integers; ``duals``: it gives the multipliers
    of linear programs, and they prove its optimum. ``why`` says what is wrong, or how to install it, if it does not
    work; empty if it does.
    """

    name: str
    library: str
    version: str | None
    works: bool
    linear: bool
    integers: bool
    duals: bool
    why: str


def probe(backend: Backend, seconds: float) -> Available:
    """Try one backend in a new process; its crash or its silence is an answer too."""
    with TemporaryDirectory(prefix="crowdopt-probe-") as scratch:
        folder = Path(scratch)
        (folder / "backend").write_text(backend.name, encoding="utf-8")
        try:
            return Available(**isolated.run(attempt_of, folder, seconds, MEGABYTES, loading=seconds)[0])
        except isolated.Failure as failure:
            words = f"it {failure}" if failure.kind in ("memory", "time", "crash") else f"{failure.kind}: {failure}"
            return _failed(backend, words)


def _failed(backend: Backend, why: str) -> Available:
    return Available(
        backend.name, backend.library, version_of_library(backend.library), False, False, False, False, why
    )


@cache
def version_of_library(library: str) -> str | None:
    """The version of the package that an import name comes from, found without importing it.

    Asked once: each answer reads the list of files of every package there is.
    """
    for package in packages_distributions().get(library, [library]):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return None


def tiny(integer: bool) -> Program:
    """``min 2a + 3b  s.t.  a + b >= 1.5,  a <= 1``: 3.5 at (1, 0.5), and 5 at (1, 1) in integers up to 4."""
    return Program(
        name="tiny",
        cost=np.array([2.0, 3.0]),
        matrix=sparse.csc_array(np.array([[1.0, 1.0], [1.0, 0.0]])),
        row_lower=np.array([1.5, -np.inf]),
        row_upper=np.array([np.inf, 1.0]),
        lower=np.zeros(2),
        upper=np.full(2, 4.0),
        integer=np.full(2, integer),
        columns=stack([("x", (2,))]),
        rows=stack([("need", (1,)), ("limit", (1,))]),
    )


def attempt(backend: Backend) -> Available:
    """Try a backend in this very process."""
    outcome: dict[str, Any] = {"linear": False, "integers": False, "duals": False}
    try:
        if backend.continuous:
            outcome.update(zip(("linear", "duals"), _solves(backend, False, 3.5), strict=True))
        if backend.integers:
            outcome["integers"] = _solves(backend, True, 5.0)[0]
    except BackendMissing as error:
        return _failed(backend, str(error))
    right = outcome["linear"] == backend.continuous and outcome["integers"] == backend.integers
    why = "" if right else "it does not solve the tiny programs that it is tried on"
    return Available(
        backend.name, backend.library, version_of_library(backend.library), works=right, why=why, **outcome
    )


def _solves(backend: Backend, integer: bool, optimum: float) -> tuple[bool, bool]:
    program = tiny(integer)
    solution = solve_program(program, backend.name, Options(time_limit=20.0), isolated=False)
    found = certify(solution)
    solved = found.value is not None and found.is_feasible(LOOSE) and abs(found.value - optimum) <= LOOSE * optimum
    dual = solution.dual
    return solved, dual is not None and lagrangian_bound(program, dual) >= optimum * (1 - LOOSE)


def attempt_of(folder: Path) -> dict[str, Any]:
    """Try the backend that the folder names."""
    return asdict(attempt(named((folder / "backend").read_text(encoding="utf-8"))))
