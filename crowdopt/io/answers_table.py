"""Answers as tables, and the gold that weighted votes need."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdopt.answers import Answers
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import Labels
from crowdopt.errors import InputError
from crowdopt.io.hiring_tables import read_gold
from crowdopt.io.tables import read_table, write_table


def read_labels(path: str | Path) -> Labels:
    """A label table: columns task, worker, label (others are ignored)."""
    table = read_table(Path(path), ("task", "worker", "label"), extras=True)
    try:
        labels = Labels.from_columns(table.ids("task"), table.ids("worker"), table.ids("label"))
    except InputError as error:
        raise InputError(f"{table.path.name}: {error}") from None
    if len(labels.classes) < 2:
        raise InputError(f"{table.path.name} has the one label {labels.classes[0]!r} only; there is nothing to decide")
    return labels


def read_accuracy(path: str | Path, labels: Labels) -> Floats:
    """Share of gold each worker of the labels answered correctly, NaN for one without any, shape (workers,)."""
    names, correct, asked = read_gold(path)
    place = {name: k for k, name in enumerate(names)}
    rows = np.array([place.get(name, -1) for name in labels.workers])
    if (correct > asked).any():
        who = names[int(np.flatnonzero(correct > asked)[0])]
        raise InputError(
            f"{Path(path).name}: worker {who} has more correct answers than control questions; count again"
        )
    with np.errstate(invalid="ignore"):
        share: Floats = np.where((rows >= 0) & (asked[rows] > 0), correct[rows] / asked[rows], np.nan)
    return share


def read_truth(path: str | Path, labels: Labels) -> Ints:
    """Class of each task of the labels, -1 where it is not known, shape (tasks,)."""
    table = read_table(Path(path), ("task", "label"), extras=True)
    known = dict(zip(table.unique_ids("task"), table.ids("label"), strict=True))
    place = {name: k for k, name in enumerate(labels.classes)}
    truth = np.array([place.get(known.get(task, ""), -1 if task not in known else len(place)) for task in labels.tasks])
    if (truth < 0).all():
        raise InputError(f"{table.path.name} knows none of the tasks in the label table; check the ids")
    return truth


def write_answers(answers: Answers, labels: Labels, path: Path, force: bool = False) -> None:
    """``task,label,confidence,labels`` for every task, whole or not at all."""
    names = [*labels.classes, ""]
    columns = [labels.tasks, [names[k] for k in answers.answer.tolist()], answers.confidence, answers.count]
    write_table(path, ["task", "label", "confidence", "labels"], columns, force)


def write_accuracies(answers: Answers, labels: Labels, path: Path, force: bool = False) -> None:
    """``worker,labels,accuracy`` for every worker, whole or not at all."""
    if answers.accuracy is None:
        raise InputError(f"{answers.method} estimates nobody's accuracy; choose one-coin or dawid-skene")
    write_table(path, ["worker", "labels", "accuracy"], [labels.workers, labels.counts, answers.accuracy], force)
