"""Do plans keep their word where workers err together, if the law of votes is learned from gold votes?

Each campaign plants a law (20 % hard items, where .3 of each worker's edge is left), draws gold votes, and plans with
what each law learned from them. The vote is the likeliest answer under that law. Claimed and realised errors of the
plan's sets are enumerated over all votes, under the learned law and under the planted one.

On recorded labels (--recorded: the first, third, ... item as gold) claimed is the mean posterior error of the other
items' answers under each law, realised the share that is wrong.

    python benchmarks/laws.py [--campaigns 10] [--gold 300] [--workers 12] [--epsilon .1]
    python benchmarks/laws.py --recorded bluebird rte          (folders of $CROWDOPT_DATA)
"""

from __future__ import annotations

import argparse
import csv
import os
from itertools import product
from pathlib import Path

import numpy as np

import crowdopt
from crowdopt.crowd.laws.coin_laws import CoinLaw
from crowdopt.crowd.laws.law_choice import FITS, chosen_law

SHARE, LEFT, TASKS = 0.2, 0.3, 100


def set_errors(workers: np.ndarray, law: CoinLaw, true: CoinLaw) -> tuple[float, float]:
    """Claimed and realised error of the likeliest answer from these workers, two classes alike before any label."""
    right = np.full((2 ** len(workers), true.accuracy.shape[1]), -1)
    right[:, workers] = list(product((0, 1), repeat=len(workers)))
    other = np.where(right < 0, -1, 1 - right)  # the same votes if the other class is true
    first, second = law.log_chance(right), law.log_chance(other)
    wrong = np.where(first < second - 1e-12, 1.0, np.where(first <= second + 1e-12, 0.5, 0.0))
    return float(wrong @ np.exp(first)), float(wrong @ np.exp(true.log_chance(right)))


def planned(law: CoinLaw, true: CoinLaw, epsilon: float) -> tuple[float, float, float]:
    """Mean claimed and realised error of a plan's tasks, and labels per task; NaN where there is no plan."""
    accuracy, workers = law.accuracy[:1], law.accuracy.shape[1]
    instance = crowdopt.AssignmentInstance(
        accuracy, np.zeros(TASKS, np.int64), np.full(workers, TASKS), epsilon, rule="exact-error",
        difficulty=law.difficulty,
    )  # fmt: skip
    plan = crowdopt.assign(instance, time_limit=10)
    if plan.pairs is None:
        return np.nan, np.nan, np.nan
    sets = [tuple(sorted(plan.pairs[plan.pairs[:, 0] == i, 1])) for i in range(TASKS)]
    errors = {one: set_errors(np.array(one), law, true) for one in set(sets)}
    claimed, realised = np.mean([errors[one] for one in sets], axis=0)
    return float(claimed), float(realised), len(plan.pairs) / TASKS


def campaign(seed: int, given: argparse.Namespace) -> tuple[str, dict[str, tuple[float, float, float]]]:
    """The chosen law's name, and what plans by each law claim, do and cost."""
    rng = np.random.default_rng(seed)
    easy = rng.uniform(0.7, 0.97, given.workers)
    true = CoinLaw("planted", np.array([1 - SHARE, SHARE]), np.stack([easy, 0.5 + LEFT * (easy - 0.5)]))
    part = (rng.random(given.gold) < SHARE).astype(np.int64)
    right = (rng.random((given.gold, given.workers)) < true.accuracy[part]).astype(np.int64)
    choice = chosen_law(right)
    rows = {name: planned(fit(right), true, given.epsilon) for name, fit in FITS.items()}
    return choice.law.name, {**rows, "chosen": rows[choice.law.name]}


def recorded(name: str) -> None:
    """Print claimed and realised error of answers on recorded labels of two classes, by law."""
    folder = Path(os.environ["CROWDOPT_DATA"]) / name
    with (folder / "truth.csv").open(encoding="utf-8") as file:
        truth = {row["task"]: row["label"] for row in csv.DictReader(file)}
    with (folder / "labels.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["task"] in truth]
    if len(set(truth.values())) != 2:
        raise SystemExit(f"{name} has {len(set(truth.values()))} classes; the answers here are between two")
    item, worker = ({key: k for k, key in enumerate(dict.fromkeys(row[c] for row in rows))} for c in ("task", "worker"))
    right = np.full((len(item), len(worker)), -1)
    for row in rows:
        right[item[row["task"]], worker[row["worker"]]] = row["label"] == truth[row["task"]]
    gold, rest = right[::2], right[1::2]
    choice = chosen_law(gold)
    for law in (fit(gold) for fit in FITS.values()):
        odds = law.log_chance(rest) - law.log_chance(np.where(rest < 0, -1, 1 - rest))
        claimed = float((1 / (1 + np.exp(np.abs(odds)))).mean())
        realised = float(np.where(odds < 0, 1.0, np.where(odds == 0, 0.5, 0.0)).mean())
        cells = f"{choice.loss[law.name]:.3f} | {claimed:.4f} | {realised:.4f} | {realised / claimed:.2f}"
        print(f"| {name} | {law.name}{' (chosen)' if law.name == choice.law.name else ''} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("campaigns", 10), ("gold", 300), ("workers", 12)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--recorded", nargs="+", metavar="NAME", help="folders of $CROWDOPT_DATA")
    given = parser.parse_args()
    if given.recorded:
        print("| data | law | held-out log loss | claimed | realised | realised/claimed |\n|---|---|---|---|---|---|")
        for name in given.recorded:
            recorded(name)
        return
    results = [campaign(seed, given) for seed in range(given.campaigns)]
    print(f"| law | chosen in | plans | claimed | realised | realised/target | labels per task |\n|{'---|' * 7}")
    for law in (*FITS, "chosen"):
        rows = np.array([each[law] for _, each in results])
        there = rows[~np.isnan(rows[:, 0])]
        chosen = len(results) if law == "chosen" else sum(name == law for name, _ in results)
        says, does, labels = there.mean(axis=0) if len(there) else (np.nan,) * 3
        print(
            f"| {law} | {chosen} | {len(there)} | {says:.4f} | {does:.4f} | {does / given.epsilon:.2f} | {labels:.2f} |"
        )


if __name__ == "__main__":
    main()
