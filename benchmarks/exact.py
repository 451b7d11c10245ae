"""The exact method against general solvers on the full program, side by side in one run.

    python benchmarks/exact.py [--backends highs,pulp-cbc] [--limit 60] [--json FILE] [RECIPE ...]

Every plan is verified against the instance before its time counts. Solvers get the full integer program (built and
handed over by our adapters, which is part of their time); one that reaches the limit is run once, all others three
times, and medians are printed. Compilation is apart: the method runs once on a small instance first.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from statistics import median
from time import perf_counter

RECIPES = [
    *(f"{kind}:1000x300@0" for kind in ("HS", "U", "K3")),
    *(f"{kind}:1000x300@{seed}" for kind in ("R1", "R10", "B5") for seed in range(3)),
]
LP_RECIPES = ["R10:1000x300@0", "HS:1000x300@0"]


@dataclass
class Row:
    """One method on one instance."""

    recipe: str
    method: str
    program: str
    status: str
    value: float | None
    bound: float | None
    seconds: float
    megabytes: float


def by_classes(instance, method, program, limit):
    """The exact method, certificate and plan included; for the LP the full primal and the full dual as arrays."""
    import crowdopt
    from crowdopt.crowd.classes import classes_of
    from crowdopt.offline.exact.relaxation import relax_classes
    from crowdopt.plan import breaches

    if program == "ip":
        plan = crowdopt.assign(instance, time_limit=limit)
        return plan.status.value, plan.objective, plan.bound, lambda: verified(not breaches(instance, plan.pairs))
    found = relax_classes(classes_of(instance), crowdopt.solve, crowdopt.Options(time_limit=limit), whole=False)
    full, duals, known = found.full(), found.duals(), found.certificate
    keeps = lambda: crowdopt.core.certificate.violation(full_lp(instance), full.reshape(-1)) <= 1e-8  # noqa: E731
    return found.solution.status.value, known.value, known.bound, lambda: verified(duals is not None and keeps())


def in_full(instance, method, program, limit):
    """The full program, built, handed over and solved by a backend, as it is."""
    import crowdopt

    built = crowdopt.programs.assignment.build(instance)
    asked = built if program == "ip" else crowdopt.relax(built)
    solution = crowdopt.solve(asked, method, crowdopt.Options(time_limit=limit))
    known = crowdopt.certify(solution)
    check = lambda: verified(known.value is None or known.is_feasible(1e-4))  # noqa: E731
    return solution.status.value, known.value, known.bound, check


def full_lp(instance):
    import crowdopt

    return crowdopt.relax(crowdopt.programs.assignment.build(instance))


def verified(holds: bool) -> None:
    if not holds:
        raise AssertionError("the answer does not keep the limits")


def once(recipe: str, method: str, program: str, limit: float) -> Row:
    """Solve one instance in this process and verify the plan."""
    import crowdopt

    name, _, seed = recipe.partition("@")
    if method == "exact":
        crowdopt.assign(crowdopt.recipe("R10:60x40"), nodes=2, time_limit=300)  # compiles, or loads what is compiled
    else:
        crowdopt.assign(
            crowdopt.recipe("R1:10x100"), method=method, program=program, time_limit=10
        )  # loads the library
    seconds: list[float] = []
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while len(seconds) < 3 and sum(seconds) < limit / 2:
        instance = crowdopt.recipe(name, int(seed))
        started = perf_counter()
        status, value, bound, check = (by_classes if method == "exact" else in_full)(instance, method, program, limit)
        seconds.append(perf_counter() - started)
    check()
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) / 1024
    bound = bound if abs(bound) < float("inf") else None
    return Row(recipe, method, program, status, value, bound, median(seconds), peak)


def apart(*words: str) -> Row:
    """The same in a fresh process, so that memory and libraries are its own."""
    done = subprocess.run([sys.executable, __file__, "--once", *words], capture_output=True, text=True, check=True)
    return Row(**json.loads(done.stdout.splitlines()[-1]))


def shown(row: Row) -> str:
    gap = "-" if row.value is None or row.bound is None else f"{100 * (row.value - row.bound) / row.bound:.3f} %"
    value = "none" if row.value is None else f"{row.value:.10g}"
    bound = "none" if row.bound is None else f"{row.bound:.10g}"
    cells = [f"{row.recipe:16}", f"{row.method:9}", row.program, f"{row.status:9}", f"{value:>14}", f"{bound:>14}"]
    return " ".join([*cells, f"{gap:>9}", f"{row.seconds:9.4f} s", f"{row.megabytes:6.0f} MB"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*")
    parser.add_argument("--backends", default="highs,pulp-cbc")
    parser.add_argument("--limit", default="60")
    parser.add_argument("--json")
    parser.add_argument("--program", default="ip")
    parser.add_argument("--exact-limit", default="3")
    parser.add_argument("--once", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        recipe, method, program, limit = given.once
        print(json.dumps(asdict(once(recipe, method, program, float(limit)))))
        return
    rows = []
    methods = [("exact", given.exact_limit), *((name, given.limit) for name in given.backends.split(",") if name)]
    for recipe in given.recipes or (LP_RECIPES if given.program == "lp" else RECIPES):
        for method, limit in methods:
            rows.append(apart(recipe, method, given.program, limit))
            print(shown(rows[-1]), flush=True)
    libraries = {name: version(name) for name in ("crowdopt", "highspy", "pulp", "numba", "numpy")}
    print(json.dumps({"python": platform.python_version(), **libraries}))
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"versions": libraries, "rows": [asdict(row) for row in rows]}, file, indent=1)


if __name__ == "__main__":
    main()
