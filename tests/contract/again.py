"""One backend with an option of its own, with one that it does not have, and asked again and again in one session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import crowdopt
from crowdopt.core.certificate import certify
from crowdopt.core.program import relax
from crowdopt.core.solution import Options
from crowdopt.errors import InputError
from crowdopt.programs import assignment
from crowdopt.solvers import BackendMissing, named, session, solve_program
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


def chain(backend: str, steps: int = 3) -> dict[str, Any]:
    """Optima of a program whose numbers change, asked in one session and cold."""
    able = named(backend)
    program = relax(assignment.build(crowdopt.recipe("I2:10x8", seed=0)))  # first-order methods come to an end there
    program = program if able.continuous else assignment.build(crowdopt.recipe("R10:10x20", seed=0))
    asked = session.Session(program, backend, LIMIT)
    rng, warm, cold = np.random.default_rng(3), [], []
    for step in range(steps):
        if step:
            asked.set_cost(rng.integers(1, 4, program.cost.size))
            asked.set_sides(lower=program.row_lower * rng.choice([0.5, 0.75, 1.0]))
        if step == 2:
            asked.set_bounds(upper=np.where(rng.random(program.cost.size) < 0.02, 0.0, 1.0))
        warm.append(_facts(asked.solve()))
        cold.append(_facts(solve_program(replace(asked.program, name="cold"), backend, LIMIT, isolated=False)))
    return {"warm": warm, "cold": cold, "builds": asked.builds, "keeps": able.warm is not None}


def _facts(solution: Any) -> list[Any]:
    certificate = certify(solution)
    return [solution.status.value, certificate.value, certificate.bound if certificate.bound > -np.inf else None]


def attempt(backend: str, which: str) -> dict[str, Any]:
    """One row."""
    try:
        return options(backend) if which == "options" else chain(backend)
    except BackendMissing as error:
        return {"missing": str(error)}
