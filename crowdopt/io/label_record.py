"""Labels that were given once, in a campaign's own indices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.tables import Table, read_table


@dataclass(frozen=True, eq=False)
class LabelRecord:
    """K labels (task, worker, class) and the true classes, -1 where unknown."""

    task: Ints
    worker: Ints
    label: Ints
    truth: Ints


def read_record(instance: AssignmentInstance, labels: Path, truth: Path | None = None) -> LabelRecord:
    """Read a label table (task, worker, label) and true labels (task, label) of the campaign's tasks and workers.

    Raises
    ------
    InputError
        If a task or worker is not the campaign's, a pair occurs twice, or there are more classes than it has.
    """
    table = read_table(labels, ("task", "worker", "label"), extras=True)
    known = None if truth is None else read_table(truth, ("task", "label"), extras=True)
    classes = sorted({*table.ids("label"), *([] if known is None else known.ids("label"))})
    if len(classes) > instance.classes:
        raise InputError(f"{labels.name} has {len(classes)} different labels, but the campaign has {instance.classes}")
    place = {name: k for k, name in enumerate(classes)}
    tasks = {instance.task_id(i): i for i in range(instance.n_tasks)}
    workers = {instance.worker_id(j): j for j in range(instance.n_workers)}
    task = table.places("task", tasks, "the campaign has no such task")
    worker = table.places("worker", workers, "the campaign has no such worker")
    if np.unique(task * instance.n_workers + worker).size < task.size:
        raise InputError(f"{labels.name} has a worker's label for a task twice; keep one of each pair")
    label = np.array([place[name] for name in table["label"]], np.int64)
    return LabelRecord(task, worker, label, _truth(known, tasks, place))


def _truth(known: Table | None, tasks: dict[str, int], place: dict[str, int]) -> Ints:
    truth = np.full(len(tasks), -1, np.int64)
    if known is not None:
        for task, label in zip(known.unique_ids("task"), known["label"], strict=True):
            if task in tasks:
                truth[tasks[task]] = place[label]
    return truth
