"""Does an adaptive plan keep its word where judges err together, if the law of votes is learned from gold votes?

Planted laws: six judges, 1000 items, an expert at 40, gold votes drawn from the law. Each law of votes is fitted to
them, the cheapest adaptive plan by it is solved, and its cost and errors under the planted law are computed, not
simulated. "Hard items": 20 % of the items leave .3 of each judge's edge. "Families": three families of two, whose votes
are coupled by so much in log-odds.

On recorded labels (--recorded) every second item is gold. Claimed is the mean posterior error of the other items'
answers under each law, realised the share that is wrong: of all workers, and of the eight who labelled most.

    python benchmarks/dependence.py [--seeds 10] [--gold 300] [--epsilon .05]
    python benchmarks/dependence.py --sets                 (fixed sets, each of which keeps its target by the law)
    python benchmarks/dependence.py --recorded             (sets in $CROWDOPT_DATA)
"""

from __future__ import annotations

import argparse
import csv
import os
from itertools import product
from pathlib import Path

import numpy as np

import crowdopt
from crowdopt.assign.cascade.cascade import Cascade
from crowdopt.assign.cascade.law_prices import LawPrice, law_price
from crowdopt.assign.cascade.panels import vote_panel
from crowdopt.core.solution import Options
from crowdopt.crowd.law import Difficulty, Law
from crowdopt.crowd.law_fits import FITS, PANEL, chosen_law, laws_for, log_chances
from crowdopt.crowd.vote_errors import likeliest_errors

PRICES = (10.0, 6.0, 3.0, 1.0, 0.4, 0.2)
EASY = np.array([0.99, 0.98, 0.97, 0.94, 0.88, 0.84])  # of the six judges, on items that are not hard
ODDS = np.array([2.2, 2.0, 1.7, 1.4, 1.0, 0.9])  # of the judges in families
EXPERT, ITEMS = 40.0, 1000
SETS = ("bluebird", "rte", "quiz_medicine", "zencrowd_core5")


def hard_items() -> Law:
    """20 % of the items leave .3 of each judge's edge."""
    return Law.coins(EASY[None], 2, Difficulty(0.2, 0.3))


def families(coupling: float) -> Law:
    """Three families of two judges whose votes are coupled."""
    votes = 2.0 * np.array(list(product((0, 1), repeat=6))) - 1
    score = votes @ ODDS / 2 + coupling * sum(votes[:, a] * votes[:, b] for a, b in ((0, 1), (2, 3), (4, 5)))
    return Law.votes("planted", np.exp(score - np.logaddexp.reduce(score)), (votes + 1) / 2)


PLANTED = {
    "hard items": hard_items,
    "families, .4": lambda: families(0.4),
    "families, .6": lambda: families(0.6),
}


def gold_of(true: Law, seed: int, given: argparse.Namespace) -> np.ndarray:
    """Gold votes of one seed: whether each judge is right on each item."""
    rng = np.random.default_rng(seed)
    part = rng.choice(true.share.size, given.gold, p=true.share)
    return (rng.random((given.gold, 6)) < true.accuracy[part]).astype(np.int64)


def panel(law: Law, epsilon: float) -> crowdopt.AssignmentInstance:
    """The judges and items, by a law of votes."""
    return crowdopt.AssignmentInstance([EASY], [0] * ITEMS, [ITEMS] * 6, epsilon, cost=PRICES, vote_law=law)


def planned(true: Law, seed: int, given: argparse.Namespace, names: tuple[str, ...]) -> dict[str, LawPrice]:
    """Plans by laws of these names and by the chosen one, from gold of one seed."""
    right = gold_of(true, seed, given)
    judges, choice = vote_panel(panel(true, given.epsilon)), chosen_law(right, tuple(FITS))
    prices = {}
    for name in dict.fromkeys((*names, choice.law.name)):
        found = law_price(Cascade(judges, EXPERT), FITS[name](right), crowdopt.solve, Options(time_limit=60))
        assert found is not None
        prices[name] = found
    return {**prices, "chosen": prices[choice.law.name]}


def planted(given: argparse.Namespace) -> None:
    """Print the table of planted laws."""
    print("| planted | law | chosen in | promised cost | cost | errors/target | worst of them |\n|" + "---|" * 7)
    for what, law in PLANTED.items():
        runs = [planned(law(), seed, given, tuple(FITS)) for seed in range(given.seeds)]
        for name in (*FITS, "chosen"):
            rows = [run[name] for run in runs]
            count = sum(run["chosen"].name == name for run in runs) if name in FITS else len(runs)
            errs = np.array([row.errs for row in rows])
            says, does = (np.mean([getattr(row, key) for row in rows]) for key in ("promised", "cost"))
            print(f"| {what} | {name} | {count} | {says:.0f} | {does:.0f} | {errs.mean():.2f} | {errs.max():.2f} |")


def sets(given: argparse.Namespace) -> None:
    """Print what fixed sets by independence, and by the chosen law, err with under the planted one."""
    print("| planted | sets by | cost | plans that keep the target by that law | errors/target | worst task of all |")
    print("|" + "---|" * 6)
    for what, law in PLANTED.items():
        golds = [gold_of(law(), seed, given) for seed in range(given.seeds)]
        for name in ("independent", "the chosen law"):
            laws = [FITS[name](right) if name in FITS else chosen_law(right, tuple(FITS)).law for right in golds]
            terms = {"adaptive": True, "rounds": 1, "each_task": True}
            plans = [crowdopt.assign(panel(one, given.epsilon), **terms) for one in laws]
            errors = [likeliest_errors(panel(law(), given.epsilon), plan.pairs) / given.epsilon for plan in plans]
            cost, kept = np.mean([plan.objective for plan in plans]), sum(plan.found for plan in plans)
            mean, worst = np.mean(errors), np.max(errors)
            print(f"| {what} | {name} | {cost:.0f} | {kept} of {given.seeds} | {mean:.2f} | {worst:.2f} |", flush=True)


def recorded_labels(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Labels by class (items, workers), -1 where there is none, the truth (items,), and how many classes."""
    folder = Path(os.environ["CROWDOPT_DATA"]) / name
    with (folder / "truth.csv").open(encoding="utf-8") as file:
        truth = {row["task"]: row["label"] for row in csv.DictReader(file)}
    with (folder / "labels.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["task"] in truth]
    places = [{key: k for k, key in enumerate(dict.fromkeys(row[c] for row in rows))} for c in ("task", "worker")]
    names = sorted({*truth.values(), *(row["label"] for row in rows)})
    labels = np.full((len(places[0]), len(places[1])), -1)
    for row in rows:
        labels[places[0][row["task"]], places[1][row["worker"]]] = names.index(row["label"])
    return labels, np.array([names.index(truth[task]) for task in places[0]]), len(names)


def held_to_truth(law: Law, labels: np.ndarray, truth: np.ndarray, classes: int) -> tuple[float, float]:
    """Mean posterior error of the likeliest answers, wrong labels uniform, and the share that is wrong."""
    scores = np.stack(
        [
            log_chances(law, np.where(labels < 0, -1, labels == k))
            - ((labels >= 0) & (labels != k)).sum(axis=1) * np.log(classes - 1)
            for k in range(classes)
        ],
        axis=1,
    )
    chance = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    best = chance >= chance.max(axis=1, keepdims=True) - 1e-12
    right = best[np.arange(truth.size), truth] / best.sum(axis=1)
    return float((1 - chance.max(axis=1)).mean()), float(1 - right.mean())


def recorded() -> None:
    """Print claimed and realised errors of each law on recorded labels."""
    print("| data | workers | law | held-out log loss | claimed | realised | realised/claimed |\n|" + "---|" * 7)
    for name in SETS:
        labels, truth, classes = recorded_labels(name)
        most = np.sort(np.argsort(-(labels >= 0).sum(axis=0), kind="stable")[:PANEL])
        panels = {f"all {labels.shape[1]}": labels}
        if most.size < labels.shape[1]:
            panels[f"{PANEL} who labelled most"] = labels[:, most]
        for panel, said in panels.items():
            some = (said >= 0).any(axis=1)
            said, true = said[some], truth[some]
            gold = np.where(said[::2] < 0, -1, said[::2] == true[::2, None])
            choice = chosen_law(gold, laws_for(said.shape[1]))
            for law in choice.loss:
                claimed, realised = held_to_truth(FITS[law](gold), said[1::2], true[1::2], classes)
                mark = " (chosen)" if law == choice.law.name else ""
                cells = f"{choice.loss[law]:.3f} | {claimed:.4f} | {realised:.4f} | {realised / claimed:.2f}"
                print(f"| {name} | {panel} | {law}{mark} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--gold", type=int, default=300)
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument("--sets", action="store_true")
    given = parser.parse_args()
    if given.recorded:
        recorded()
    elif given.sets:
        sets(given)
    else:
        planted(given)


if __name__ == "__main__":
    main()
