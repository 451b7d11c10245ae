"""Real labels into a campaign: who labelled how much, how well, and what is to be planned anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdopt.answers import one_coin
from crowdopt.arrays import Ints
from crowdopt.crowd.evidence import rule_named
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import tally
from crowdopt.crowd.skills import empirical_bayes
from crowdopt.io.label_table import read_labels, read_true_labels, read_types, true_classes


@dataclass(frozen=True, eq=False)
class Imported:
    """An instance made of real labels, with the tallies its accuracies were estimated from."""

    instance: AssignmentInstance
    gold: tuple[Ints, Ints]
    gold_source: str


def import_labels(
    labels_path: str | Path,
    truth_path: str | Path | None = None,
    types_path: str | Path | None = None,
    epsilon: float = 0.05,
    capacity: int | None = None,
    rule: str = "bhattacharyya",
) -> Imported:
    """Tally each worker against the truth, per type; without truth, against the answers of one-coin EM.

    Every task of the label table is to be labelled anew by the workers of the table.

    Parameters
    ----------
    labels_path : path
        Columns task, worker, label (others are ignored).
    truth_path : path, optional
        Columns task, label. Tasks without truth count for nobody's tally.
    types_path : path, optional
        Columns task, type; every task needs one.
    capacity : int, optional
        For everybody; default: the number of labels the worker gave.

    Raises
    ------
    InputError
        If a table cannot be used, or the labels hold one class only.
    """
    known = None if truth_path is None else read_true_labels(truth_path)
    labels = read_labels(labels_path, () if known is None else tuple(known.values()))
    rule_named(rule, len(labels.classes))
    kinds, names = read_types(types_path, labels.tasks)
    truth, source = one_coin(labels).answer, "the answers of one-coin EM, for want of truth"
    if known is not None and truth_path is not None:
        truth, source = true_classes(known, labels, Path(truth_path).name), "truth"
    gold = tally(labels, truth, kinds, len(names))
    instance = AssignmentInstance(
        accuracy=empirical_bayes(*gold),
        task_type=kinds,
        capacity=labels.counts if capacity is None else np.full(len(labels.workers), capacity),
        epsilon=np.asarray(epsilon),
        rule=rule,
        classes=len(labels.classes),
        tasks=labels.tasks,
        workers=labels.workers,
        types=names,
        title=f"imported from {Path(labels_path).name}",
        skills_source=f"empirical-bayes from {source}",
    )
    return Imported(instance, gold, source)
