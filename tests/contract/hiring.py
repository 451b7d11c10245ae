"""One backend on the selection program: small instances with every limit, and the paper's full size."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.core.solution import Options
from crowdopt.hire import program as hiring
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import build, chosen
from crowdopt.solvers import solve_program
from tests.selections import limited

LIMIT = Options(time_limit=20.0)
FULL = Options(time_limit=250.0)


def small(seed: int) -> SelectionInstance:
    """At most seven workers, with every kind of limit now and then."""
    return limited(np.random.default_rng(seed))


def full() -> SelectionInstance:
    """300 workers, at most 100 of them, each with a number of their own of control questions: 30,100 columns."""
    rng = np.random.default_rng(0)
    asked = rng.integers(5, 40, 300)
    return SelectionInstance(rng.binomial(asked, rng.beta(2.3, 2, 300)), asked, 2, 100)


def attempt(backend: str, which: str) -> dict[str, Any]:
    """What the backend makes of a small instance, named by its seed, or of the ``full`` one."""
    return claimed(backend, full()) if which == "full" else searched(backend, small(int(which)))


def searched(backend: str, instance: SelectionInstance) -> dict[str, Any]:
    """What the backend's search finds and claims; the value is recomputed from the set."""
    found = hiring.solve_program(instance, solve_program, backend, LIMIT, None)
    return {"status": found.status.value, "score": found.score, "workers": found.members.tolist()}


def claimed(backend: str, instance: SelectionInstance) -> dict[str, Any]:
    """The same, with what the backend itself says of the bound."""
    from crowdopt.core.certificate import certify

    solution = solve_program(build(instance), backend, FULL)
    certificate = certify(solution)
    facts = {"claim": solution.status.value, "bound": -certificate.bound, "gap": certificate.gap}
    if solution.primal is None:
        return facts
    return facts | {
        "workers": chosen(solution.program, solution.primal).tolist(),
        "value": -certificate.value,
    }
