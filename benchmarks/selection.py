"""Algorithm 1 with its proof against one stable argsort of the same gains, and its proof checked again; a ratio each.

python benchmarks/selection.py [--workers M] [--seed S] [--repeats N] [--money]

With --money instead: 300 workers with prices, at most 100 and 40 in money, by search and by dynamic programming.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np

from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.ranking import ranked
from crowdopt.verbs.select import SelectOptions, hire


def tallies(kind: str, workers: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Beta(2.3, 2) workers with 10 questions each, or 2 to 200, or 2 to 1000: ever fewer equal gains."""
    rng = np.random.default_rng(seed)
    asked = np.full(workers, 10) if kind == "10" else rng.integers(2, int(kind.split()[-1]) + 1, workers)
    return rng.binomial(asked, rng.beta(2.3, 2, workers)), asked


def timed(action: Callable[[], object]) -> tuple[float, object]:
    started = perf_counter()
    found = action()
    return perf_counter() - started, found


def with_money(seed: int) -> None:
    """One run of each, and whether they agree."""
    rng = np.random.default_rng(seed)
    correct = rng.binomial(10, rng.beta(2.3, 2, 300))
    instance = SelectionInstance(correct, 10, 2, 100, price=rng.integers(1, 20, 300) / 2, money=40.0)
    print("| 300 workers with prices, at most 100 and 40 in money | seconds | score | status |\n|---|---|---|---|")
    for method in ("dynamic-programming", "program"):
        # gold is trusted: a crowd this near to guessing would be taken for one whose columns are swapped
        options = SelectOptions(method=method, time_limit=300.0, trust_gold=True)
        took, found = timed(lambda: hire(instance, options))  # noqa: B023
        print(f"| {method} | {took:.2f} | {found.score:.9f} | {found.status.value} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--money", action="store_true")
    given = parser.parse_args()
    if given.money:
        with_money(given.seed)
        return
    how = f"seed {given.seed}, medians of {given.repeats}, side by side"
    print(f"{given.workers:,} workers, {how}; seconds, in brackets times the argsort's.\n")
    head = ("control questions each", "argsort of the gains", "Algorithm 1 with its proof", "the proof checked again")
    print(f"| {' | '.join(head)} | hired |\n|{'---|' * (len(head) + 1)}")
    for kind in ("10", "2 to 200", "2 to 1000"):
        correct, asked = tallies(kind, given.workers, given.seed)
        gains = -SelectionInstance(correct, asked).gain
        seconds: dict[str, list[float]] = {"sort": [], "run": [], "check": []}
        for _ in range(given.repeats):
            instance = SelectionInstance(correct, asked)  # nothing cached
            seconds["sort"].append(timed(lambda: np.argsort(gains, kind="stable"))[0])  # noqa: B023
            took, found = timed(lambda: ranked(instance))  # noqa: B023
            seconds["run"].append(took)
            took, proven = timed(lambda: found.proven)  # noqa: B023
            seconds["check"].append(took)
        sort, run, check = (median(seconds[name]) for name in ("sort", "run", "check"))
        times = " | ".join(f"{took:.3f} ({took / sort:.2f})" for took in (run, check))
        print(f"| {kind} | {sort:.3f} | {times} | {found.members.size:,}{', proven' if proven else ''} |")


if __name__ == "__main__":
    main()
