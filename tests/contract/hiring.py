"""One backend on the selection program, a row each: ``python -m tests.contract.hiring BACKEND FIRST COUNT|full``."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from crowdopt.backends import BackendMissing, solve
from crowdopt.core.solution import Options
from crowdopt.crowd.candidates import SelectionInstance
from crowdopt.hire.by_program import solve_program
from tests.selections import limited

LIMIT = Options(time_limit=20.0)
FULL = Options(time_limit=250.0)


def small(seed: int) -> SelectionInstance:
    """At most seven workers, with every kind of limit now and then."""
    return limited(np.random.default_rng(seed))


def full() -> SelectionInstance:
    """300 workers, at most 100 of them, each with her own number of control questions: 30,100 columns."""
    rng = np.random.default_rng(0)
    asked = rng.integers(5, 40, 300)
    return SelectionInstance(rng.binomial(asked, rng.beta(2.3, 2, 300)), asked, 2, 100)


def attempt(backend: str, instance: SelectionInstance, options: Options) -> dict[str, Any]:
    """What the backend's search finds and claims; the value is recomputed from the set."""
    found = solve_program(instance, solve, backend, options, None)
    return {"status": found.status.value, "score": found.score, "workers": found.members.tolist()}


def claimed(backend: str, instance: SelectionInstance) -> dict[str, Any]:
    """The same, with what the backend itself says of the bound."""
    from crowdopt.core.certificate import certify
    from crowdopt.programs import selection

    solution = solve(selection.build(instance), backend, FULL)
    certificate = certify(solution)
    facts = {"claim": solution.status.value, "bound": -certificate.bound, "gap": certificate.gap}
    if solution.primal is None:
        return facts
    return facts | {
        "workers": selection.chosen(solution.program, solution.primal).tolist(),
        "value": -certificate.value,
    }


if __name__ == "__main__":
    backend, first = sys.argv[1:3]
    seeds = [] if first == "full" else range(int(first), int(first) + int(sys.argv[3]))
    try:
        for seed in seeds:
            print(json.dumps({"case": str(seed), **attempt(backend, small(seed), LIMIT)}), flush=True)
        if first == "full":
            print(json.dumps({"case": "full", **claimed(backend, full())}), flush=True)
    except BackendMissing as error:
        for case in [*map(str, seeds), "full"]:
            print(json.dumps({"case": case, "missing": str(error)}), flush=True)
