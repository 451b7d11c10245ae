"""Answers as tables, and the gold that weighted votes need."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdopt.answers.voted import Answers
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import Labels
from crowdopt.errors import InputError
from crowdopt.io.cells import write_table
from crowdopt.io.hiring_tables import read_gold
from crowdopt.io.tables import read_table


def read_gold_shares(path: str | Path, labels: Labels) -> Floats:
    """Share of gold that each worker of the labels answered correctly.

    Parameters
    ----------
    path : path
        A table with columns worker, correct, asked.
    labels : Labels
        Of the workers.

    Returns
    -------
    (workers,) float
        NaN for a worker without gold.

    Raises
    ------
    InputError
        If the table cannot be used, or a worker has more correct answers than questions.
    """
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


def read_gold_by_class(path: str | Path, labels: Labels) -> Ints:
    """Gold answers of each worker of the labels by true class and by answer.

    Parameters
    ----------
    path : path
        A table with columns worker, true, answered, and optionally count, how many such answers a row stands for;
        others are ignored, and workers without labels too.
    labels : Labels
        Of the workers and classes.

    Returns
    -------
    (workers, classes, classes) int

    Raises
    ------
    InputError
        If the table cannot be used, or has a class that the labels have not.
    """
    table = read_table(Path(path), ("worker", "true", "answered"), ("count",), extras=True)
    place = {name: k for k, name in enumerate(labels.workers)}
    worker = np.array([place.get(name, -1) for name in table.ids("worker")], np.int64)
    classes = {name: k for k, name in enumerate(labels.classes)}
    remedy = "the classes are those of the labels; check the name"
    true, answered = (table.places(name, classes, remedy) for name in ("true", "answered"))
    count = table.counts("count") if "count" in table else np.ones(table.rows, np.int64)
    tallies = np.zeros((len(place), len(classes), len(classes)), np.int64)
    here = worker >= 0
    np.add.at(tallies, (worker[here], true[here], answered[here]), count[here])
    if not tallies.any():
        raise InputError(f"{table.path.name} has no gold of any worker of the labels; check the ids")
    return tallies


def write_answers(answers: Answers, labels: Labels, path: Path, force: bool = False) -> None:
    """``task,label,confidence,labels`` for every task, whole or not at all.

    Parameters
    ----------
    answers : Answers
    labels : Labels
        Of the names of tasks and classes.
    path : Path
        The file.
    force : bool
        Whether a file that is there is replaced.

    Raises
    ------
    InputError
        If the file is there and not forced, or cannot be written.
    """
    names = [*labels.classes, ""]
    columns = [labels.tasks, [names[k] for k in answers.answer.tolist()], answers.confidence, answers.count]
    write_table(path, ["task", "label", "confidence", "labels"], columns, force)


def write_accuracies(answers: Answers, labels: Labels, path: Path, force: bool = False) -> None:
    """``worker,labels,accuracy`` for every worker, whole or not at all.

    Parameters
    ----------
    answers : Answers
        By a method that estimates accuracies.
    labels : Labels
        Of the workers' names.
    path : Path
        The file.
    force : bool
        Whether a file that is there is replaced.

    Raises
    ------
    InputError
        If nobody's accuracy was estimated, or the file is there and not forced, or cannot be written.
    """
    if answers.accuracy is None:
        raise InputError(f"{answers.method} estimates nobody's accuracy; choose one-coin or dawid-skene")
    write_table(path, ["worker", "labels", "accuracy"], [labels.workers, labels.counts, answers.accuracy], force)
