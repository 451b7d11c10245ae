"""How time and memory of each method grow with tasks alone and with workers alone: the exponents.

    python benchmarks/exponents.py [--seconds 30] [--most 10000000] [METHOD ...]

Each run is a process of its own, which does the method on a small instance first (compiles, or loads what is compiled).
A method goes on to ten times the size until a run takes twice as long as it is given, or two in a row end without a
result. The exponent is the slope of log seconds (log MB beyond those before the run) over log size, of runs beyond .02
s (2 MB).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

TASKS, WORKERS = 1000, 300  # what stays as it is while the other grows
GAP, SMALL = 1e-3, (200, 60)
LEAST = {"seconds": 0.02, "megabytes": 2.0}
LATE = 3  # times the time given, until it is stopped


def _recipe(n: int, m: int) -> Any:
    import crowdopt

    return crowdopt.recipe(f"R10:{n}x{m}")


def _plan(n: int, m: int, seconds: float, method: str = "exact") -> Callable[[], bool]:
    import crowdopt

    instance = _recipe(n, m)

    def work() -> bool:
        plan = crowdopt.solve(instance, method=method, gap=GAP, time_limit=seconds)
        return plan.found and plan.gap is not None and plan.gap <= GAP

    return work


def _highs(n: int, m: int, seconds: float) -> Callable[[], bool]:
    return _plan(n, m, seconds, "highs")


def _linear(n: int, m: int, seconds: float) -> Callable[[], bool]:
    import crowdopt
    from crowdopt.assign.linear_plan import relax_classes
    from crowdopt.crowd.alike import classes_of

    instance, options = _recipe(n, m), crowdopt.Options(time_limit=seconds)

    def work() -> bool:
        found = relax_classes(classes_of(instance), crowdopt.solve_program, options)
        return found.certificate is not None

    return work


def _online(n: int, m: int, seconds: float, policy: str = "re-solve") -> Callable[[], bool]:
    import crowdopt
    from crowdopt.online.crowds import simulated_stream
    from crowdopt.online.policies import named
    from crowdopt.online.replay import replay

    stream = simulated_stream(_recipe(n, m), (0, 1))
    return lambda: replay(named(policy), stream, 0, crowdopt.solve_program).total_labels > 0


def _sequential(n: int, m: int, seconds: float) -> Callable[[], bool]:
    return _online(n, m, seconds, "sequential")


def _answers(n: int, m: int, seconds: float) -> Callable[[], bool]:
    from benchmarks.aggregation import drawn, ours

    data = drawn(n, m, 5, 0)
    return lambda: ours("one-coin", data, 0, 20)[1].size == n


def _hire(n: int, m: int, seconds: float) -> Callable[[], bool]:
    from benchmarks.selection import tallies
    from crowdopt.hire.candidates import SelectionInstance
    from crowdopt.hire.ranking import ranked

    instance = SelectionInstance(*tallies("2 to 200", m, 0), 2, m)
    return lambda: ranked(instance) is not None


METHODS = {
    "plan within .1 %": _plan,
    "linear program with proof": _linear,
    "highs within .1 %": _highs,
    "online: re-solve": _online,
    "online: sequential": _sequential,
    "answers: one-coin, 5 labels a task": _answers,
    "hiring: Algorithm 1": _hire,
}
BY_WORKERS_ALONE = {"hiring: Algorithm 1"}


def once(method: str, n: int, m: int, seconds: float) -> dict[str, Any]:
    """One run, here: seconds, megabytes beyond those before, and whether the result is there."""
    METHODS[method](*SMALL, seconds)()
    work = METHODS[method](n, m, seconds)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = perf_counter()
    there = work()
    took = perf_counter() - started
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"seconds": took, "megabytes": more, "there": bool(there)}


def grown(method: str, sizes: list[tuple[int, int]], seconds: float) -> list[dict[str, Any]]:
    """Runs at one size after another, up to where they take too long."""
    rows: list[dict[str, Any]] = []
    for n, m in sizes:
        command = [sys.executable, __file__, "--once", method, str(n), str(m), "--seconds", str(seconds)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LATE * seconds + 60)
        except subprocess.TimeoutExpired:
            return rows
        if done.returncode:
            print(done.stderr.splitlines()[-1:], file=sys.stderr)
            return rows
        rows.append({"size": (n, m), **json.loads(done.stdout.splitlines()[-1])})
        late = rows[-1]["seconds"] > 2 * seconds
        if late or (len(rows) > 1 and not any(row["there"] for row in rows[-2:])):
            return rows
    return rows


def exponent(rows: list[dict[str, Any]], grows: int, what: str) -> str:
    """The slope over runs that are large enough to be measured."""
    some = [row for row in rows if row["there"] and row[what] >= LEAST[what]]
    if len(some) < 2:
        return "–"
    size, value = (np.log([row["size"][grows] for row in some]), np.log([row[what] for row in some]))
    return f"{np.polyfit(size, value, 1)[0]:.2f}"


def cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    return f"{row['seconds']:.2g} s, {row['megabytes']:.0f} MB" if row["there"] else "not in time"


def table(grows: int, sizes: list[tuple[int, int]], methods: list[str], seconds: float) -> None:
    """Tasks (0) or workers (1) grow, a line for each method."""
    word = ("tasks", "workers")[grows]
    fixed = f"{WORKERS} workers" if grows == 0 else f"{TASKS} tasks"
    print(
        f"| {fixed} × {word} | {' | '.join(f'{size[grows]:,}' for size in sizes)} | time ∝ {word}^ | memory ∝ {word}^ |"
    )
    print(f"|{'---|' * (len(sizes) + 3)}")
    for method in methods:
        if method in BY_WORKERS_ALONE and grows == 0:
            continue
        rows = grown(method, sizes, seconds)
        cells = [cell(rows[k] if k < len(rows) else None) for k in range(len(sizes))]
        powers = [exponent(rows, grows, what) for what in LEAST]
        print(f"| {method} | {' | '.join([*cells, *powers])} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", metavar="METHOD")
    parser.add_argument("--seconds", type=float, default=30.0, help="that a run is given")
    parser.add_argument("--most", type=int, default=10_000_000, help="tasks; workers grow to a hundredth of it")
    parser.add_argument("--once", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        print(json.dumps(once(given.once[0], *map(int, given.once[1:]), given.seconds)))
        return
    powers = [10**k for k in range(3, len(str(given.most)))]
    table(0, [(n, WORKERS) for n in powers], given.methods or list(METHODS), given.seconds)
    print()
    table(1, [(TASKS, 30 * n // 1000) for n in powers], given.methods or list(METHODS), given.seconds)


if __name__ == "__main__":
    main()
