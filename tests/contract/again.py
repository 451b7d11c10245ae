"""One backend with an option of its own, and with one that it does not have."""

from __future__ import annotations

from typing import Any

from crowdopt.core.certificate import certify
from crowdopt.core.solution import Options
from crowdopt.errors import InputError
from crowdopt.solvers import BackendMissing, named, solve_program
from crowdopt.solvers.probe import tiny

HARMLESS = {  # an option that each library has, by the end of the backend's name
    "highs": "presolve=off",
    "simplex": "presolve=off",
    "ipm": "presolve=off",
    "highs-pdlp": "presolve=off",
    "cbc": "cuts=off",
    "clarabel": "max_iter=500",
    "scs": "max_iters=1000000",
    "osqp": "rho=0.2",
    "scipy": "presolve=true",
    "scip": "limits/solutions=-1",
    "gurobi": "Presolve=0",
    "glop": "use_dual_simplex=true",
    "ortools-pdlp": "termination_criteria.iteration_limit=1000000",
    "cpsat": "cp_model_presolve=false",
}
LIMIT = Options(time_limit=20.0)


def options(backend: str) -> dict[str, Any]:
    """What a harmless option does to the optimum, and what is said of one that the library does not have."""
    program = tiny(not named(backend).continuous)
    harmless = next((text for end, text in HARMLESS.items() if backend.endswith(end)), None)
    found: dict[str, Any] = {"value": None, "takes": harmless is not None}
    if harmless is not None:
        found["value"] = certify(solve_program(program, f"{backend}[{harmless}]", LIMIT, isolated=False)).value
    try:
        solve_program(program, f"{backend}[presolvv=1]", LIMIT, isolated=False)
    except InputError as error:
        found["said"] = str(error)
    return found


def attempt(backend: str) -> dict[str, Any]:
    """One row."""
    try:
        return options(backend)
    except BackendMissing as error:
        return {"missing": str(error)}
