"""Answers as tables, and the gold that weighted votes need."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdopt.answers.answers import Answers
from crowdopt.arrays import Floats, Ints, coded
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.skills import heed
from crowdopt.errors import InputError
from crowdopt.io.hiring_tables import read_gold
from crowdopt.io.tables.cells import write_table
from crowdopt.io.tables.frames import TableLike, name_of
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import CONFUSIONS


def read_gold_shares(source: TableLike, labels: Labels, trust_gold: bool = False) -> Floats:
    """Share of gold that each worker of the labels answered correctly.

    source: columns worker, correct, asked, or worker, task, label, truth; trust_gold: whether it is taken as it is,
    even where workers are below chance; -> (workers,): NaN for a worker without gold.
    """
    names, correct, asked = read_gold(source)
    if not trust_gold:
        heed(correct, asked, len(labels.classes), names, name_of(source))
    rows = coded(labels.workers, names)
    with np.errstate(invalid="ignore"):
        share: Floats = np.where((rows >= 0) & (asked[rows] > 0), correct[rows] / asked[rows], np.nan)
    return share


def read_gold_by_class(source: TableLike, labels: Labels, trust_gold: bool = False) -> Ints:
    """Gold answers of each worker of the labels by true class and by answer.

    source: columns worker, true, answered, and optionally count, how many such answers a row stands for; others are
    ignored, and workers without labels too; trust_gold: whether it is taken as it is, even where workers are below
    chance; -> (workers, classes, classes).
    """
    table = read_table(source, CONFUSIONS)
    worker, classes = coded(table.ids("worker"), labels.workers), labels.classes
    remedy = "the classes are those of the labels; check the name"
    true, answered = (table.places(name, classes, remedy) for name in ("true", "answered"))
    count = table.counts("count") if "count" in table else np.ones(table.rows, np.int64)
    tallies = np.zeros((len(labels.workers), len(classes), len(classes)), np.int64)
    here = worker >= 0
    np.add.at(tallies, (worker[here], true[here], answered[here]), count[here])
    if not tallies.any():
        raise InputError(f"{table.path.name} has no gold of any worker of the labels; check the ids")
    if not trust_gold:
        right, asked = np.trace(tallies, axis1=1, axis2=2), tallies.sum(axis=(1, 2))
        heed(right, asked, len(classes), labels.workers, name_of(source))
    return tallies


def write_answers(answers: Answers, labels: Labels, path: Path, force: bool = False) -> None:
    """``task,label,confidence,labels`` for every task, whole or not at all; force replaces a file."""
    names = [*labels.classes, ""]
    columns = [labels.tasks, [names[k] for k in answers.answer.tolist()], answers.confidence, answers.count]
    write_table(path, ["task", "label", "confidence", "labels"], columns, force)


def write_accuracies(answers: Answers, labels: Labels, path: Path, force: bool = False) -> None:
    """``worker,labels,accuracy`` for every worker, by answers that estimate them; whole or not at all."""
    if answers.accuracy is None:
        raise InputError(f"{answers.method} estimates no worker's accuracy; choose one-coin or dawid-skene")
    write_table(path, ["worker", "labels", "accuracy"], [labels.workers, labels.counts, answers.accuracy], force)
