"""Backends on cases, a row each: ``python -m tests.contract.worker BACKEND:CASE ...``, all in this one process.

A case is a name of crowdopt.testing.backend_contract, ``agreement/SEED``, a small random instance, or ``own-options``.
"""

from __future__ import annotations

import json
import sys
import traceback
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt import AssignmentInstance, InputError
from crowdopt.core.certificate import certify
from crowdopt.core.program import Program, relax
from crowdopt.core.solution import Options, Solution
from crowdopt.programs import assignment
from crowdopt.solvers import BackendMissing, named, solve_program
from crowdopt.solvers.probe import tiny
from crowdopt.testing.backend_contract import CASES, facts, suits
from tests import draw

SILENT = {  # where a library, as it is, decides nothing: it may stay silent there; it may not say anything false
    ("cvxpy-osqp", "assignment-priced"): "does not converge on this linear program within the limit",
    ("ortools-pdlp", "unbounded"): "knows dual infeasible only, which is unbounded or infeasible",
    ("pulp-glpk", "assignment-integer"): "needs minutes",
    ("pulp-glpk", "assignment-integer-priced"): "needs minutes",
    ("pulp-glpk", "badly-scaled-integer"): "needs minutes",
}
HARMLESS = {  # an option that each library has, by the end of the backend's name
    **dict.fromkeys(("highs", "simplex", "ipm", "highs-pdlp"), "presolve=off"),
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
WISHES = "forbidden fixed least-labels most-labels least-loads budget own-row most-per-task least-per-task most-share"
WISHES += " least-share overlapping families targets prices prices-by-type"


def solved(program: Program, backend: str, options: Options = LIMIT) -> Solution:
    """Here, whatever the backend."""
    return solve_program(program, backend, options, isolated=False)


def judged(backend: str, name: str) -> dict[str, Any]:
    """What the backend makes of a program whose truth is known; soon, where it is known to come to no end."""
    case = CASES[name]
    program, options = case.build(), case.options
    if not suits(named(backend), program):
        return {"unsuited": True}
    if (backend, name) in SILENT:
        options = replace(options, time_limit=min(options.time_limit, 0.5))
    return facts(solved(program, backend, options))


def instance(seed: int) -> AssignmentInstance:
    """At most 12 pairs under a rule of sums, with up to four wishes; about a third of them have no plan."""
    rng = np.random.default_rng(seed)
    tasks = int(rng.integers(1, 4))
    workers = int(rng.integers(3, 12 // tasks + 1))
    while True:
        few = rng.choice(WISHES.split(), int(rng.integers(1, 5)), replace=False)
        asked = (("hoeffding", "bhattacharyya")[rng.integers(2)], *few.tolist())
        if not draw.clash(asked):
            with suppress(draw.NotDealt):
                return draw.campaign(rng, tasks, workers, asked, spoiled=True)


def agreement(backend: str, seed: int) -> dict[str, Any]:
    """What it makes of the integer program and of its relaxation."""
    able, program = named(backend), assignment.build(instance(seed))
    found = {}
    if able.integers:
        found["integer"] = facts(solved(program, backend))
    if able.continuous and able.duals:
        found["linear"] = facts(solved(relax(program), backend))
    return found


def own_options(backend: str) -> dict[str, Any]:
    """The optimum under a harmless option of the library's own, and what is said of one that it does not have."""
    program = tiny(not named(backend).continuous)
    harmless = next((text for end, text in HARMLESS.items() if backend.endswith(end)), None)
    value = None if harmless is None else certify(solved(program, f"{backend}[{harmless}]")).value
    try:
        solved(program, f"{backend}[presolvv=1]")
    except InputError as error:
        return {"value": value, "said": str(error)}
    return {"value": value, "said": ""}


def attempt(backend: str, name: str) -> dict[str, Any]:
    """One row."""
    part, _, seed = name.partition("/")
    try:
        if part == "own-options":
            return own_options(backend)
        return agreement(backend, int(seed)) if seed else judged(backend, name)
    except BackendMissing as error:
        return {"missing": str(error)}
    except Exception:
        return {"error": traceback.format_exc()}


if __name__ == "__main__":
    for key in sys.argv[1:]:
        backend, _, name = key.partition(":")
        print(json.dumps({"case": key, **attempt(backend, name)}), flush=True)
