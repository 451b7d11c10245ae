"""Labels come back: answers as a folder, with a campaign in it that is ready to be solved again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.answers.planned import PlanAnswers, answers
from crowdopt.arrays import Ints
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.files import write_text
from crowdopt.io.campaign import Campaign, read_with_labels
from crowdopt.io.campaign_tables import COLUMNS
from crowdopt.io.cells import write_csv
from crowdopt.io.folder import CAMPAIGN, new_folder
from crowdopt.io.label_table import campaign_pairs, read_label_table
from crowdopt.io.overrides import overridden
from crowdopt.io.stored_plan import read_overrides, read_pairs, read_weights
from crowdopt.io.tables import Table, find_table, read_table

ANSWERS = "answers.json"  # the file that tells a folder of answers
KEPT = ("tasks", "skills", "gold", "prices", "forbidden")  # tables that the next campaign takes over as they are


@dataclass(frozen=True, eq=False)
class Answered:
    """Answers to a campaign's tasks, and everything needed to go on with it."""

    campaign: Campaign
    folder: Path
    answers: PlanAnswers
    pairs: Ints
    labels: list[str]
    new: Ints
    names: tuple[str, ...]
    left_out: int
    overrides: dict[str, Any]

    @property
    def instance(self) -> AssignmentInstance:
        """The campaign's instance, under the plan's rule and target."""
        return self.campaign.instance


def read_answers(labels: str | Path, plan: str | Path, campaign: str | Path) -> Answered:
    """Vote over the labels that came back, and those already in, with the weights of a plan.

    Parameters
    ----------
    labels : path
        Columns task, worker, label; labels of pairs that were not planned count as well.
    plan, campaign : path
        The plan's folder and the folder of the campaign it was made for.

    Raises
    ------
    InputError
        If something cannot be read, a pair has two labels that differ, or a label is no class of the campaign.
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
    weight = read_weights(plan, instance)[instance.task_type[pairs[:, 0]], pairs[:, 1]]
    result = answers(instance, planned, pairs, known.indices(said), weight)
    every = [*known.collected_labels, *said]
    names, left_out = known.class_names(said), table.rows - len(said)
    return Answered(known, Path(campaign), result, pairs, every, fresh, names, left_out, overrides)


def _fresh(table: Table, known: Campaign, pairs: Ints) -> tuple[Ints, Ints]:
    """Labels that are not in yet, and their rows; a label that is there twice must say the same twice."""
    m = known.instance.n_workers
    before = known.instance.collected[:, 0] * m + known.instance.collected[:, 1]
    seen = dict(zip(before.tolist(), known.collected_labels, strict=True))
    kept = []
    for row, key in enumerate((pairs[:, 0] * m + pairs[:, 1]).tolist()):
        if key not in seen:
            seen[key] = table["label"][row]
            kept.append(row)
        elif seen[key] != table["label"][row]:
            raise table.error(row, "label", f"this pair has another label, {seen[key]!r}, already; keep one of them")
    rows = np.array(kept, dtype=np.int64)
    return pairs[rows], rows


def write_answers(found: Answered, folder: str | Path, force: bool = False) -> None:
    """Write answers.csv, missing.csv, and ``campaign/``: the same campaign with these labels in.

    The next campaign counts labels as they fell (``collected = "observed"``): what they say is each task's prior, so
    that solving it buys for tasks that are not yet sure, and nothing for those that are. Capacities are what is left.

    Raises
    ------
    InputError
        If the target exists and is not forced, or cannot be written.
    """
    instance, result = found.instance, found.answers
    if not found.folder.is_dir():
        raise InputError(f"{found.folder} is an archive; answers need a campaign folder, whose tables the next one has")
    missing = np.bincount(result.missing[:, 0], minlength=instance.n_tasks)
    columns: dict[str, Iterable[Any]] = {
        "task": [instance.task_id(i) for i in range(instance.n_tasks)],
        "answer": [found.names[k] for k in result.answer.tolist()],
        "error": result.error,
        "epsilon": result.epsilon,
        "sure": np.where(result.sure, "yes", "no"),
        "labels": result.labels,
        "missing": missing,
    }
    with new_folder(Path(folder), ANSWERS, force) as new:
        write_csv(new / "answers.csv", list(columns), columns.values())
        write_csv(new / "missing.csv", ["task", "worker"], _named(instance, result.missing))
        (new / "campaign").mkdir()
        _write_next(found, new / "campaign")
        write_text(new / ANSWERS, json.dumps(facts(found), indent=2, ensure_ascii=False) + "\n")


def facts(found: Answered) -> dict[str, Any]:
    """The answers in numbers."""
    instance, result = found.instance, found.answers
    return {
        "tasks": instance.n_tasks,
        "labels": len(found.pairs),
        "new_labels": len(found.new),
        "sure": int(result.sure.sum()),
        "unsure": int((~result.sure).sum()),
        "expected_wrong": float(result.error.sum()),
        "missing": len(result.missing),
        "rule": instance.rule,
        "skills": instance.skills_source,
    }


def _named(instance: AssignmentInstance, pairs: Ints) -> list[list[str]]:
    return [[instance.task_id(i) for i in pairs[:, 0].tolist()], [instance.worker_id(j) for j in pairs[:, 1].tolist()]]


def _write_next(found: Answered, folder: Path) -> None:
    """The campaign's own tables, with what changed: settings, collected labels, capacities, pairs no longer fixed."""
    for name in KEPT:
        path = find_table(found.folder, name)
        if path is not None:
            shutil.copyfile(path, folder / path.name)
    _write_settings(found, folder)
    _write_tasks(found, folder)
    _write_pairs(found, folder)
    write_csv(
        folder / "collected.csv", ["task", "worker", "label"], [*_named(found.instance, found.pairs), found.labels]
    )
    _write_workers(found, folder)
    _write_fixed(found, folder)


def _write_settings(found: Answered, folder: Path) -> None:
    """campaign.toml with its comments: labels count as observed; the plan's own settings stay in force."""
    numbers = {key: value for key, value in found.overrides.items() if isinstance(value, str | float)}
    settings = {"collected": '"observed"'}
    settings |= {key: json.dumps(value) for key, value in numbers.items() if key in ("rule", "epsilon", "budget")}
    lines = (found.folder / CAMPAIGN).read_text(encoding="utf-8-sig").splitlines()
    kept = [line for line in lines if line.partition("=")[0].strip() not in {*settings, *found.overrides}]
    write_text(folder / CAMPAIGN, "\n".join([*(f"{key} = {value}" for key, value in settings.items()), *kept, ""]))


def _write_tasks(found: Answered, folder: Path) -> None:
    """The tasks with the plan's own targets and limits; one target for all stands in campaign.toml."""
    own = {"epsilon", "min_labels", "max_labels"} & set(found.overrides)
    path = find_table(folder, "tasks")
    if not own or path is None:
        return
    table, instance = read_table(path, *COLUMNS["tasks"], extras=True), found.instance
    path.unlink()
    most = ["" if most == UNLIMITED else most for most in instance.max_labels.tolist()]
    columns: dict[str, Iterable[Any]] = {**table.columns}
    columns |= {"epsilon": instance.epsilon} if "epsilon" in own else {}
    columns |= {"min_labels": instance.min_labels} if "min_labels" in own else {}
    columns |= {"max_labels": most} if "max_labels" in own else {}
    if isinstance(found.overrides.get("epsilon"), float):
        del columns["epsilon"]
    write_csv(folder / "tasks.csv", list(columns), columns.values())


def _write_pairs(found: Answered, folder: Path) -> None:
    """Pairs and prices of the plan's own in place of the campaign's."""
    instance = found.instance
    own = {"forbidden": "forbidden", "price": "prices"}
    for table in (table for key, table in own.items() if key in found.overrides):
        path = find_table(folder, table)
        if path is not None:
            path.unlink()
    if "forbidden" in found.overrides and len(instance.forbidden):
        write_csv(folder / "forbidden.csv", ["task", "worker"], _named(instance, instance.forbidden))
    if "price" in found.overrides:
        kinds = np.unique(instance.task_type)
        cells = [(worker, kind) for worker in range(instance.n_workers) for kind in kinds.tolist()]
        names = [instance.worker_id(worker) for worker, _ in cells], [instance.type_id(kind) for _, kind in cells]
        write_csv(folder / "prices.csv", ["worker", "type", "price"], [*names, instance.cost[kinds].T.reshape(-1)])


def _write_workers(found: Answered, folder: Path) -> None:
    """Workers with the capacity that is left."""
    path = find_table(found.folder, "workers")
    assert path is not None
    table = read_table(path, *COLUMNS["workers"])
    given = np.bincount(found.new[:, 1], minlength=found.instance.n_workers)
    columns = {key: column for key, column in table.columns.items() if key != "price" or key not in found.overrides}
    columns["capacity"] = [str(max(0, k)) for k in (found.instance.capacity - given).tolist()]
    if "min_tasks" in table or "min_tasks" in found.overrides:
        columns["min_tasks"] = [str(max(0, k)) for k in (found.instance.min_load - given).tolist()]
    write_csv(folder / "workers.csv", list(columns), columns.values())


def _write_fixed(found: Answered, folder: Path) -> None:
    instance = found.instance
    m = instance.n_workers
    done = found.pairs[:, 0] * m + found.pairs[:, 1]
    fixed = instance.fixed[~np.isin(instance.fixed[:, 0] * m + instance.fixed[:, 1], done)]
    if len(fixed):
        write_csv(folder / "fixed.csv", ["task", "worker"], _named(instance, fixed))
