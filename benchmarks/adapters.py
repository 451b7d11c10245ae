"""What our adapters cost over the same matrix handed natively to PuLP and CVXPY, and what PuLP's objects cost.

python benchmarks/adapters.py [RECIPE] [--large RECIPE] [--seed S] [--repeats N]

The first table solves the LP relaxation of RECIPE: once through ``crowdopt.solve``, once with what a user of the
library writes over the same arrays, in turn. Both build, solve with the same settings, and read values and
multipliers back. The second builds the integer program of the large recipe as HiGHS' arrays and as PuLP's objects,
each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

import crowdopt
from crowdopt.core.program import Program, relax
from crowdopt.programs import assignment

SECONDS = 120.0
Vectors = tuple[np.ndarray, np.ndarray]


def with_pulp(program: Program, solver: str) -> Vectors:
    """Cover and capacity rows as PuLP's expressions, solved by HiGHS or CBC."""
    import pulp

    problem = pulp.LpProblem("native")
    boxes = zip(program.lower.tolist(), program.upper.tolist(), strict=True)
    x = [problem.add_variable(f"x{k:07d}", low, high) for k, (low, high) in enumerate(boxes)]
    total = pulp.LpAffineExpression if pulp.__version__ < "4" else pulp.lpSum_vars_coefs
    problem.setObjective(total(list(zip(x, program.cost.tolist(), strict=True))))
    rows = program.matrix.tocsr()
    starts, columns, values = rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()
    added = []
    for row, (low, high) in enumerate(zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True)):
        span = slice(starts[row], starts[row + 1])
        terms = total([(x[k], value) for k, value in zip(columns[span], values[span], strict=True)])
        added.append(terms >= low if low > -np.inf else terms <= high)
        added[-1] = problem.addConstraint(added[-1], f"r{row:07d}") or added[-1]
    problem.solve(pulp_solver(pulp, solver))
    return np.array([one.varValue for one in x]), np.array([one.pi for one in added])


def pulp_solver(pulp, solver: str):
    if solver == "highs":
        return pulp.HiGHS(msg=False, timeLimit=SECONDS, threads=1)
    bundled = getattr(pulp, "PULP_CBC_CMD", None)
    return pulp.COIN_CMD(path=bundled and bundled.pulp_cbc_path, msg=False, timeLimit=SECONDS)


def with_cvxpy(program: Program, solver: str) -> Vectors:
    """Cover and capacity rows as two matrix inequalities."""
    import cvxpy

    rows, covers = program.matrix.tocsr(), program.row("cover").size
    x = cvxpy.Variable(program.cost.size, bounds=[program.lower, program.upper])
    cover = rows[:covers] @ x >= program.row_lower[:covers]
    capacity = rows[covers:] @ x <= program.row_upper[covers:]
    problem = cvxpy.Problem(cvxpy.Minimize(program.cost @ x), [cover, capacity])
    settings = {"threads": 1} if solver == "highs" else {"max_iter": 1000, "max_threads": 1}
    problem.solve(solver=solver.upper(), time_limit=SECONDS, **settings)
    return x.value, np.concatenate([cover.dual_value, -capacity.dual_value])


def with_us(program: Program, backend: str) -> Vectors:
    solution = crowdopt.solve(program, backend, crowdopt.Options(time_limit=SECONDS))
    return solution.primal, solution.dual


def seconds(call: Callable[[], Vectors], program: Program) -> float:
    """Time of one solve; both ways have to arrive at the same proven value."""
    started = perf_counter()
    primal, dual = call()
    took = perf_counter() - started
    assert abs(program.cost @ primal - crowdopt.lagrangian_bound(program, dual)) <= 1e-5 * abs(program.cost @ primal)
    return took


def overhead(program: Program, repeats: int) -> None:
    print(f"{'backend':16} {'native':>9} {'ours':>9} {'overhead':>9}   read back in bulk")
    for backend in ("pulp-highs", "pulp-cbc", "cvxpy-highs", "cvxpy-clarabel"):
        library, solver = backend.split("-")
        native = {"pulp": with_pulp, "cvxpy": with_cvxpy}[library]
        pairs = []
        for turn in range(repeats + 1):  # the first pair loads the library and does not count
            ways = [lambda: native(program, solver), lambda: with_us(program, backend)]  # noqa: B023  called at once
            order = (0, 1) if turn % 2 else (1, 0)
            took = {way: seconds(ways[way], program) for way in order}
            pairs.append((took[0], took[1]))
        native_s, ours_s = (median(pair[way] for pair in pairs[1:]) for way in (0, 1))
        ratio = median(ours / theirs for theirs, ours in pairs[1:])
        bulk = "no: PuLP has one object per variable and row" if library == "pulp" else "yes"
        print(f"{backend:16} {native_s:7.3f} s {ours_s:7.3f} s {100 * (ratio - 1):+7.1f} %   {bulk}")


def peak(reset: bool = False) -> float:
    """Largest resident megabytes of this process since the reset, as Linux counts them."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def build_once(way: str, name: str, seed: int) -> dict[str, float]:
    """Seconds and peak megabytes that building adds in this process, its library being loaded."""
    from crowdopt.backends import highs, pulp

    make = {
        "highspy": lambda program: highs.hand_over(program, crowdopt.Options()),
        "PuLP": pulp.build,
    }[way]
    make(assignment.build(crowdopt.recipe("R1:20x30")))
    program = assignment.build(crowdopt.recipe(name, seed))
    before = peak(reset=True)
    started = perf_counter()
    kept = make(program)
    took = perf_counter() - started
    added = peak() - before
    del kept
    return {"seconds": took, "megabytes": added}


def building(name: str, seed: int, repeats: int) -> None:
    print(f"{'objects':16} {'build':>9} {'peak memory':>13}")
    runs: dict[str, list[dict[str, float]]] = {"highspy": [], "PuLP": []}
    for _ in range(repeats):
        for way, rows in runs.items():
            command = [sys.executable, __file__, name, "--seed", str(seed), "--only-build", way]
            rows.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    for way, rows in runs.items():
        took, added = (median(row[what] for row in rows) for what in ("seconds", "megabytes"))
        print(f"{way:16} {took:7.3f} s {added:10.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", default="R10:200x100")
    parser.add_argument("--large", default="R10:1000x300")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only-build", choices=["highspy", "PuLP"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.only_build:
        print(json.dumps(build_once(given.only_build, given.recipe, given.seed)))
        return
    program = relax(assignment.build(crowdopt.recipe(given.recipe, given.seed)))
    print(f"LP of {given.recipe}, seed {given.seed}: {program.cost.size} columns, median of {given.repeats} in turn")
    overhead(program, given.repeats)
    print(f"\nbuilding the IP of {given.large}, seed {given.seed}, median of {given.repeats} processes each")
    building(given.large, given.seed, given.repeats)
    print("\n" + ", ".join(f"{name} {version(name)}" for name in ("crowdopt", "pulp", "cvxpy", "highspy", "clarabel")))
    print(f"Python {platform.python_version()}, {platform.machine()}")


if __name__ == "__main__":
    main()
