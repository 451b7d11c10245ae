"""Do plans made from gold keep their word? Predicted against realised error, where the best-looking may do it all.

Each campaign draws its workers and their gold answers, and plans with the skills that gold tells. Predicted: the mean
exact error of the plan's votes if these were true. Realised: that of the same votes, with the same weights, under the
true skills. Both are computed, not simulated. Campaigns that the true skills could not serve are left out.

    python -m benchmarks.calibration [--campaigns 16] [--skills averaged] [--tasks 20] [-o FILE.csv]
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np

import crowdopt
from crowdopt.crowd.law import clipped
from crowdopt.crowd.skills import ESTIMATORS, estimator
from crowdopt.crowd.vote_errors import vote_errors

CROWDS = {
    "half .5, half .7": lambda rng, m: np.where(np.arange(m) % 2, 0.5, 0.7),
    "all .6414": lambda rng, m: np.full(m, 0.6414),
    "half .6, half .8": lambda rng, m: np.where(np.arange(m) % 2, 0.6, 0.8),
    "90 % .55, 10 % .75": lambda rng, m: np.where(np.arange(m) % 10, 0.55, 0.75),
    "beta(2.3, 2)": lambda rng, m: rng.beta(2.3, 2.0, m),
    "uniform(.5, 1)": lambda rng, m: rng.uniform(0.5, 1.0, m),
    "uniform(.7, .8)": lambda rng, m: rng.uniform(0.7, 0.8, m),
}
GOLD, WORKERS, TARGETS = (5, 10, 20, 50), (10, 50, 300), (0.2, 0.1, 0.05)
SEED = 20130617


def campaign(
    crowd: str, m: int, gold: int, epsilon: float, number: int, n: int, skills: str
) -> tuple[float, float, float] | None:
    """Predicted and realised mean error, and labels a task; None without a plan by true or by believed skills."""
    rng = np.random.default_rng([SEED, list(CROWDS).index(crowd), m, gold, number])
    true = CROWDS[crowd](rng, m)
    believed = estimator(skills)(rng.binomial(gold, true)[None], np.full((1, m), gold))
    instances = [crowdopt.AssignmentInstance(p, np.zeros(n, int), n, epsilon) for p in (true[None], believed)]
    if crowdopt.assign(instances[0], time_limit=5, gap=0.02).status not in ("optimal", "feasible"):
        return None
    plan = crowdopt.assign(instances[1], time_limit=5, gap=0.02)
    if plan.status not in ("optimal", "feasible"):
        return None
    pairs = plan.pairs[np.argsort(plan.pairs[:, 0], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=n))])
    weight, fair, none = instances[1].weight[0, pairs[:, 1]], np.full(n, 0.5), np.zeros(n)
    says, does = (
        vote_errors(starts, clipped(p[pairs[:, 1]]), weight, fair, none)[0].mean() for p in (believed[0], true)
    )
    return float(says), float(does), len(pairs) / n


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=16)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--skills", choices=ESTIMATORS, default="averaged")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    cells: dict[tuple[str, int, int, float], list[tuple[float, float, float]]] = defaultdict(list)
    print(
        f"| crowd | gold | {' | '.join(f'{x:g}: plans, realised/predicted, labels' for x in TARGETS)} |\n{'|---' * 5}|"
    )
    for crowd, gold in product(CROWDS, GOLD):
        said = []
        for epsilon in TARGETS:
            rows = []
            for m in WORKERS:
                found = [
                    campaign(crowd, m, gold, epsilon, k, given.tasks, given.skills) for k in range(given.campaigns)
                ]
                cells[crowd, gold, m, epsilon] = [one for one in found if one is not None]
                rows += cells[crowd, gold, m, epsilon]
            says, does, labels = np.mean(rows, axis=0) if rows else (np.nan,) * 3
            said.append(f"{len(rows)}, {does / says:.2f}, {labels:.1f}")
        print(f"| {crowd} | {gold} | {' | '.join(said)} |", flush=True)
    every = np.concatenate([np.array(rows)[:, :2] / cell[3] for cell, rows in cells.items() if rows])
    says, does = every.mean(axis=0)
    print(f"\nall {len(every)} plans, errors over their targets: realised/predicted {does / says:.3f}")
    if given.output is not None:
        with given.output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("crowd", "gold", "workers", "epsilon", "predicted", "realised", "labels"))
            writer.writerows((*cell, *row) for cell, rows in cells.items() for row in rows)


if __name__ == "__main__":
    main()
