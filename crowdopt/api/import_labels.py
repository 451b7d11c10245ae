"""The verb import: real labels into a campaign. Who labelled how much, how well, and what is to be planned anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdopt.answers import one_coin
from crowdopt.api.binding import AnyPath
from crowdopt.arrays import Ints
from crowdopt.crowd.evidence import rule_named
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import Labels, tally
from crowdopt.crowd.skills import empirical_bayes
from crowdopt.errors import InputError
from crowdopt.io.campaign import write_campaign
from crowdopt.io.folder import CAMPAIGN, check_target
from crowdopt.io.tables import Table, read_table


@dataclass(frozen=True, eq=False)
class Imported:
    """An instance made of real labels, with the tallies its accuracies were estimated from.

    Parameters
    ----------
    instance : AssignmentInstance
    gold : (correct, asked), each (types, workers) int
    gold_source : str
        What the labels were held against, in words.
    """

    instance: AssignmentInstance
    gold: tuple[Ints, Ints]
    gold_source: str


def import_labels(
    labels: AnyPath,
    truth: AnyPath | None = None,
    *,
    types: AnyPath | None = None,
    epsilon: float = 0.05,
    capacity: int | None = None,
    rule: str = "bhattacharyya",
    output: AnyPath | None = None,
    force: bool = False,
) -> Imported:
    """Tally each worker against the truth, per type; without truth, against the answers of one-coin EM.

    Every task of the label table is to be labelled anew by the workers of the table.

    Parameters
    ----------
    labels : path
        Columns task, worker, label (others are ignored).
    truth : path, optional
        Columns task, label. Tasks without truth count for nobody's tally.
    types : path, optional
        Columns task, type; every task needs one.
    epsilon : float
        Error probability each task may have.
    capacity : int, optional
        For everybody; default: the number of labels the worker gave.
    rule : str
        Evidence rule.
    output : path, optional
        Campaign folder to write, with the tallies as gold.
    force : bool
        Whether a campaign that is there may be replaced.

    Returns
    -------
    Imported

    Raises
    ------
    InputError
        If a table cannot be used, the labels hold one class only, or the target cannot be written.
    """
    if output is not None:
        check_target(Path(output), CAMPAIGN, force)
    table = read_table(Path(labels), ("task", "worker", "label"), extras=True)
    known = None if truth is None else read_table(Path(truth), ("task", "label"), extras=True)
    given = _labels(table, known)
    if len(given.classes) < 2:
        raise InputError(f"{table.path.name} has the one label {given.classes[0]!r} only; there is nothing to decide")
    rule_named(rule, len(given.classes))
    kinds, names = _types(types, given)
    true, source = _truth(known, given)
    gold = tally(given, true, kinds, len(names))
    instance = AssignmentInstance(
        accuracy=empirical_bayes(*gold),
        task_type=kinds,
        capacity=given.counts if capacity is None else np.full(len(given.workers), capacity),
        epsilon=np.asarray(epsilon),
        rule=rule,
        classes=len(given.classes),
        tasks=given.tasks,
        workers=given.workers,
        types=names,
        title=f"imported from {table.path.name}",
        skills_source=f"empirical-bayes from {source}",
    )
    if output is not None:
        write_campaign(instance, output, force=force, gold=gold, gold_source=source)
    return Imported(instance, gold, source)


def _labels(table: Table, truth: Table | None) -> Labels:
    classes = [] if truth is None else truth.ids("label")
    columns = table.ids("task"), table.ids("worker"), table.ids("label")
    try:
        return Labels.from_columns(*columns, classes)
    except InputError as error:
        raise InputError(f"{table.path.name}: {error}") from None


def _truth(table: Table | None, labels: Labels) -> tuple[Ints, str]:
    """Index of each task's true class, -1 unknown, and where it comes from."""
    if table is None:
        return one_coin(labels).answer, "the answers of one-coin EM, for want of truth"
    place = {name: k for k, name in enumerate(labels.classes)}
    known = dict(zip(table.unique_ids("task"), table["label"], strict=True))
    truth = np.array([place[known[task]] if task in known else -1 for task in labels.tasks])
    if (truth < 0).all():
        raise InputError(f"{table.path.name} knows none of the tasks in the label table; check the ids")
    return truth, "truth"


def _types(path: AnyPath | None, labels: Labels) -> tuple[Ints, list[str]]:
    if path is None:
        return np.zeros(len(labels.tasks), np.int64), ["all"]
    table = read_table(Path(path), ("task", "type"), extras=True)
    kind = dict(zip(table.unique_ids("task"), table.ids("type"), strict=True))
    unknown = next((task for task in labels.tasks if task not in kind), None)
    if unknown is not None:
        raise InputError(f"{table.path.name} has no type for task {unknown!r}; every labelled task needs one")
    names = sorted({kind[task] for task in labels.tasks})
    place = {name: k for k, name in enumerate(names)}
    return np.array([place[kind[task]] for task in labels.tasks]), names
