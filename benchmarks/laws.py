"""Do plans keep their word where workers err together, if the law of votes is learned from gold votes?

Each campaign plants a law (20 % hard items, where .3 of each worker's edge is left), draws gold votes, and plans with
what each law learned from them. The vote is the likeliest answer under that law. Claimed and realised errors of the
plan's sets are enumerated over all votes, under the learned law and under the planted one.

    python benchmarks/laws.py [--campaigns 10] [--gold 300] [--workers 12] [--epsilon .1]
"""

from __future__ import annotations

import argparse

import numpy as np

import crowdopt
from crowdopt.crowd.gold import COINS, FITS, GoldVotes, chosen_law
from crowdopt.crowd.law import Difficulty, Law

SHARE, LEFT, TASKS = 0.2, 0.3, 100


def set_errors(workers: np.ndarray, law: Law, true: Law) -> tuple[float, float]:
    """Claimed and realised error of the likeliest answer from these workers, two classes alike before any label."""
    first, second = law.ways(workers)
    odds = np.log(first / second)
    wrong = np.where(odds < -1e-12, 1.0, np.where(odds <= 1e-12, 0.5, 0.0))
    return float(wrong @ first), float(wrong @ true.ways(workers)[0])


def planned(law: Law, true: Law, epsilon: float) -> tuple[float, float, float]:
    """Mean claimed and realised error of a plan's tasks, and labels per task; NaN where there is no plan."""
    accuracy, workers = law.accuracy[:1], law.accuracy.shape[1]
    instance = crowdopt.AssignmentInstance(
        accuracy, np.zeros(TASKS, np.int64), np.full(workers, TASKS), epsilon, rule="exact-error",
        difficulty=law.difficulty,
    )  # fmt: skip
    plan = crowdopt.solve(instance, time_limit=10)
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
    true = Law.coins(easy[None], 2, Difficulty(SHARE, LEFT))
    part = (rng.random(given.gold) < SHARE).astype(np.int64)
    votes = GoldVotes.of((rng.random((given.gold, given.workers)) < true.accuracy[part]).astype(np.int64))
    choice = chosen_law(votes)
    rows = {name: planned(FITS[name](votes), true, given.epsilon) for name in COINS}
    return choice.law.name, {**rows, "chosen": rows[choice.law.name]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("campaigns", 10), ("gold", 300), ("workers", 12)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--epsilon", type=float, default=0.1)
    given = parser.parse_args()
    results = [campaign(seed, given) for seed in range(given.campaigns)]
    print(f"| law | chosen in | plans | claimed | realised | realised/target | labels per task |\n|{'---|' * 7}")
    for law in (*COINS, "chosen"):
        rows = np.array([each[law] for _, each in results])
        there = rows[~np.isnan(rows[:, 0])]
        chosen = len(results) if law == "chosen" else sum(name == law for name, _ in results)
        says, does, labels = there.mean(axis=0) if len(there) else (np.nan,) * 3
        print(
            f"| {law} | {chosen} | {len(there)} | {says:.4f} | {does:.4f} | {does / given.epsilon:.2f} | {labels:.2f} |"
        )


if __name__ == "__main__":
    main()
