"""Limits on three groups of workers: the exact method against HiGHS on the whole program.

    python benchmarks/groups.py [--limit 10] [--seed 0]

Workers are in one of three groups, at random: of the first at most 4 labels a task and 30 % of all, of the second at
least 1 and at most 5, of the third at most 6. Each method has the same seconds, one after the other.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import perf_counter

import numpy as np

import crowdopt
from crowdopt import AssignmentInstance, Group

RECIPES = ("R10:1000x300", "R1:1000x300")
METHODS = ("exact", "highs")


def grouped(name: str, seed: int) -> AssignmentInstance:
    """A recipe with three groups."""
    instance = crowdopt.recipe(name, seed=seed)
    home = np.random.default_rng(seed).integers(0, 3, instance.n_workers)
    first, second, third = (np.flatnonzero(home == group).tolist() for group in range(3))
    limits = [
        Group("first", first, max_per_task=4, max_share=0.3),
        Group("second", second, min_per_task=1, max_per_task=5),
        Group("third", third, max_per_task=6),
    ]
    return replace(instance, groups=limits)


def main() -> None:
    """Print the table."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--limit", type=float, default=10.0)
    reader.add_argument("--seed", type=int, default=0)
    given = reader.parse_args()
    print("| instance | method | cost | certified bound | gap | seconds |\n|---|---|---|---|---|---|")
    for name in RECIPES:
        instance = grouped(name, given.seed)
        for method in METHODS:
            started = perf_counter()
            plan = crowdopt.solve(instance, method, time_limit=given.limit, gap=0.0)
            seconds = perf_counter() - started
            cost = "no plan" if plan.objective is None else f"{plan.objective:g}"
            bound = f"{plan.certified_bound:g}" if np.isfinite(plan.certified_bound) else "none"
            gap = f"{100 * plan.gap:.2g} %" if np.isfinite(plan.gap) else ""
            print(f"| {name} | {method} | {cost} | {bound} | {gap} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
