"""Do plans made from gold keep their word? Predicted against realised error, campaigns as the sampling unit.

Each campaign draws its own workers, their gold answers, and plans with the skills that empirical Bayes makes of them.
Predicted: mean exact error of the plan's votes if the estimates were true. Realised: that of the same votes, with the
same weights, under the true skills. Both are computed, not simulated.

    python benchmarks/calibration.py [--campaigns 40] [--workers 300] [--tasks 300] [--gold 20] [--alike] [-o FILE.csv]
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

import crowdopt
from crowdopt.crowd.law import CLIP
from crowdopt.crowd.skills import empirical_bayes
from crowdopt.crowd.vote_errors import vote_errors

CROWDS = {
    "beta(2.3, 2)": lambda rng, m: rng.beta(2.3, 2.0, m),
    "uniform(0, 1)": lambda rng, m: rng.uniform(0.0, 1.0, m),
    "uniform(.5, 1)": lambda rng, m: rng.uniform(0.5, 1.0, m),
    "80 % spammers (.5), 20 % hammers (.8)": lambda rng, m: np.where(rng.random(m) < 0.8, 0.5, 0.8),
}
ALIKE = {"everyone .6414": lambda rng, m: np.full(m, 0.6414)}  # whoever looks good was lucky
LABELS = dict.fromkeys(CROWDS, 30)  # per task that the crowd can give
LABELS |= dict.fromkeys(("80 % spammers (.5), 20 % hammers (.8)", "everyone .6414"), 120)
SEED = 20130617


def campaign(crowd: str, rule: str, number: int, m: int, n: int, gold: int, epsilon: float) -> tuple[float, float, int]:
    """Predicted and realised mean error, and labels, of one campaign; NaN where there is no plan."""
    crowds = CROWDS | ALIKE
    rng = np.random.default_rng([SEED, list(crowds).index(crowd), number])
    true = crowds[crowd](rng, m)
    believed = empirical_bayes(rng.binomial(gold, true)[None], np.full((1, m), gold))
    capacity = np.full(m, min(n, LABELS[crowd] * n // m))
    instance = crowdopt.AssignmentInstance(believed, np.zeros(n, np.int64), capacity, epsilon, rule=rule)
    plan = crowdopt.assign(instance, time_limit=5, gap=0.02)
    if plan.pairs is None:
        return np.nan, np.nan, 0
    starts = np.concatenate([[0], np.cumsum(plan.task_labels)]).astype(np.int64)
    weight = instance.weight[0, plan.pairs[:, 1]]
    fair, none = np.full(n, 0.5), np.zeros(n)
    says, does = (
        vote_errors(starts, np.clip(p[plan.pairs[:, 1]], CLIP, 1 - CLIP), weight, fair, none)[0].mean()
        for p in (believed[0], true)
    )
    return float(says), float(does), int(plan.labels)


def interval(ratios: np.ndarray) -> tuple[float, float]:
    """A 95 % bootstrap interval over campaigns for the ratio of means."""
    rng = np.random.default_rng(SEED)
    again = rng.integers(0, len(ratios), (2000, len(ratios)))
    means = ratios[again].mean(axis=1)
    low, high = np.quantile(means[:, 1] / means[:, 0], [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("campaigns", 40), ("workers", 300), ("tasks", 300), ("gold", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--alike", action="store_true", help="a crowd of equals in place of the others")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    table = [("crowd", "rule", "campaigns", "predicted", "realised", "realised/predicted", "95 % interval", "labels")]
    print(f"| {' | '.join(table[0])} |\n|{'---|' * len(table[0])}")
    for crowd in ALIKE if given.alike else CROWDS:
        for rule in ("bhattacharyya", "exact-error"):
            sizes = given.workers, given.tasks, given.gold, given.epsilon
            rows = np.array([campaign(crowd, rule, k, *sizes) for k in range(given.campaigns)])
            rows = rows[~np.isnan(rows[:, 0])]
            if not len(rows):
                print(f"| {crowd} | {rule} | 0, no plan in any {'| ' * 6}", flush=True)
                continue
            says, does, labels = rows.mean(axis=0)
            low, high = interval(rows[:, :2])
            table.append(
                (crowd, rule, len(rows), f"{says:.4f}", f"{does:.4f}", f"{does / says:.3f}", f"{low:.3f}-{high:.3f}",
                 f"{labels / given.tasks:.2f}")
            )  # fmt: skip
            print(f"| {' | '.join(map(str, table[-1]))} |", flush=True)
    if given.output is not None:
        with given.output.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
