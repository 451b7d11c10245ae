"""A program asked again with other numbers: in a session against cold solves, side by side.

    python benchmarks/sessions.py [--steps 20] [--seed 0]

Each chain starts from one program; every step changes the sides of its cover rows by a few per cent, and both ways
solve it, in turn. Certificates of both are compared; the ratio is cold over warm, of the medians of their times.
"""

from __future__ import annotations

import argparse
from statistics import median
from time import perf_counter

import numpy as np

import crowdopt
from crowdopt.core.certificate import certify
from crowdopt.core.program import Program, relax
from crowdopt.core.solution import Options
from crowdopt.programs import aggregated, assignment
from crowdopt.solvers.session import Session

BACKENDS = ("highs-simplex", "highs-ipm", "cvxpy-clarabel", "cvxpy-highs", "pulp-cbc")
SAME = 1e-6  # relative; how far the bounds of both ways may be apart
CHANGE = 0.03  # of the sides, at most, in each step


def programs() -> dict[str, Program]:
    """An LP over classes, as curves and probes solve it, and a full one."""
    classes = aggregated.build(crowdopt.recipe("R10:1000x300", seed=0))
    full = relax(assignment.build(crowdopt.recipe("R10:100x60", seed=0)))
    return {"over classes, 10 x 300": classes, "full, 100 x 60": full}


def chain(program: Program, backend: str, steps: int, seed: int) -> tuple[float, float, int]:
    """Median seconds cold and warm, and how often the session built its program."""
    rng, options = np.random.default_rng(seed), Options(time_limit=60)
    asked, cold, warm = Session(program, backend, options), [], []
    cover = program.row("cover").span
    for _ in range(steps):
        lower = program.row_lower.copy()
        lower[cover] *= 1 - CHANGE * rng.random(lower[cover].size)
        asked.set_sides(lower)
        started = perf_counter()
        one = asked.solve()
        warm.append(perf_counter() - started)
        started = perf_counter()
        other = crowdopt.solve_program(asked.program, backend, options=options, isolated=False)
        cold.append(perf_counter() - started)
        bounds = certify(one).bound, certify(other).bound
        assert abs(bounds[0] - bounds[1]) <= SAME * max(1.0, abs(bounds[1])), (backend, bounds)
    return median(cold), median(warm), asked.builds


def main() -> None:
    """Print the table."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--steps", type=int, default=20)
    reader.add_argument("--seed", type=int, default=0)
    given = reader.parse_args()
    print("| program | backend | cold, ms | in a session, ms | cold / session | built |\n|---|---|---|---|---|---|")
    for name, program in programs().items():
        for backend in BACKENDS:
            cold, warm, builds = chain(program, backend, given.steps, given.seed)
            print(f"| {name} | {backend} | {1000 * cold:.1f} | {1000 * warm:.1f} | {cold / warm:.2g} | {builds} |")


if __name__ == "__main__":
    main()
