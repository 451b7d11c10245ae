"""Backends on cases, a row each: ``python -m tests.contract.worker BACKEND:CASE ...``, all in this one process.

A case is a name of crowdopt.testing.backend_contract, or ``agreement/SEED``, ``hiring/SEED``,
``hiring/full``: those of the modules beside it.
"""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import replace
from typing import Any

from crowdopt.solvers import BackendMissing, named, solve_program
from crowdopt.testing.backend_contract import CASES, facts, suits
from tests.contract import again, agreement, hiring
from tests.contract.silent import SILENT


def judged(backend: str, name: str) -> dict[str, Any]:
    """What the backend makes of a program whose truth is known; soon, where it is known to come to no end."""
    case = CASES[name]
    program, options = case.build(), case.options
    if not suits(named(backend), program):
        return {"unsuited": True}
    if (backend, name) in SILENT:
        options = replace(options, time_limit=min(options.time_limit, 0.5))
    return facts(solve_program(program, backend, options, isolated=False))


def attempt(backend: str, name: str) -> dict[str, Any]:
    """One row."""
    part, _, which = name.partition("/")
    try:
        if part == "agreement":
            return agreement.attempt(backend, int(which))
        if part == "again":
            return again.attempt(backend)
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
