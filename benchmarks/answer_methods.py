"""Wrong answers and log loss of recorded labels: crowd-kit's methods, ours, and what `aggregate` chooses.

python -m benchmarks.answer_methods [SET ...]

Needs crowd-kit 1.4.2 and pandas (extra ``oracles``), and CROWDOPT_DATA. crowd-kit's methods as they come, MACE from
seed 0. MACE of crowd-kit 1.4.2 reads workers' habits in the order of their names and writes them in the order in which
the names come, so all its methods get names numbered as they come; by other names its answers differ. *By labels*: the
choice knows labels alone. *By half*: it knows the answers of a random half of the tasks and is
judged on the other half, of 4 splits; there, crowd-kit's best of the whole set is judged on that half too.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import t as student

import crowdopt
from benchmarks.papers.real_data import folder_of
from crowdopt.answers.choosing import METHODS, chosen
from crowdopt.api.aggregate import vote_by
from crowdopt.crowd.labels import Labels

SETS = ("bluebird", "quiz_medicine", "rte", "zencrowd_core5", "zencrowd_all")
THEIRS = ("majority", "Dawid-Skene", "GLAD", "MACE")
HEAD = ("wrong share, log loss", *(f"crowd-kit {name}" for name in THEIRS), *METHODS, "default")
MORE = (
    "labels of",
    "crowd-kit's best",
    "default claims",
    "default errs",
    "less crowd-kit's best",
    "less it, half known",
)
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
    """Chances of crowd-kit's methods, (tasks, classes) each."""
    import pandas
    from crowdkit.aggregation.classification import GLAD, MACE, DawidSkene, MajorityVote

    fits = dict(zip(THEIRS, (MajorityVote(), DawidSkene(n_iter=100), GLAD(), MACE(random_state=0)), strict=True))
    worker, (label, classes) = pandas.factorize(labels.worker)[0], pandas.factorize(labels.label)
    frame = pandas.DataFrame({"task": labels.task, "worker": worker, "label": label})
    found = {}
    for name, fit in fits.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = fit.fit_predict_proba(frame).reindex(index=range(len(labels.tasks)), columns=range(classes.size))
        chances = np.zeros((len(labels.tasks), len(labels.classes)))
        chances[:, classes] = table.fillna(1 / classes.size).to_numpy()
        found[name] = chances
    return found


def ours(labels: Labels) -> dict[str, np.ndarray]:
    """Chances of the house's methods, difficulty heeded, and of the default, which is last."""
    found = {name: crowdopt.aggregate(labels, name) for name in METHODS}
    choice = chosen(labels)
    found[f"by {choice.method}"] = vote_by(choice, labels)
    return {name: answers.posterior for name, answers in found.items()}


def figures(chances: np.ndarray, truth: np.ndarray, judged: np.ndarray) -> tuple[float, float, float]:
    """Share of wrong answers among the judged, their log loss, and the share that is claimed."""
    table, true = chances[judged], truth[judged]
    right = np.maximum(table[np.arange(true.size), true], LEAST)
    return float((table.argmax(axis=1) != true).mean()), float(-np.log(right).mean()), float(1 - table.max(1).mean())


def by_half(labels: Labels, truth: np.ndarray, best: np.ndarray) -> tuple[float, float]:
    """Wrong share, on the half that was not known, of the default by the other half, and of one method's answers."""
    known, pairs = np.flatnonzero(truth >= 0), []
    for split in range(SPLITS):
        judged = known[np.random.default_rng(split).random(known.size) < 0.5]
        told = truth.copy()
        told[judged] = -1
        both = (vote_by(chosen(labels, told), labels, known=told).posterior, best)
        pairs.append([figures(chances, truth, judged)[0] for chances in both])
    mean = np.mean(pairs, axis=0)
    return float(mean[0]), float(mean[1])


def main(names: Sequence[str]) -> None:
    """Two tables: all methods, and the default beside crowd-kit's best, by labels and by known answers."""
    places = [folder_of(name) for name in names]
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    more, each, less, less_half = [], [], [], []
    for place in places:
        labels, truth = table(place)
        judged = np.flatnonzero(truth >= 0)
        other, own = theirs(labels), ours(labels)
        rows = [figures(chances, truth, judged) for chances in (*other.values(), *own.values())]
        cells = [f"{wrong:.3f}, {loss:.2f}" for wrong, loss, _ in rows]
        print(f"| {' | '.join([place.name, *cells])}, {list(own)[-1]} |", flush=True)
        each.append(rows)
        best = min(other, key=lambda method: figures(other[method], truth, judged)[0])
        least, (wrong, _, claimed) = figures(other[best], truth, judged)[0], rows[-1]
        half, best_half = by_half(labels, truth, other[best])
        less.append(wrong - least)
        less_half.append(half - best_half)
        cells = [f"{least:.3f}, {best}", f"{claimed:.3f}", f"{wrong:.3f}", f"{wrong - least:+.3f}"]
        more.append(f"| {place.name} | {' | '.join([*cells, f'{half - best_half:+.3f}'])} |")
    mean = np.mean(each, axis=0)
    print(f"| mean | {' | '.join(f'{wrong:.3f}, {loss:.3f}' for wrong, loss, _ in mean)} |")
    print(f"\n| {' | '.join(MORE)} |\n|{'---|' * len(MORE)}")
    print("\n".join(more))
    print(f"| mean, 95 % by sets | | | | {_mean(less)} | {_mean(less_half)} |")


def _mean(values: Sequence[float]) -> str:
    half = float(student.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{np.mean(values):+.3f} ± {half:.3f}"


if __name__ == "__main__":
    main(sys.argv[1:] or SETS)
