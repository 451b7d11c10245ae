"""Exact errors of many votes at once: seconds for tasks with distinct labels, and how wide the lattice is beyond.

    python benchmarks/votes.py [--tasks 100000]

The ratio compares meeting in the middle with enumerating all label outcomes in numpy, side by side, on 14 labels.
"""

from __future__ import annotations

import argparse
import itertools
from statistics import median
from time import perf_counter

import numpy as np

from crowdopt.crowd.votes.voting import vote_errors, weighted_error

SEED = 7


def votes(tasks, labels):
    """CSR arrays of tasks with so many labels of workers who all differ."""
    rng = np.random.default_rng([SEED, labels])
    p = rng.uniform(0.5, 0.95, tasks * labels)
    return np.arange(tasks + 1) * labels, p, np.log(p / (1 - p)), np.full(tasks, 0.5), np.zeros(tasks)


def timed(call):
    started = perf_counter()
    found = call()
    return perf_counter() - started, found


def enumerated(p, w):
    right = np.array(list(itertools.product([True, False], repeat=p.size)))
    return float(np.where(right, p, 1 - p).prod(axis=1) @ (np.where(right, w, -w).sum(axis=1) < 0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=100_000)
    tasks = parser.parse_args().tasks
    weighted_error([0.7, 0.8])  # compiled once
    for count, labels in ((tasks, 20), (max(1, tasks // 50), 24), (20, 30), (20, 40), (20, 60)):
        given = votes(count, labels)
        runs = [timed(lambda given=given: vote_errors(*given)) for _ in range(3)]
        width = float(runs[0][1][1].max())
        print(f"{count} tasks x {labels} labels: {median(seconds for seconds, _ in runs):.2f} s, width {width:.1e}")
    starts, p, w, *_ = votes(50, 14)
    pieces = [(p[a:b], w[a:b]) for a, b in itertools.pairwise(starts.tolist())]
    slow, plain = timed(lambda: [enumerated(*one) for one in pieces])
    fast, exact = timed(lambda: [weighted_error(*one) for one in pieces])
    off = np.abs(np.subtract(plain, exact)).max()
    print(f"14 labels: {slow / fast:.0f} times as fast as enumeration, off by {off:.1e}")


if __name__ == "__main__":
    main()
