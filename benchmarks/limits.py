"""Does a solve keep its time limit? Forty shapes of instance, each with its own limit.

    python -m benchmarks.limits [--limit 2] [--allowed 1.2] [--more 1.0] [SHAPE ...]

Claimed: no solve takes more than ``1.2 limit + 1 s`` after loading. Printed for each shape: what was found, the plan's
own seconds, what is allowed, and the seconds of processors; the last line counts the shapes beyond it. What is compiled
is compiled first. Timings on a busy machine say little: run it alone.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from time import process_time

import numpy as np

import crowdopt
from benchmarks.individual import changed

KINDS = ("HS:1000x300", "R10:1000x300", "B5:3000x800", "T30:600x200", "I3:2000x30", "own:2000x20", "own:20000x100")
CHANGES = ("plain", "eps", "prior", "forbidden", "least")
EXTRA = (
    ("R10:3000x800", "exact-error"),
    ("R10:3000x800", "probit"),
    ("own:20000x50", "budget"),
    ("R10:1000x300", "classes"),
    ("own:2000x100", "limits"),
)
SHAPES = [":".join(shape) for shape in (*product(KINDS, CHANGES), *EXTRA)]


def drawn(shape: str) -> crowdopt.AssignmentInstance:
    """The instance of a shape ``KIND:SIZE:CHANGE``."""
    kind, size, change = shape.split(":")
    instance = own(*map(int, size.split("x"))) if kind == "own" else crowdopt.recipe(f"{kind}:{size}", 0)
    rng, n = np.random.default_rng([3, len(shape)]), instance.n_tasks
    if change in ("exact-error", "probit"):
        return replace(instance, rule=change, epsilon=np.asarray(0.07))
    if change == "budget":
        return replace(instance, budget=float(3 * n * instance.cost.mean()))
    if change == "limits":
        fewest = rng.integers(0, 3, n)
        return replace(instance, min_labels=fewest, max_labels=fewest + 6)
    if change == "least":
        return replace(instance, min_load=np.minimum(instance.capacity, 2))
    if change == "classes":
        return replace(instance, rule="bhattacharyya", classes=3, prior=np.full(3, 1 / 3))
    return changed(instance, change, rng)


def own(n: int, m: int) -> crowdopt.AssignmentInstance:
    """Accuracies of their own for every task, prices of workers."""
    rng = np.random.default_rng(5)
    return crowdopt.AssignmentInstance(
        accuracy=rng.uniform(0.6, 0.97, (n, m)),
        task_type=np.arange(n),
        capacity=np.full(m, 6 * n // m + 1),
        epsilon=np.asarray(0.2),
        rule="bhattacharyya",
        cost=np.round(rng.uniform(0.5, 3.0, m), 3),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*")
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--allowed", type=float, default=1.2, help="Times the limit.")
    parser.add_argument("--more", type=float, default=1.0, help="Seconds beside that.")
    given = parser.parse_args()
    for warm in (crowdopt.recipe("R10:60x40", 0), own(300, 60), drawn("R10:400x60:prior")):
        crowdopt.solve(warm, time_limit=5.0, gap=1e-3)
    beyond, allowed = 0, given.allowed * given.limit + given.more
    shapes = given.shapes or SHAPES
    for shape in shapes:
        instance, busy = drawn(shape), process_time()
        plan = crowdopt.solve(instance, time_limit=given.limit, gap=0.0)
        busy = process_time() - busy
        beyond += plan.seconds > allowed
        late = "  LATE" if plan.seconds > allowed else ""
        print(
            f"{shape:28} {plan.status.value:10} {plan.seconds:7.2f} s of {allowed:.2f}, {busy:5.2f} busy{late}",
            flush=True,
        )
    print(f"{beyond} of {len(shapes)} shapes beyond {given.allowed:g} times {given.limit:g} s and {given.more:g} s")


if __name__ == "__main__":
    main()
