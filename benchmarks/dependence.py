"""Do plans keep their word where judges err together, if the law of votes is learned from gold votes?

Planted panels: eight judges, 200 gold items that all of them labelled, 1000 new ones, target .05. In "families" a
vote uses, with chance .4 or .6, its family's own number for that item, below which a judge has to be. "Hard items": a
share of .1 to .3 of the items leaves .2 to .5 of each judge's edge. Plans are those of campaigns with such gold:
of fixed sets by accuracies and difficulty, of sets by the chosen law (--rounds 1 --each-task), and adaptive ones. Their
errors under the planted law are computed, not simulated; the answer is the likeliest class under the chosen law.

On recorded labels (--recorded) every second item is gold. Claimed is the mean posterior error of the other items'
answers under each law, realised the share that is wrong: of all workers, and of the eight who labelled most.

    python benchmarks/dependence.py [--panels 5] [--gold 200] [--epsilon .05]
    python benchmarks/dependence.py --recorded             (sets in $CROWDOPT_DATA)
"""

from __future__ import annotations

import argparse
import csv
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

import crowdopt
from crowdopt import Adaptive
from crowdopt.assign.cascade.cheapest_policy import law_price
from crowdopt.assign.cascade.panels import vote_panel
from crowdopt.assign.cascade.policy import Cascade
from crowdopt.core.solution import Options
from crowdopt.crowd.gold import FITS, INDEPENDENT, PANEL, GoldVotes, LawChoice, chosen_law, log_chances
from crowdopt.crowd.law import Difficulty, Law

SKILLS = np.array([0.93, 0.86, 0.78, 0.92, 0.84, 0.88, 0.74, 0.76])  # but for up to .02
FAMILIES = ((0, 1, 2), (3, 4), (5, 6), (7,))
ITEMS = 1000
SETS = ("bluebird", "rte", "quiz_medicine", "zencrowd_core5")
KINDS = ("families, .4", "families, .6", "hard items", "independent")


def set_errors(workers: np.ndarray, law: Law, true: Law) -> tuple[float, float]:
    """Claimed and realised error of the likeliest answer from these workers, two classes alike before any label."""
    first, second = law.ways(workers)
    odds = np.log(first / second)
    wrong = np.where(odds < -1e-12, 1.0, np.where(odds <= 1e-12, 0.5, 0.0))
    return float(wrong @ first), float(wrong @ true.ways(workers)[0])


def families(skill: np.ndarray, chance: float) -> Law:
    """Families in which a vote uses the family's number with this chance: a part for each place that it may have."""
    share, accuracy = np.ones(1), np.zeros((1, skill.size))
    for family in map(list, FAMILIES):
        ends = np.sort(np.array([0.0, *skill[family], 1.0]))
        below = (ends[:-1, None] + ends[1:, None]) / 2 < skill[family]
        share = np.outer(share, np.diff(ends)).ravel()
        accuracy = np.repeat(accuracy, ends.size - 1, axis=0)
        accuracy[:, family] = np.tile(chance * below + (1 - chance) * skill[family], (len(accuracy) // len(below), 1))
    return Law.votes("planted", share, accuracy)


def panel(kind: str, seed: int, gold: int) -> tuple[Law, GoldVotes, np.ndarray]:
    """A planted law, gold votes by it, and how many items each judge takes: all of them, where some are hard."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    skill = SKILLS + rng.uniform(-0.02, 0.02, SKILLS.size)
    capacity = np.full(skill.size, ITEMS) if kind == "hard items" else rng.integers(400, ITEMS + 1, skill.size)
    law = Law.coins(skill[None])
    if kind == "hard items":
        law = Law.coins(skill[None] + 0.03, 2, Difficulty(rng.uniform(0.1, 0.3), rng.uniform(0.2, 0.5)))
    elif kind != "independent":
        law = families(skill, float(kind.split()[1]))
    part = rng.choice(law.share.size, gold, p=law.share)
    return law, GoldVotes.of((rng.random((gold, skill.size)) < law.accuracy[part]).astype(np.int64)), capacity


def campaign(law: Law, choice: LawChoice, capacity: np.ndarray, epsilon: float) -> crowdopt.AssignmentInstance:
    """What a campaign becomes whose gold votes have such a law of coins, and such a choice."""
    known = None if choice.law is law else choice.law
    terms = {"difficulty": law.difficulty, "vote_law": known}
    return crowdopt.AssignmentInstance(law.speech.accuracy[0], [0] * ITEMS, capacity, epsilon, **terms)


def fixed(instance: crowdopt.AssignmentInstance, true: Law, **terms: object) -> tuple[float, float] | None:
    """Labels per item and error over the target of a plan of fixed sets; None where not all items have one."""
    plan = crowdopt.solve(instance, time_limit=5, **terms)
    if plan.pairs is None or not plan.found:
        return None
    sets = Counter(tuple(plan.pairs[plan.pairs[:, 0] == i, 1].tolist()) for i in range(ITEMS))
    wrong = sum(count * set_errors(np.array(one), instance.law, true)[1] for one, count in sets.items())
    return len(plan.pairs) / ITEMS, wrong / ITEMS / instance.epsilon[0]


def adaptive(instance: crowdopt.AssignmentInstance, true: Law) -> tuple[float, float] | None:
    """Labels per item and error over the target of an adaptive plan; None where it cannot keep the target."""
    judges = vote_panel(replace(instance, vote_law=true, difficulty=(0.0, 1.0)))
    found = law_price(Cascade(judges), instance.law, crowdopt.solve_program, Options(time_limit=60))
    return None if found is None or found.times > 1 + 1e-6 else (found.cost / ITEMS, found.errs)


def planted(given: argparse.Namespace) -> None:
    """Print what plans by independence, and by what is learned, need and err with."""
    print("| planted | plan | law | plans | labels | errors/target | worst of them |\n|" + "---|" * 7)
    rows: dict[tuple[str, str, str], list[tuple[float, float] | None]] = {}
    for kind in KINDS:
        for seed in range(given.panels):
            true, gold, capacity = panel(kind, seed, given.gold)
            alone, choice = FITS[INDEPENDENT](gold), chosen_law(gold)
            by = {
                "independent": campaign(alone, LawChoice(alone, alone, {}), capacity, given.epsilon),
                "chosen": campaign(choice.by_coins, choice, capacity, given.epsilon),
            }
            for name, instance in by.items():
                found = {"fixed": fixed(instance, true), "adaptive": adaptive(instance, true)}
                if name == "chosen":
                    found["each task"] = fixed(instance, true, method=Adaptive(rounds=1, each_task=True))
                for what, row in found.items():
                    rows.setdefault((kind, what, name), []).append(row)
                    rows.setdefault(("all", what, name), []).append(row)
    for (kind, what, name), each in sorted(rows.items()):
        there = np.array([row for row in each if row is not None]).reshape(-1, 2)
        mean, worst = there.mean(axis=0), there[:, 1].max(initial=0)
        cells = f"{len(there)} of {len(each)} | {mean[0]:.2f} | {mean[1]:.2f} | {worst:.2f}"
        print(f"| {kind} | {what} | {name} | {cells} |", flush=True)


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
            log_chances(law, GoldVotes.of(np.where(labels < 0, -1, labels == k)))
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
            gold = GoldVotes.of(np.where(said[::2] < 0, -1, said[::2] == true[::2, None]))
            choice = chosen_law(gold)
            for law in choice.loss:
                claimed, realised = held_to_truth(FITS[law](gold), said[1::2], true[1::2], classes)
                mark = " (chosen)" if law == choice.law.name else ""
                cells = f"{choice.loss[law]:.3f} | {claimed:.4f} | {realised:.4f} | {realised / claimed:.2f}"
                print(f"| {name} | {panel} | {law}{mark} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--panels", type=int, default=5)
    parser.add_argument("--gold", type=int, default=200)
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--recorded", action="store_true")
    given = parser.parse_args()
    if given.recorded:
        recorded()
    else:
        planted(given)


if __name__ == "__main__":
    main()
