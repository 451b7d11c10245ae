"""Learning whom to ask: what exploration costs over a grid of its constants, what ours earns, and how fast all is.

python -m benchmarks.learning [--trials N] [--seed S] [--processes P] [-o DIR] [grid | order | speed | sets ...]
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import crowdopt
from crowdopt.jobs import Job, run, seed_of
from crowdopt.labelers.sets import top_accuracies
from crowdopt.studies.online_trials import interval
from crowdopt.verbs.learn import DrawnLabelers, learn

SIZES = (5, 10, 20)
G1, G2 = (1, 3, 10, 20), (0.05, 0.1, 1, 5)
GRID = [f"ls-ol:g1={g1}:g2={g2}" for g1 in G1 for g2 in G2]
FULL, WEIGHTED = "full-majority", "ls-ol-weighted"
OURS = ["em-then-exploit", "em-then-exploit:testers=300", "em-then-exploit:votes=majority", "em-then-exploit:price=.5"]
OTHERS = [*OURS, WEIGHTED, FULL, "oracle", "oracle:votes=weighted"]
HORIZON, MARGIN = 2000, 0.03
TRIAL = "benchmarks.papers.liu_liu_trials:trial"


def rewards(labelers: int, given: argparse.Namespace) -> dict[str, dict[str, np.ndarray]]:
    """Reward overall and while exploiting, by policy: fresh skills, uniform on [0, 1] given a_min > 1/2, each trial."""
    seeds = [seed_of(given.seed, labelers, k) for k in range(given.trials)]
    fixed = {"labelers": labelers, "low": 0.0, "high": 1.0, "policies": [*GRID, *OTHERS]}
    rows = run([Job(TRIAL, {**fixed, "seed": seed}) for seed in seeds], given.output / "rows", given.processes)
    keys = ("reward", "reward_exploiting", "labels", "cost")
    found: dict[str, dict[str, np.ndarray]] = {}
    for text in fixed["policies"]:
        figures = [row.result[text]["figures"] for row in rows]
        found[text] = {key: np.array([np.nan if f[key] is None else f[key] for f in figures], float) for key in keys}
    return found


def grid(given: argparse.Namespace) -> None:
    """The table over (G1, G2), and ours beside its best, chosen in hindsight."""
    for labelers in SIZES:
        found = rewards(labelers, given)
        print(f"\nM = {labelers}: reward overall / while exploiting, {given.trials} trials")
        print("G1 \\ G2 " + "".join(f"{g2:>16g}" for g2 in G2))
        for g1 in G1:
            cells = [found[f"ls-ol:g1={g1}:g2={g2}"] for g2 in G2]
            print(f"{g1:>7g} " + "".join(f"{_two(cell):>16}" for cell in cells))
        best = max(GRID, key=lambda text: found[text]["reward"].mean())
        for text in OTHERS:
            gap, half = interval(found[text]["reward"] - found[best]["reward"])
            mark = f"  {'meets' if gap >= MARGIN else 'misses'} + {MARGIN}" if text in OURS else ""
            labels = found[text]["labels"].mean()
            print(f"{text:34s} {_two(found[text])}  less {best}: {gap:+.4f} ± {half:.4f}, {labels:.0f} labels{mark}")


def order(given: argparse.Namespace) -> None:
    """Whether full majority < LS_OL < weighted holds, at each point of the grid and M, by paired differences."""
    for labelers in SIZES:
        found = rewards(labelers, given)
        full = found[FULL]["reward"]
        below = [text for text in GRID if interval(found[text]["reward"] - full)[0] < 0]
        gap, half = interval(found[WEIGHTED]["reward"] - found["ls-ol:g1=20:g2=0.1"]["reward"])
        print(f"M = {labelers}: weighted less simple at (20, .1): {gap:+.4f} ± {half:.4f}")
        print(f"   LS_OL below the full majority ({full.mean():.4f}) at {len(below)} of {len(GRID)} points: {below}")


def _two(one: dict[str, np.ndarray]) -> str:
    exploiting = one["reward_exploiting"]
    second = "–" if np.isnan(exploiting).all() else f"{np.nanmean(exploiting):.3f}"
    return f"{one['reward'].mean():.3f} / {second}"


def speed(given: argparse.Namespace) -> None:
    """100 runs of T = 2000 at M = 20 of LS_OL, weighted and full majority: wall time, and processor time alone."""
    policies = ["ls-ol", WEIGHTED, FULL]
    started, used = perf_counter(), process_time()
    learn(DrawnLabelers.of(20), policies, horizon=HORIZON, trials=100, seed=given.seed)
    print(
        f"100 runs of each, one process: {perf_counter() - started:.1f} s, of which {process_time() - used:.1f} s work"
    )
    started = perf_counter()
    learn(DrawnLabelers.of(20), policies, horizon=HORIZON, trials=100, seed=given.seed, processes=2)
    print(f"two processes: {perf_counter() - started:.1f} s")


def sets(given: argparse.Namespace) -> None:
    """Every top-m set's pi at M = 1000."""
    p = np.sort(np.random.default_rng(given.seed).random(1000))[::-1]
    taken = []
    for _ in range(20):
        started = process_time()
        top_accuracies(p)
        taken.append(process_time() - started)
    print(f"pi of all top-m sets, M = 1000: {1e3 * median(taken):.1f} ms (median of 20)")


SUBJECTS = {"grid": grid, "order": order, "speed": speed, "sets": sets}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, with versions and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", choices=[*SUBJECTS, []], default=list(SUBJECTS))
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=Path("learning"), help="finished trials are kept there")
    given = parser.parse_args(arguments)
    versions: dict[str, Any] = {"crowdopt": crowdopt.__version__, "numpy": np.__version__}
    print(f"Python {platform.python_version()}, {versions}, seed {given.seed}, {sys.platform}")
    for subject in given.subjects:
        SUBJECTS[subject](given)


if __name__ == "__main__":
    main()
