"""Answers as a folder, with a campaign in it that is ready to be solved again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.documents import write_json
from crowdopt.errors import InputError
from crowdopt.io.answers.continuation import Continuation
from crowdopt.io.answers.labels_back import Answered
from crowdopt.io.answers.next_campaign import write_next
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import new_folder
from crowdopt.io.tables.label_table import pair_ids

ANSWERS = "answers.json"  # the file that tells a folder of answers


def write_answers(found: Answered, folder: str | Path, force: bool = False) -> None:
    """Write answers.csv, missing.csv, and ``campaign/``: the same campaign with these labels in.

    The next campaign counts labels as they fell (``collected = "observed"``): what they say is each task's prior, so
    that solving it buys for tasks that are not yet sure, and nothing for those that are. A rule that takes no notice
    of that gives way to one that does; where labels count as evidence all the same, a task that is not sure and lacks
    none is asked for one label more (crowdopt.io.answers.continuation). Capacities are what is left.
    """
    instance, result = found.instance, found.answers
    if not found.folder.is_dir():
        raise InputError(f"{found.folder} is an archive; answers need a campaign folder, whose tables the next one has")
    missing = np.bincount(result.missing[:, 0], minlength=instance.n_tasks)
    columns: dict[str, Iterable[Any]] = {
        "task": instance.task_ids,
        "answer": [found.names[k] for k in result.answer.tolist()],
        "error": [float(f"{error:.12g}") for error in result.error.tolist()],  # no last bit, which processors differ in
        "epsilon": result.epsilon,
        "sure": np.where(result.sure, "yes", "no"),
        "labels": result.labels,
        "missing": missing,
    }
    with new_folder(Path(folder), ANSWERS, force) as new:
        write_csv(new / "answers.csv", list(columns), columns.values())
        write_csv(new / "missing.csv", ["task", "worker"], pair_ids(instance, result.missing))
        (new / "campaign").mkdir()
        write_next(found, new / "campaign")
        write_json(new / ANSWERS, facts(found))


def facts(found: Answered) -> dict[str, Any]:
    """The answers in numbers."""
    instance, result, going_on = found.instance, found.answers, Continuation(found)
    return {
        "tasks": instance.n_tasks,
        "labels": len(found.pairs),
        "new_labels": len(found.new),
        "sure": int(result.sure.sum()),
        "unsure": int((~result.sure).sum()),
        "exhausted": int(going_on.exhausted.size),
        "out_of_reach": int(going_on.out_of_reach.size),
        "accepted": int(going_on.accepted.size),
        "asked_once_more": int(going_on.asked_once_more.size),
        "next_rule": going_on.rule,
        "expected_wrong": float(result.error.sum()),
        "missing": len(result.missing),
        "skipped": len(found.skipped),
        "rule": instance.rule,
        "skills": instance.skills_source,
    }
