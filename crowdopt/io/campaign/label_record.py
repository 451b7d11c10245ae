"""Labels that were given once, in a campaign's own indices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Ints, coded
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.tables.frames import TableLike, name_of
from crowdopt.io.tables.label_table import campaign_pairs, read_label_table, read_true_labels


@dataclass(frozen=True, eq=False)
class LabelRecord:
    """Recorded labels in a campaign's indices, and the true classes."""

    # task, worker and class of each label
    task: Ints  # (k,)
    worker: Ints  # (k,)
    label: Ints  # (k,)
    truth: Ints  # (tasks,): class of each task, -1 where unknown


def read_record(instance: AssignmentInstance, labels: TableLike, truth: TableLike | None = None) -> LabelRecord:
    """Read a label table (task, worker, label) and the truth (task, label) of the campaign's tasks and workers."""
    table = read_label_table(labels)
    known = {} if truth is None else read_true_labels(truth)
    classes = sorted({*table["label"], *known.values()})
    if len(classes) > instance.classes:
        there = f"{name_of(labels)} has {len(classes)} different labels"
        raise InputError(f"{there}, but the campaign has {instance.classes}")
    task, worker = campaign_pairs(table, instance).T
    if np.unique(task * instance.n_workers + worker).size < task.size:
        raise InputError(f"{name_of(labels)} has a worker's label for a task twice; keep one of each pair")
    ids = (instance.task_id(i) for i in range(instance.n_tasks))
    return LabelRecord(task, worker, coded(table["label"], classes), coded(map(known.get, ids), classes))
