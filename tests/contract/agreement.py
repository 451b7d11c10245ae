"""One backend on small random instances, as its integer program and as the relaxation."""

from __future__ import annotations

from typing import Any

import numpy as np

import crowdopt
from crowdopt.backends import named, solve
from crowdopt.core.certificate import certify, lagrangian_bound
from crowdopt.core.program import relax
from crowdopt.core.solution import Options
from crowdopt.programs import assignment

LIMIT = Options(time_limit=20.0)


def instance(seed: int) -> crowdopt.AssignmentInstance:
    """At most 12 pairs, with prices, limits, forbidden pairs and a budget, each now and then."""
    rng = np.random.default_rng(seed)
    tasks = int(rng.integers(1, 4))
    workers = int(rng.integers(3, 12 // tasks + 1))
    types = int(rng.integers(1, tasks + 1))
    barred = np.argwhere(rng.random((tasks, workers)) < 0.15)
    whole = bool(rng.random() < 0.6)
    price = rng.integers(1, 6, (types, workers)).astype(float) if whole else rng.uniform(0.5, 3.0, (types, workers))
    return crowdopt.AssignmentInstance(
        accuracy=rng.uniform(0.65, 0.99, (types, workers)),
        task_type=np.arange(tasks) % types,
        capacity=rng.integers(1, tasks + 1, workers),
        epsilon=rng.uniform(0.3, 0.48, tasks),
        rule="hoeffding" if rng.random() < 0.5 else "bhattacharyya",
        cost=price,
        forbidden=barred,
        max_labels=np.full(tasks, int(rng.integers(2, workers + 1))) if rng.random() < 0.25 else None,
        min_load=np.minimum(1, rng.integers(0, 2, workers)) if rng.random() < 0.2 else None,
        budget=float(price.mean() * tasks * 2) if rng.random() < 0.2 else None,
    )


def attempt(backend: str, seed: int) -> dict[str, Any]:
    """What the backend makes of the integer program and of its relaxation."""
    able, program = named(backend), assignment.build(instance(seed))
    found: dict[str, Any] = {}
    if able.integers:
        solution = solve(program, backend, LIMIT)
        certificate = certify(solution)
        found["integer"] = {
            "status": solution.status.value,
            "raw": solution.raw,
            "value": certificate.value,
            "bound": certificate.bound,
            "feasible": certificate.is_feasible(),
        }
    if able.continuous and able.duals:
        solution = solve(relax(program), backend, LIMIT)
        certificate, dual = certify(solution), solution.dual
        found["linear"] = {
            "status": solution.status.value,
            "raw": solution.raw,
            "value": certificate.value,
            "violation": certificate.violation,
            "bound": None if dual is None else lagrangian_bound(solution.program, dual),
        }
    return found
