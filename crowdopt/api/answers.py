"""The verb aggregate with a plan: answers, what is not yet sure, what is missing, the next campaign."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from crowdopt.api.at_hand import PlanLike, on_disk
from crowdopt.api.binding import AnyPath, InstanceLike, TableLike
from crowdopt.io.answers_folder import ANSWERS, write_answers
from crowdopt.io.folder import check_target
from crowdopt.io.labels_back import Answered, read_answers


def answers(
    labels: TableLike,
    plan: PlanLike,
    *,
    campaign: InstanceLike,
    skipped: TableLike | None = None,
    accept: bool = False,
    output: AnyPath | None = None,
    force: bool = False,
) -> Answered:
    """Answers from the labels of a plan: weighted votes, exact posteriors, what is missing; and the next campaign.

    Parameters
    ----------
    labels : path or frame
        Columns task, worker, label: what came back.
    plan : Plan or path
        A plan, or its folder.
    campaign : AssignmentInstance or path
        What it was made for: an instance, or the folder of a campaign.
    skipped : path or frame, optional
        Columns task, worker: who was asked and gave no label, such as the table that ``pull`` writes. Errors are those
        without them, and the next campaign does not ask the same worker again.
    accept : bool
        Whether tasks that no labels left can bring to their target are taken as they are: the next campaign has
        targets of their own for them, so that it serves the others.
    output : path, optional
        Where to write answers.csv, missing.csv and ``campaign/``, the campaign with these labels in, ready to solve.
    force : bool
        Whether answers that are there may be replaced.

    Returns
    -------
    Answered

    Raises
    ------
    InputError
        If something cannot be read, or the folder cannot be written.
    """
    if output is not None:
        check_target(Path(output), ANSWERS, force)
    with on_disk(campaign, plan, tables=True) as (given, planned):
        answered = replace(read_answers(labels, planned, given, skipped), accept=accept)
        if output is not None:
            write_answers(answered, output, force)
    return answered
