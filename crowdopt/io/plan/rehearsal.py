"""Simulated labels of a plan, as the table that would come back."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.recipes import simulated_labels
from crowdopt.errors import InputError
from crowdopt.files import together
from crowdopt.io.campaign.campaign_reading import read_with_labels
from crowdopt.io.plan.stored_plan import read_pairs
from crowdopt.io.tables.cells import write_table
from crowdopt.io.tables.folder import check_target
from crowdopt.io.tables.table_columns import read_table
from crowdopt.io.tables.table_kinds import TRUTH


def write_rehearsal(
    campaign: str | Path,
    plan: str | Path,
    output: str | Path,
    truth: str | Path | None,
    seed: int,
    lost: float,
    force: bool,
) -> int:
    """Draw labels for a plan's pairs by the campaign's skills and write them.

    campaign, plan: folders.
    output: the table task,worker,label.
    truth: where the drawn truth is written; a table that is there already is read instead, for a second round. What is
    drawn is drawn given the labels that are in.
    seed: of the draw; each round has numbers of its own.
    lost: share of the labels that do not come.
    force: whether a table that is there is replaced.
    -> labels written.
    """
    check_target(Path(output), None, force)
    if truth is not None and not os.path.exists(truth):
        check_target(Path(truth), None, force)
    known = read_with_labels(campaign)
    instance, names = known.instance, known.class_names()
    pairs, table = read_pairs(plan, instance)
    task = instance.task_places
    count = len(known.collected_labels)
    rng = np.random.default_rng([seed, count] if count else seed)  # a round with another's seed draws other numbers
    given = None if truth is None or not os.path.exists(truth) else _truth(Path(truth), task, names)
    had = (instance.collected, known.indices()) if count else None
    true, label = simulated_labels(instance, pairs, rng, given, had)
    here = np.flatnonzero(rng.random(len(pairs)) >= lost)
    columns = [[table["task"][k] for k in here], [table["worker"][k] for k in here], [names[k] for k in label[here]]]
    with together():
        write_table(Path(output), ["task", "worker", "label"], columns, force)
        if truth is not None and given is None:
            write_table(Path(truth), ["task", "label"], [list(task), [names[k] for k in true]])
    return int(here.size)


def how_truth_is_drawn(campaign: str | Path) -> str:
    """What a rehearsal that is given no truth draws it by, in a sentence; empty where that is the prior."""
    count = len(read_with_labels(campaign).collected_labels)
    return f"truth drawn given the {count} label(s) that are in; --truth goes on with a table of it" if count else ""


def how_errors_are_drawn(campaign: str | Path) -> str:
    """What a rehearsal assumes of the joint law of errors, in a sentence."""
    instance = read_with_labels(campaign).instance
    families = sum(group.dependent for group in instance.groups)
    if instance.vote_law is not None:
        return f"errors drawn together by the {instance.vote_law.name} law of gold votes"
    if instance.difficulty.share:
        return f"errors drawn independently of one another on each task; {instance.difficulty.stated()}"
    if not families:
        return "errors drawn independently of one another"
    return (
        f"errors of {families} families drawn together: one number for a task and a family decides for all of it, so "
        "a worse worker errs wherever a better one does; other errors independently"
    )


def _truth(path: Path, task: dict[str, int], names: tuple[str, ...]) -> Ints:
    table = read_table(path, TRUTH)
    place = table.places("task", task, "it is not in the campaign")
    truth = np.full(len(task), -1)
    truth[place] = table.places("label", names, "it is no class of the campaign")
    if (truth < 0).any():
        raise InputError(f"{path.name} has no row for {int((truth < 0).sum())} of the campaign's tasks; write it anew")
    return truth
