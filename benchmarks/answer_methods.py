"""Share of wrong answers of recorded labels: crowd-kit's methods, ours, and what `aggregate` chooses.

python -m benchmarks.answer_methods [SET ...]

Needs crowd-kit 1.4.2 and pandas (extra ``oracles``), and CROWDOPT_DATA. crowd-kit's methods as they come, MACE from
seed 0. *By labels*: the choice knows labels alone. *By half*: it knows the answers of a random half of the tasks and is
judged on the other half, of 4 splits; there, crowd-kit's best of the whole set is judged on that half too.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.adaptive_trials import folder
from crowdopt.answers.choosing import METHODS, chosen
from crowdopt.answers.heeding import heeding
from crowdopt.crowd.labels import Labels

SETS = ("bluebird", "quiz_medicine", "rte", "zencrowd_core5", "zencrowd_all")
THEIRS = ("majority", "Dawid-Skene", "GLAD", "MACE")
HEAD = ("labels of", *(f"crowd-kit {name}" for name in THEIRS), *METHODS, "chosen by labels")
SPLITS, LEAST = 4, 1e-6


def table(place: Path) -> tuple[Labels, np.ndarray]:
    """A recorded table and its true classes, -1 where unknown."""
    rows, known = (_rows(place / f"{name}.csv") for name in ("labels", "truth"))
    labels = Labels.from_columns(*([row[key] for row in rows] for key in ("task", "worker", "label")))
    truth = {row["task"]: row["label"] for row in known}
    number = {name: k for k, name in enumerate(labels.classes)}
    return labels, np.array([number.get(truth.get(task, ""), -1) for task in labels.tasks])


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def theirs(labels: Labels) -> dict[str, np.ndarray]:
    """Answers of crowd-kit's methods, (tasks,) each."""
    import pandas
    from crowdkit.aggregation.classification import GLAD, MACE, DawidSkene, MajorityVote

    fits = dict(zip(THEIRS, (MajorityVote(), DawidSkene(n_iter=100), GLAD(), MACE(random_state=0)), strict=True))
    frame = pandas.DataFrame({"task": labels.task, "worker": labels.worker, "label": labels.label})
    found = {}
    for name, fit in fits.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[name] = fit.fit_predict(frame).reindex(range(len(labels.tasks))).to_numpy()
    return found


def halves(labels: Labels, truth: np.ndarray, ours: dict[str, np.ndarray], best: np.ndarray) -> tuple[float, float]:
    """Wrong share, on the half that was not known, of the choice by the other half, and of one method's answers."""
    known, pairs = np.flatnonzero(truth >= 0), []
    for split in range(SPLITS):
        judged = known[np.random.default_rng(split).random(known.size) < 0.5]
        told = truth.copy()
        told[judged] = -1
        method = chosen(labels, told).method
        pairs.append([float((answers[judged] != truth[judged]).mean()) for answers in (ours[method], best)])
    mean = np.mean(pairs, axis=0)
    return float(mean[0]), float(mean[1])


def main(names: Sequence[str]) -> None:
    """Two tables: all methods, and what known answers add."""
    base = folder()
    if base is None:
        raise SystemExit("no label sets: CROWDOPT_DATA names no folder")
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    more, losses = [], []
    for name in names:
        labels, truth = table(base / name)
        known = truth >= 0
        wrong = lambda answers, known=known, truth=truth: float((answers[known] != truth[known]).mean())  # noqa: E731
        other, fits = theirs(labels), {method: fit(labels) for method, fit in METHODS.items()}
        ours, method = {one: answers.answer for one, answers in fits.items()}, chosen(labels).method
        best = min(other.values(), key=wrong)
        cells = [f"{wrong(one):.3f}" for one in (*other.values(), *ours.values())]
        print(f"| {name} | {' | '.join(cells)} | {wrong(ours[method]):.3f}, {method} |", flush=True)
        by_half, best_half = halves(labels, truth, ours, best)
        excess = wrong(ours[method]) - wrong(best)
        more.append(f"| {name} | {wrong(best):.3f} | {excess:+.3f} | {by_half:.3f} | {by_half - best_half:+.3f} |")
        losses.append([_loss(heeding(answers, labels), truth, known) for answers in fits.values()])
    head = ("labels of", "crowd-kit's best", "by labels less that", "by half", "less the same on that half")
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    print("\n".join(more))
    said = (f"{method} {loss:.3f}" for method, loss in zip(METHODS, np.mean(losses, axis=0), strict=True))
    print(f"\nlog loss of the truth, mean of the sets, difficulty heeded: {', '.join(said)}")


def _loss(answers: Any, truth: np.ndarray, known: np.ndarray) -> float:
    chance = answers.posterior[np.flatnonzero(known), truth[known]]
    return float(-np.log(np.maximum(chance, LEAST)).mean())


if __name__ == "__main__":
    main(sys.argv[1:] or SETS)
