"""Do plans made from gold keep their word? Predicted against realised error, where the best-looking may do it all.

Each campaign draws its workers and their gold answers, and plans with the skills that gold tells. Predicted: the mean
exact error of the plan's votes if these were true. Realised: that of the same votes, with the same weights, under the
true skills. Both are computed, not simulated. Campaigns that the true skills could not serve are left out.

    python -m benchmarks.calibration [--campaigns 16] [--skills averaged] [--confidence .9] [--tasks 20] [-o FILE.csv]
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import crowdopt
from crowdopt.arrays import Floats
from crowdopt.crowd.doubt import drawn_errors
from crowdopt.crowd.gold import Gold
from crowdopt.crowd.skills import AVERAGED, ESTIMATORS
from crowdopt.crowd.vote_errors import errors_by, least_errors

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
DRAWS = 4000  # of a cell's mean error


class Outcome(NamedTuple):
    """A plan from gold, and what became of it."""

    predicted: float  # mean error if skills are as gold tells
    realised: float  # by the true skills
    labels: float  # of a task
    drawn: Floats  # mean errors over what gold leaves open


def campaign(crowd: str, m: int, gold: int, epsilon: float, number: int, given: argparse.Namespace) -> Outcome | None:
    """One campaign; None where true skills could not keep the target, or gold tells of no plan."""
    rng = np.random.default_rng([SEED, list(CROWDS).index(crowd), m, gold, number])
    true, n = CROWDS[crowd](rng, m), given.tasks
    known = Gold(rng.binomial(gold, true)[None], np.full((1, m), gold), "gold", method=given.skills)

    def of(accuracy: Floats) -> crowdopt.AssignmentInstance:
        return crowdopt.AssignmentInstance(accuracy, np.zeros(n, int), np.full(m, n), epsilon)

    truly = of(true[None])
    if (least_errors(truly) > epsilon).any():
        return None
    plan = crowdopt.solve(
        of(known.told(1, "").accuracy).as_read(known), time_limit=10, gap=0.02, confidence=given.confidence
    )
    if not (plan.found and plan.is_sure) or plan.pairs is None:
        return None
    tasks, planned = np.arange(n), plan.instance
    says, does = (errors_by(planned, law, tasks, plan.pairs).mean() for law in (planned.coins, truly.coins))
    drawn = drawn_errors(planned, plan.pairs)
    assert drawn is not None
    return Outcome(float(says), float(does), len(plan.pairs) / n, drawn)


def verdict(found: Sequence[Outcome]) -> tuple[float, float, float]:
    """Realised over predicted error, the 99 % quantile of that over what gold leaves open, and labels of a task."""
    says, does, labels = (float(np.mean([one[k] for one in found])) for k in range(3))
    rng = np.random.default_rng(SEED)
    over = np.mean([rng.permutation(np.resize(one.drawn, DRAWS)) for one in found], axis=0)
    return does / says, float(np.quantile(over, 0.99)) / says, labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=16)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--skills", choices=ESTIMATORS, default=AVERAGED)
    parser.add_argument("--confidence", type=float)
    parser.add_argument("-o", "--output", type=Path, help="a table with a row for each plan")
    given = parser.parse_args()
    cells: dict[tuple[str, int, int, float], list[Outcome]] = {}
    print(
        "| crowd | gold | workers | "
        + " | ".join(f"{x:g}" for x in TARGETS)
        + " |\n|---|---|---|"
        + "---|" * len(TARGETS)
    )
    for crowd, gold, m in product(CROWDS, GOLD, WORKERS):
        said = []
        for epsilon in TARGETS:
            each = [campaign(crowd, m, gold, epsilon, k, given) for k in range(given.campaigns)]
            cells[crowd, gold, m, epsilon] = found = [one for one in each if one is not None]
            ratio, most, labels = verdict(found) if found else (np.nan,) * 3
            said.append(f"{len(found)}: {ratio:.2f} (to {most:.2f}), {labels:.1f} labels" if found else "none")
        print(f"| {crowd} | {gold} | {m} | {' | '.join(said)} |", flush=True)
    rows = [(*cell, *one[:3], float(np.quantile(one.drawn, 0.99))) for cell, found in cells.items() for one in found]
    table = np.array([row[3:7] for row in rows], np.float64)
    told = [verdict(found)[:2] for found in cells.values() if found]
    outside = sum(ratio > max(1.25, most) for ratio, most in told)
    print(
        f"\n{len(rows)} plans, errors over their targets: realised/predicted "
        f"{(table[:, 2] / table[:, 0]).sum() / (table[:, 1] / table[:, 0]).sum():.3f}; cells above 1.25 and their 99 % "
        f"range {outside} of {len(told)}; mean errors above the target {100 * (table[:, 2] > table[:, 0]).mean():.1f} %"
    )
    if given.output is not None:
        with given.output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("crowd", "gold", "workers", "epsilon", "predicted", "realised", "labels", "at_most"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
