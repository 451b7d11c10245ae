"""How long it takes to build the assignment IP and to hand it to HiGHS.

python benchmarks/build.py [RECIPE] [--seed S] [--repeats N]
"""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from statistics import median
from time import perf_counter

import crowdopt
from crowdopt.backends.highs import hand_over
from crowdopt.core.program import Program
from crowdopt.programs import assignment


def once(name: str, seed: int) -> tuple[float, float, Program]:
    """Seconds to build a fresh instance's program, and to pass it to a fresh Highs object."""
    instance = crowdopt.recipe(name, seed)
    started = perf_counter()
    program = assignment.build(instance)
    built = perf_counter()
    hand_over(program, crowdopt.Options())
    return built - started, perf_counter() - built, program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipe", nargs="?", default="R10:1000x300")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=9)
    given = parser.parse_args()
    hand_over(assignment.build(crowdopt.recipe("R1:20x30")), crowdopt.Options())  # loads highspy
    runs = [once(given.recipe, given.seed) for _ in range(given.repeats)]
    program = runs[0][2]
    print(f"{given.recipe}, seed {given.seed}: {program.cost.size} columns, {program.matrix.nnz} non-zeros")
    for what, seconds in (("build", [run[0] for run in runs]), ("hand over", [run[1] for run in runs])):
        print(f"{what:10} {median(seconds):.4f} s  (min {min(seconds):.4f}, max {max(seconds):.4f})")
    print(f"{'total':10} {median(run[0] + run[1] for run in runs):.4f} s, median of {given.repeats}")
    print(f"crowdopt {crowdopt.__version__}, highspy {version('highspy')}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
