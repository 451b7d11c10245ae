"""Wrong answers and log loss of recorded labels: crowd-kit's methods, ours, and what `aggregate` chooses.

python -m benchmarks.answer_methods [SET ...]

Needs CROWDOPT_DATA, and crowd-kit 1.4.2 and pandas (extra ``oracles``) for what is theirs, which is left out where
crowd-kit is missing. crowd-kit's methods as they come, MACE from
seed 0. MACE of crowd-kit 1.4.2 reads workers' habits in the order of their names and writes them in the order in which
the names come, so all its methods get names numbered as they come; by other names its answers differ. The third table
has the default on 10, 5 and 3 labels of each task as well, drawn at random (seeds 0 to 2): by labels alone, and with
the answers to half or to a tenth of the tasks known (20 at least), judged on the others.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.stats import t as student

import crowdopt
from benchmarks.papers.real_data import folder_of
from crowdopt.answers import majority
from crowdopt.answers.choosing import METHODS, chosen
from crowdopt.crowd.labels import Labels
from crowdopt.verbs.aggregate import vote_by

SETS = ("bluebird", "quiz_medicine", "rte", "zencrowd_core5", "zencrowd_all")
THEIRS = ("majority", "Dawid-Skene", "GLAD", "MACE") if find_spec("crowdkit") else ()
HEAD = ("wrong share, log loss", *(f"crowd-kit {name}" for name in THEIRS), *METHODS, "default")
MORE = ("labels of", "crowd-kit's best", "default claims", "default errs", "less crowd-kit's best")
THIN = (
    "labels a task",
    "known",
    "default claims",
    "default errs",
    "claims / errs",
    "majority errs",
    "worst against it",
)
DRAWS, LEAST, FEWEST = 3, 1e-6, 20
NUMBERS, KNOWN = (0, 10, 5, 3), (0.0, 0.5, 0.1)  # labels of a task, 0: all; share of the tasks whose answer is known


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
    if not THEIRS:
        return {}
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


def thinned(labels: Labels, each: int, seed: int) -> Labels:
    """So many labels of each task at most, drawn at random, by the workers who are left; 0: all."""
    if not each:
        return labels
    order = np.lexsort((np.random.default_rng(seed).random(labels.task.size), labels.task))
    first = np.cumsum(labels.per_task) - labels.per_task
    kept = order[np.arange(order.size) - first[labels.task[order]] < each]
    workers, worker = np.unique(labels.worker[kept], return_inverse=True)
    names = tuple(labels.workers[j] for j in workers)
    return replace(labels, task=labels.task[kept], worker=worker, label=labels.label[kept], workers=names)


def beside_majority(labels: Labels, truth: np.ndarray, known: float, seed: int) -> tuple[float, ...] | None:
    """What the default claims and errs, what the majority errs, and standard errors by which the default is worse."""
    told = np.where(np.random.default_rng(seed).random(truth.size) < known, truth, -1) if known else None
    if told is not None and np.count_nonzero(told >= 0) < FEWEST:
        return None
    judged = (truth >= 0) & (labels.per_task > 0) & (True if told is None else told < 0)
    found = vote_by(chosen(labels, told), labels, known=told)
    wrong, other = ((answer != truth)[judged] for answer in (found.answer, majority(labels).answer))
    worse, better = int((wrong & ~other).sum()), int((other & ~wrong).sum())
    # of tasks on which one of both is right each is a fair coin if they are equally good (McNemar)
    apart = (worse - better) / np.sqrt(max(worse + better, 1))
    return float(1 - found.confidence[judged].mean()), float(wrong.mean()), float(other.mean()), float(apart)


def thin_line(tables: Sequence[tuple[Labels, np.ndarray]], each: int, known: float) -> str:
    """Means over sets and draws; the worst of them beside the majority."""
    of_set, worst = [], -np.inf
    for labels, truth in tables:
        seeds = range(DRAWS if each or known else 1)
        draws = [beside_majority(thinned(labels, each, seed), truth, known, seed) for seed in seeds]
        some = np.array([draw for draw in draws if draw is not None])
        if some.size:
            of_set.append(some[:, :3].mean(axis=0))
            worst = max(worst, float(some[:, 3].max()))
    claims, errs, other = np.mean(of_set, axis=0)
    cells = [f"{each or 'all'}", f"{known:.0%}", f"{claims:.3f}", f"{errs:.3f}", f"{claims / errs:.2f}", f"{other:.3f}"]
    return f"| {' | '.join([*cells, f'{worst:+.1f}'])} |"


def main(names: Sequence[str]) -> None:
    """Three tables: all methods, the default beside crowd-kit's best, and beside the majority on fewer labels."""
    places = [folder_of(name) for name in names]
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    more, each, less = [], [], []
    for place in places:
        labels, truth = table(place)
        judged = np.flatnonzero(truth >= 0)
        other, own = theirs(labels), ours(labels)
        rows = [figures(chances, truth, judged) for chances in (*other.values(), *own.values())]
        cells = [f"{wrong:.3f}, {loss:.2f}" for wrong, loss, _ in rows]
        print(f"| {' | '.join([place.name, *cells])}, {list(own)[-1]} |", flush=True)
        each.append(rows)
        if other:
            best = min(other, key=lambda method: figures(other[method], truth, judged)[0])
            least, (wrong, _, claimed) = figures(other[best], truth, judged)[0], rows[-1]
            less.append(wrong - least)
            cells = [f"{least:.3f}, {best}", f"{claimed:.3f}", f"{wrong:.3f}", f"{wrong - least:+.3f}"]
            more.append(f"| {place.name} | {' | '.join(cells)} |")
    mean = np.mean(each, axis=0)
    print(f"| mean | {' | '.join(f'{wrong:.3f}, {loss:.3f}' for wrong, loss, _ in mean)} |")
    if more:
        print(f"\n| {' | '.join(MORE)} |\n|{'---|' * len(MORE)}")
        print("\n".join(more))
        print(f"| mean, 95 % by sets | | | | {_mean(less)} |")
    print(f"\n| {' | '.join(THIN)} |\n|{'---|' * len(THIN)}")
    tables = [table(place) for place in places]
    for known in KNOWN:
        for number in NUMBERS:
            print(thin_line(tables, number, known), flush=True)


def _mean(values: Sequence[float]) -> str:
    half = float(student.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{np.mean(values):+.3f} ± {half:.3f}"


if __name__ == "__main__":
    main(sys.argv[1:] or SETS)
