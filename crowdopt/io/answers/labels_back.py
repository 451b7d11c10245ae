"""Labels come back: read against the plan they were asked by, and voted over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from crowdopt.answers.planned import PlanAnswers, answers
from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.campaign.campaign_reading import Campaign, read_with_labels
from crowdopt.io.campaign.overrides import overridden
from crowdopt.io.plan.stored_plan import read_overrides, read_pairs
from crowdopt.io.plan.vote_table import read_votes, read_weights
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.label_table import campaign_pairs, read_label_table
from crowdopt.io.tables.table_columns import Table, read_table
from crowdopt.io.tables.table_kinds import SKIPPED
from crowdopt.notebooks import InNotebooks


@dataclass(frozen=True, eq=False)
class Onward:
    """How an adaptive plan goes on from these labels."""

    targets: Floats  # (tasks,): what its policy still errs with, in the mean of each type
    options: str  # of solve; empty after the last round
    asks: bool  # whether the policy asks anything where tasks stand now
    left: float  # money left, or infinity
    answer: Ints | None = None  # (tasks,): its own, where limits by class ask for others than the likeliest


@dataclass(frozen=True, eq=False)
class Answered(InNotebooks):
    """Answers to a campaign's tasks, and everything needed to go on with it.

    Parameters
    ----------
    campaign : Campaign
        Under the plan's rule and target.
    folder : Path
        Of the campaign.
    answers : PlanAnswers
        What the labels say of each task.
    pairs : (k, 2) int
        Task and worker of each label, those from before first.
    labels : list of str
        What each label says.
    new : (n, 2) int
        The pairs whose labels are new.
    names : tuple of str
        Of the classes.
    left_out : int
        Rows of the table whose labels were in before.
    overrides : dict
        What the plan was asked for beyond the campaign.
    skipped : (k, 2) int
        Task and worker of each label that was asked for and not given: an abstention, which is not asked for again.
    accept : bool
        Whether tasks that no labels left can settle are taken as they are from here on.
    onward : Onward, optional
        Of an adaptive plan.
    """

    campaign: Campaign
    folder: Path
    answers: PlanAnswers
    pairs: Ints
    labels: list[str]
    new: Ints
    names: tuple[str, ...]
    left_out: int
    overrides: dict[str, Any]
    skipped: Ints
    accept: bool = False
    onward: Onward | None = None

    in_notebooks: ClassVar[tuple[str, ...]] = ()

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first answers, and how many there are."""
        found = self.answers
        some = zip(found.answer[:most].tolist(), found.error[:most].tolist(), found.labels[:most].tolist(), strict=True)
        rows = [
            {"task": self.instance.task_id(i), "label": self.names[k], "error": error, "labels": labels}
            for i, (k, error, labels) in enumerate(some)
        ]
        return rows, found.answer.size

    @property
    def instance(self) -> AssignmentInstance:
        """The campaign's instance, under the plan's rule and target."""
        return self.campaign.instance


def read_answers(
    labels: TableLike, plan: str | Path, campaign: str | Path, skipped: TableLike | None = None
) -> Answered:
    """Vote over the labels that came back, and those already in, with the weights of a plan.

    labels: columns task, worker, label; labels of pairs that were not planned count as well; plan, campaign: the plan's
    folder and the folder of the campaign it was made for; skipped: columns task, worker: who was asked and gave no
    label; pairs that have one all the same are left out.
    """
    known = read_with_labels(campaign)
    overrides = read_overrides(plan)
    instance = overridden(known.instance, overrides)
    known = Campaign(instance, known.collected_labels, known.observed)
    table = read_label_table(labels)
    fresh, kept = _fresh(table, known, campaign_pairs(table, instance))
    said = [table["label"][k] for k in kept.tolist()]
    pairs = np.concatenate([instance.collected, fresh])
    planned, _ = read_pairs(plan, instance)
    label, cell = known.indices(said), instance.cells(pairs)
    if instance.confusion is None:
        weight = read_weights(plan, instance)[cell]
    else:
        weight = read_votes(plan, instance)[(*cell, label)]
    result = answers(instance, planned, pairs, label, weight)
    every = [*known.collected_labels, *said]
    names, left_out = known.class_names(said), table.rows - len(said)
    silent, m = _silent(skipped, instance, pairs), instance.n_workers
    awaited = ~np.isin(result.missing @ [m, 1], silent @ [m, 1])
    result = replace(result, missing=result.missing[awaited])
    return Answered(known, Path(campaign), result, pairs, every, fresh, names, left_out, overrides, silent)


def _silent(path: TableLike | None, instance: AssignmentInstance, pairs: Ints) -> Ints:
    if path is None:
        return pairs[:0]
    asked = np.unique(campaign_pairs(read_table(path, SKIPPED), instance), axis=0)
    return asked[~np.isin(instance.pair_keys(asked), instance.pair_keys(pairs))]


def _fresh(table: Table, known: Campaign, pairs: Ints) -> tuple[Ints, Ints]:
    """Labels that are not in yet, and their rows; a label that is there twice must say the same twice."""
    instance = known.instance
    seen = dict(zip(instance.pair_keys(instance.collected).tolist(), known.collected_labels, strict=True))
    kept = []
    for row, key in enumerate(instance.pair_keys(pairs).tolist()):
        if key not in seen:
            seen[key] = table["label"][row]
            kept.append(row)
        elif seen[key] != table["label"][row]:
            raise table.error(row, "label", f"this pair has another label, {seen[key]!r}, already; keep one of them")
    rows = np.array(kept, dtype=np.int64)
    return pairs[rows], rows
