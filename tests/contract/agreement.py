"""One backend on small random instances, as its integer program and as the relaxation."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

import crowdopt
from crowdopt.core.certificate import certify, lagrangian_bound
from crowdopt.core.program import relax
from crowdopt.core.solution import Options
from crowdopt.programs import assignment
from crowdopt.solvers import named, solve_program
from tests import draw

LIMIT = Options(time_limit=20.0)


WISHES = "forbidden fixed least-labels most-labels least-loads budget own-row most-per-task least-per-task most-share"
WISHES += " least-share overlapping families targets prices prices-by-type"


def instance(seed: int) -> crowdopt.AssignmentInstance:
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


def attempt(backend: str, seed: int) -> dict[str, Any]:
    """What the backend makes of the integer program and of its relaxation."""
    able, program = named(backend), assignment.build(instance(seed))
    found: dict[str, Any] = {}
    if able.integers:
        solution = solve_program(program, backend, LIMIT)
        certificate = certify(solution)
        found["integer"] = {
            "status": solution.status.value,
            "raw": solution.raw,
            "value": certificate.value,
            "bound": certificate.bound,
            "feasible": certificate.is_feasible(),
        }
    if able.continuous and able.duals:
        solution = solve_program(relax(program), backend, LIMIT)
        certificate, dual = certify(solution), solution.dual
        found["linear"] = {
            "status": solution.status.value,
            "raw": solution.raw,
            "value": certificate.value,
            "violation": certificate.violation,
            "bound": None if dual is None else lagrangian_bound(solution.program, dual),
        }
    return found
