"""Backends on cases, a row each: ``python -m tests.contract.worker BACKEND:CASE ...``, all in this one process.

A case is a name of ``cases``, or ``agreement/SEED``, ``hiring/SEED``, ``hiring/full``: those of the modules beside it.
"""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.backends import Backend, BackendMissing, named, solve
from crowdopt.core.certificate import certify, lagrangian_bound, proves_empty
from crowdopt.core.program import Program
from crowdopt.core.solution import Solution
from tests.contract import again, agreement, hiring
from tests.contract.accuracy import FREE
from tests.contract.cases import CASES, SILENT


def suits(backend: Backend, program: Program) -> bool:
    """Whether the backend says that it handles such columns."""
    if program.integer.any() and not backend.integers:
        return False
    return backend.continuous or bool(program.integer.all())


def facts(solution: Solution) -> dict[str, Any]:
    """Everything about a solution that a theorem may be about, recomputed where it can be."""
    program, certificate = solution.program, certify(solution)
    dual = solution.dual
    boxed = replace(program, lower=np.maximum(program.lower, -FREE), upper=np.minimum(program.upper, FREE))
    return {
        "status": solution.status.value,
        "raw": solution.raw,
        "seconds": solution.seconds,
        "value": certificate.value,
        "bound": certificate.bound,
        "proof": certificate.proof,
        "violation": certificate.violation,
        "fraction": certificate.fraction,
        "claimed_bound": solution.claimed_bound,
        "dual": None if dual is None or dual.size > 50 else dual.tolist(),
        "has_dual": dual is not None,
        "dual_bound": None if dual is None else lagrangian_bound(boxed, dual),
        "has_ray": solution.ray is not None,
        "ray_proves": solution.ray is not None and proves_empty(program, solution.ray),
    }


def judged(backend: str, name: str) -> dict[str, Any]:
    """What the backend makes of a program whose truth is known; soon, where it is known to come to no end."""
    case = CASES[name]
    program, options = case.build(), case.options
    if not suits(named(backend), program):
        return {"unsuited": True}
    if (backend, name) in SILENT:
        options = replace(options, time_limit=min(options.time_limit, 0.5))
    return facts(solve(program, backend, options, isolated=False))


def attempt(backend: str, name: str) -> dict[str, Any]:
    """One row."""
    part, _, which = name.partition("/")
    try:
        if part == "agreement":
            return agreement.attempt(backend, int(which))
        if part == "again":
            return again.attempt(backend, which)
        if part == "hiring":
            return hiring.attempt(backend, which)
        return judged(backend, name)
    except BackendMissing as error:
        return {"missing": str(error)}
    except Exception:
        return {"error": traceback.format_exc()}


if __name__ == "__main__":
    for key in sys.argv[1:]:
        backend, _, name = key.partition(":")
        print(json.dumps({"case": key, **attempt(backend, name)}), flush=True)
