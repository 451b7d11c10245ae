"""Algorithm 1 with its proof against one stable argsort of the same gains, and its proof checked again; a ratio each.

python benchmarks/selection.py [--workers M] [--seed S] [--repeats N]
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from time import perf_counter

import numpy as np

import crowdopt
from crowdopt.crowd.selection import SelectionInstance
from crowdopt.offline.ranking import algorithm1


def tallies(kind: str, workers: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Beta(2.3, 2) workers with 10 questions each, or 2 to 200, or 2 to 5000: ever fewer equal gains."""
    rng = np.random.default_rng(seed)
    asked = np.full(workers, 10) if kind == "10" else rng.integers(2, int(kind.split()[-1]) + 1, workers)
    return rng.binomial(asked, rng.beta(2.3, 2, workers)), asked


def timed(action: Callable[[], object]) -> tuple[float, object]:
    started = perf_counter()
    found = action()
    return perf_counter() - started, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    print(f"{given.workers} workers, seed {given.seed}, medians of {given.repeats}, side by side")
    print(
        f"{'questions':>10} {'argsort':>9} {'algorithm 1':>12} {'ratio':>6} {'recheck':>9} {'ratio':>6}  hired, proven"
    )
    for kind in ("10", "2 to 200", "2 to 5000"):
        correct, asked = tallies(kind, given.workers, given.seed)
        gains = -SelectionInstance(correct, asked).gain
        seconds: dict[str, list[float]] = {"sort": [], "run": [], "check": []}
        for _ in range(given.repeats):
            instance = SelectionInstance(correct, asked)  # nothing cached
            seconds["sort"].append(timed(lambda: np.argsort(gains, kind="stable"))[0])  # noqa: B023
            took, found = timed(lambda: algorithm1(instance))  # noqa: B023
            seconds["run"].append(took)
            took, proven = timed(lambda: found.proven)  # noqa: B023
            seconds["check"].append(took)
        sort, run, check = (median(seconds[name]) for name in ("sort", "run", "check"))
        size = found.members.size
        print(
            f"{kind:>10} {sort:9.4f} {run:12.4f} {run / sort:6.2f} {check:9.4f} {check / sort:6.2f}  {size}, {proven}"
        )
    print(f"crowdopt {crowdopt.__version__}, numpy {version('numpy')}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
