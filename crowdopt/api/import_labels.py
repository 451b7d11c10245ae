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
from crowdopt.crowd.labels import tally
from crowdopt.crowd.skills import empirical_bayes
from crowdopt.io.campaign_writing import write_campaign
from crowdopt.io.folder import CAMPAIGN, check_target
from crowdopt.io.label_table import read_labels, read_true_labels, read_types, true_classes


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
    known = None if truth is None else read_true_labels(truth)
    given = read_labels(labels, () if known is None else tuple(known.values()))
    rule_named(rule, len(given.classes))
    kinds, names = read_types(types, given.tasks)
    if known is None or truth is None:
        true, source = one_coin(given).answer, "the answers of one-coin EM, for want of truth"
    else:
        true, source = true_classes(known, given, Path(truth).name), "truth"
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
        title=f"imported from {Path(labels).name}",
        skills_source=f"empirical-bayes from {source}",
    )
    if output is not None:
        write_campaign(instance, output, force=force, gold=gold, gold_source=source)
    return Imported(instance, gold, source)
