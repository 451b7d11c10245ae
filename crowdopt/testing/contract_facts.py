"""What a theorem about a backend may be about: everything of a solution that can be recomputed, recomputed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from crowdopt.backends import Backend
from crowdopt.core.certificate import certify, lagrangian_bound, proves_empty
from crowdopt.core.program import Program
from crowdopt.core.solution import Solution

Facts: TypeAlias = dict[str, Any]

FREE = 100.0  # an optimum of every case lies within this box; it keeps bounds finite where columns are free
FEW = 50  # multipliers that are kept one by one


def suits(backend: Backend, program: Program) -> bool:
    """Whether the backend says that it handles such columns."""
    if program.integer.any() and not backend.integers:
        return False
    return backend.continuous or bool(program.integer.all())


def facts(solution: Solution) -> Facts:
    """Plain values: what was claimed, and what the point, the multipliers and the ray are worth."""
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
        "dual": None if dual is None or dual.size > FEW else dual.tolist(),
        "has_dual": dual is not None,
        "dual_bound": None if dual is None else lagrangian_bound(boxed, dual),
        "has_ray": solution.ray is not None,
        "ray_proves": solution.ray is not None and proves_empty(program, solution.ray),
    }
