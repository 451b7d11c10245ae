"""How time and memory grow with the instance: R10 from 1e4 to 1e11 pairs, each size in a process of its own.

    python benchmarks/growth.py [--json FILE] [--picture FILE.svg] [SIZE ...]

The plan is the first within .01 % of its bound, or the best in the time given, verified against every limit before its
time counts; the LP is the full program's, with primal and dual. Compilation is apart: a small instance comes first.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from bisect import bisect
from pathlib import Path
from time import perf_counter

SIZED, LIMITS = [4e6, 5e7], [10, 30, 300]  # pairs, and seconds
GAP = 1e-4
SIZES = ["200x60", "1000x300", "5000x1000", "20000x5000", "100000x10000", "300000x30000", "1000000x100000"]


def once(size: str) -> dict[str, float | str]:
    """Seconds of the LP and of a plan, the plan's gap, and the peak of the process's memory."""
    import crowdopt
    from crowdopt.assign.linear_plan import relax_classes
    from crowdopt.crowd.alike import classes_of
    from crowdopt.crowd.vote_errors import breaches

    crowdopt.solve(crowdopt.recipe("R10:60x40"), gap=GAP, time_limit=300)  # compiles, or loads what is compiled
    instance = crowdopt.recipe(f"R10:{size}", 0)
    started = perf_counter()
    relaxed = relax_classes(classes_of(instance), crowdopt.solve_program, crowdopt.Options(time_limit=300))
    linear = perf_counter() - started
    bound = relaxed.certificate.bound
    del relaxed
    started = perf_counter()
    plan = crowdopt.solve(instance, gap=GAP, time_limit=LIMITS[bisect(SIZED, instance.n_tasks * instance.n_workers)])
    seconds = perf_counter() - started
    if breaches(instance, plan.pairs):
        raise AssertionError("the plan does not keep the limits")
    return {
        "size": size,
        "pairs": float(instance.n_tasks * instance.n_workers),
        "lp": bound,
        "lp_seconds": linear,
        "labels": plan.objective,
        "bound": plan.bound,
        "seconds": seconds,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def picture(rows: list[dict], path: Path) -> None:
    """Time and memory over pairs, both axes logarithmic."""
    from crowdopt.pages.charts import altair, save

    alt = altair()
    long = [
        {"pairs": row["pairs"], "what": what, "value": row[key], "unit": unit}
        for row in rows
        for what, key, unit in [
            ("LP with proof", "lp_seconds", "seconds"),
            ("plan with bound", "seconds", "seconds"),
            ("peak memory", "megabytes", "MB"),
        ]
    ]
    panels = [
        alt.Chart(alt.Data(values=[row for row in long if row["unit"] == unit]), width=420, height=200)
        .mark_line(point=True)
        .encode(
            x=alt.X("pairs:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format=".0e"), title="tasks × workers"),
            y=alt.Y("value:Q", scale=alt.Scale(type="log"), title=unit),
            color=alt.Color("what:N", title=None, sort=["LP with proof", "plan with bound", "peak memory"]),
        )
        for unit in ("seconds", "MB")
    ]
    save(alt.vconcat(*panels).properties(title="R10, ten types: from ten thousand pairs to a hundred billion"), path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--once", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        print(json.dumps(once(given.once)))
        return
    rows = []
    print(
        "| tasks × workers | LP with primal, dual and proof | plan | gap proven | peak memory |\n|---|---|---|---|---|"
    )
    for size in given.sizes or SIZES:
        done = subprocess.run([sys.executable, __file__, "--once", size], capture_output=True, text=True, check=True)
        row = json.loads(done.stdout.splitlines()[-1])
        rows.append(row)
        gap = 100 * (row["labels"] - row["bound"]) / row["bound"]
        times = f"{row['lp_seconds']:.3f} s | {row['seconds']:.2g} s"
        print(f"| {size.replace('x', ' × ')} | {times} | {gap:.2g} % | {row['megabytes']:.0f} MB |", flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if given.picture:
        picture(rows, given.picture)


if __name__ == "__main__":
    main()
