"""The exact method against general solvers on the full program, side by side in one run.

    python benchmarks/exact.py [--backends highs,pulp-cbc] [--limit 60] [--json FILE] [RECIPE ...]

Every plan is verified against the instance before its time counts. Solvers get the full integer program (built and
handed over by our adapters, which is part of their time); one that reaches the limit is run once, all others three
times, and medians are printed. Compilation is apart: the method runs once on a small instance first.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from statistics import median
from time import perf_counter

RECIPES = [
    *(f"{kind}:1000x300@0" for kind in ("HS", "U", "K3")),
    *(f"{kind}:1000x300@{seed}" for kind in ("R1", "L3", "R10", "B5") for seed in range(3)),
    *("B5:200x60@0", "R10:200x60@0", "T30:1000x300@0", "R10:1000x300@0+prices"),
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


def drawn(seed: int):
    """1000 x 300, tuned for by none: types of unequal size, log-normal capacities, error targets per task, prices."""
    import numpy as np

    import crowdopt

    rng = np.random.default_rng([20261120, seed])
    kinds = np.unique(np.minimum(rng.geometric(0.25, 1000) - 1, 11), return_inverse=True)[1]
    capacity = np.minimum(1000, np.rint(rng.lognormal(np.log(45.0), 0.7, 300)).astype(int))
    return crowdopt.AssignmentInstance(
        accuracy=rng.uniform(0.5, 0.95, (int(kinds.max()) + 1, 300)),
        task_type=kinds,
        capacity=capacity,
        epsilon=rng.choice([0.05, 0.1, 0.15, 0.2], 1000),
        rule="hoeffding",
        cost=1.0 if seed % 2 == 0 else rng.integers(1, 6, 300).astype(float),
    )


def named(recipe: str):
    """``KIND:NxM@SEED``, with ``+prices`` for prices from 1 to 5, or ``drawn@SEED``."""
    import crowdopt

    name, _, seed = recipe.removesuffix("+prices").partition("@")
    return drawn(int(seed)) if name == "drawn" else crowdopt.recipe(name, int(seed), priced=recipe.endswith("+prices"))


def by_classes(instance, method, program, limit):
    """The exact method, certificate and plan included; for the LP the full primal and the full dual as arrays."""
    import crowdopt
    from crowdopt.assign.linear_plan import relax_classes
    from crowdopt.crowd.alike import classes_of
    from crowdopt.crowd.vote_errors import breaches

    if program == "ip":
        plan = crowdopt.solve(instance, time_limit=limit, gap=0.0)
        return plan.status.value, plan.objective, plan.bound, lambda: verified(not breaches(instance, plan.pairs))
    found = relax_classes(classes_of(instance), crowdopt.solve_program, crowdopt.Options(time_limit=limit))
    full, duals, known = found.full(), found.duals(), found.certificate
    keeps = lambda: crowdopt.core.certificate.violation(full_lp(instance), full.reshape(-1)) <= 1e-8  # noqa: E731
    return found.solution.status.value, known.value, known.bound, lambda: verified(duals is not None and keeps())


def in_full(instance, method, program, limit):
    """The full program, built, handed over and solved by a backend, as it is."""
    import crowdopt

    built = crowdopt.programs.assignment.build(instance)
    asked = built if program == "ip" else crowdopt.relax(built)
    solution = crowdopt.solve_program(asked, method, crowdopt.Options(time_limit=limit))
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

    if method == "exact":
        crowdopt.solve(crowdopt.recipe("R10:60x40"), nodes=2, time_limit=300)  # compiles, or loads what is compiled
    else:
        crowdopt.solve(crowdopt.recipe("R1:10x100"), method=method, program=program, time_limit=10)  # loads the library
    seconds: list[float] = []
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while len(seconds) < 3 and sum(seconds) < limit / 2:
        instance = named(recipe)
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
    """A cell: cost / bound, seconds, megabytes."""
    value = "no plan" if row.value is None else f"{row.value:.10g}"
    bound = "none" if row.bound is None else f"{row.bound:.10g}"
    return f"{value} / {bound}, {row.seconds:.2g}, {row.megabytes:.0f}"


def picture(rows: list[Row], path: str) -> None:
    """Seconds of each method on each instance; the label says how far its plan is from the best bound known."""
    from pathlib import Path

    from crowdopt.pages.charts import altair, save

    alt, bounds = altair(), {}
    for row in rows:
        bounds[row.recipe] = max(bounds.get(row.recipe, 0.0), row.bound or 0.0)
    values = []
    for row in rows:
        off = None if row.value is None else 100 * (row.value / bounds[row.recipe] - 1)
        state = "no plan" if off is None else "optimal" if off < 1e-7 else f"{off:.2g} % off"
        values.append({"instance": row.recipe, "method": row.method, "seconds": row.seconds, "state": state})
    order = [row.recipe for row in rows if row.method == "exact"]
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("method:N", title=None, sort=["exact"]),
        x=alt.X(
            "seconds:Q",
            scale=alt.Scale(type="symlog", constant=0.01, domainMax=400),
            axis=alt.Axis(values=[0.01, 0.1, 1, 10, 100], format="~r"),
            title="seconds",
        ),
    )
    bars = base.mark_bar().encode(color=alt.Color("method:N", title=None, sort=["exact"], legend=None))
    labels = base.mark_text(align="left", dx=4, fontSize=11).encode(text="state:N")
    chart = alt.layer(bars, labels).properties(width=480, height=48)
    row = alt.Row("instance:N", sort=order, title=None, header=alt.Header(labelAngle=0, labelAlign="left"))
    save(
        chart.facet(row=row, spacing=6).properties(title="1000 tasks × 300 workers: time to a plan, and how good"),
        Path(path),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*")
    parser.add_argument("--backends", default="highs,pulp-cbc")
    parser.add_argument("--limit", default="60")
    parser.add_argument("--json")
    parser.add_argument("--picture")
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
    print(f"| instance | {' | '.join(f'{name}, {limit} s allowed' for name, limit in methods)} |")
    print("|---" * (1 + len(methods)) + "|")
    for recipe in given.recipes or (LP_RECIPES if given.program == "lp" else RECIPES):
        own = [apart(recipe, method, given.program, limit) for method, limit in methods]
        print(f"| {recipe} | {' | '.join(map(shown, own))} |", flush=True)
        rows += own
    libraries = {name: version(name) for name in ("crowdopt", "highspy", "pulp", "numba", "numpy")}
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"versions": libraries, "rows": [asdict(row) for row in rows]}, file, indent=1)
    if given.picture:
        picture(rows, given.picture)


if __name__ == "__main__":
    main()
