"""The campaign that goes on from labels that came back: the same tables, with what changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.files import write_text
from crowdopt.io.answers.continuation import Continuation
from crowdopt.io.answers.labels_back import Answered
from crowdopt.io.campaign.campaign_settings import difficulty_text, group_tables
from crowdopt.io.campaign.campaign_writing import by_cell
from crowdopt.io.campaign.own_rows import write_groups, write_rows
from crowdopt.io.tables.cells import write_csv
from crowdopt.io.tables.folder import CAMPAIGN
from crowdopt.io.tables.label_table import pair_ids
from crowdopt.io.tables.stored_tables import ENDINGS
from crowdopt.io.tables.table_columns import find_table, read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES

# tables that are taken over as they are
KEPT = ("tasks", "skills", "gold", "prices", "forbidden", "groups")


def write_next(found: Answered, folder: Path) -> None:
    """The campaign's own tables, with what changed: settings, collected labels, capacities, pairs no longer fixed."""
    for name in KEPT:
        path = find_table(found.folder, name)
        if path is not None:
            shutil.copyfile(path, folder / path.name)
    _write_settings(found, folder)
    _write_tasks(found, folder)
    _write_pairs(found, folder)
    write_csv(
        folder / "collected.csv", ["task", "worker", "label"], [*pair_ids(found.instance, found.pairs), found.labels]
    )
    _write_workers(found, folder)
    _write_fixed(found, folder)
    _write_rows(found, folder)


def _write_settings(found: Answered, folder: Path) -> None:
    """campaign.toml with its comments: labels count as they fell; the plan's own settings stay in force."""
    numbers = {key: value for key, value in found.overrides.items() if isinstance(value, str | float)}
    going_on = Continuation(found)
    settings = {"collected": json.dumps("observed" if going_on.observed else "evidence")}
    goes_on = ("rule", "epsilon", "budget", "skills")
    settings |= {key: json.dumps(value) for key, value in numbers.items() if key in goes_on}
    if found.onward is not None and found.instance.budget is not None:
        settings["budget"] = json.dumps(found.onward.left)
    if going_on.rule != found.instance.rule:
        settings["rule"] = json.dumps(going_on.rule)
    if "difficulty" in found.overrides:
        settings["difficulty"] = difficulty_text(found.instance.difficulty)
    lines = (found.folder / CAMPAIGN).read_text(encoding="utf-8-sig").splitlines()
    kept = [line for line in lines if line.partition("=")[0].strip() not in {*settings, *found.overrides}]
    kept = _without(kept, "difficulty") if "difficulty" in found.overrides else kept
    if "groups" in found.overrides:
        kept = [*_without(kept, "groups"), *group_tables(found.instance)]
        for ending in ENDINGS:
            (folder / f"groups{ending}").unlink(missing_ok=True)
        write_groups(found.instance, folder)
    write_text(folder / CAMPAIGN, "\n".join([*(f"{key} = {value}" for key, value in settings.items()), *kept, ""]))


def _without(lines: list[str], name: str) -> list[str]:
    kept, inside = [], False
    for line in lines:
        text = line.strip()
        if text.startswith("["):
            inside = text.strip("[] ").split(".")[0].strip(" \"'") == name
        if not inside and not text.replace(" ", "").startswith(f"{name}."):
            kept.append(line)
    return kept


def _write_tasks(found: Answered, folder: Path) -> None:
    # One target for all stands in campaign.toml.
    own = {"epsilon", "min_labels", "max_labels"} & set(found.overrides)
    path, going_on = find_table(folder, "tasks"), Continuation(found)
    again, accepts = going_on.asked_once_more, going_on.accepted.size > 0 or found.onward is not None
    if not (own or again.size or accepts) or path is None:
        return
    table, instance = read_table(path, CAMPAIGN_TABLES["tasks"]), found.instance
    fewest = instance.min_labels.copy()
    fewest[again] = np.maximum(fewest[again], 1 + found.answers.labels[again])
    path.unlink()
    most = ["" if most == UNLIMITED else most for most in instance.max_labels.tolist()]
    columns: dict[str, Iterable[Any]] = {**table.columns}
    columns |= {"epsilon": going_on.epsilon} if "epsilon" in own or accepts else {}
    columns |= {"min_labels": fewest} if "min_labels" in own or again.size else {}
    columns |= {"max_labels": most} if "max_labels" in own else {}
    if isinstance(found.overrides.get("epsilon"), float) and not accepts:
        del columns["epsilon"]
    columns |= table.extras
    write_csv(folder / "tasks.csv", list(columns), columns.values())


def _write_pairs(found: Answered, folder: Path) -> None:
    instance, barred = found.instance, Continuation(found).forbidden
    more = len(barred) > len(instance.forbidden)
    own = {"forbidden": "forbidden" in found.overrides or more, "prices": "price" in found.overrides}
    for table in (table for table, changed in own.items() if changed):
        path = find_table(folder, table)
        if path is not None:
            path.unlink()
    if own["forbidden"] and len(barred):
        write_csv(folder / "forbidden.csv", ["task", "worker"], pair_ids(instance, barred))
    if "price" in found.overrides:
        write_csv(folder / "prices.csv", ["worker", "type", "price"], by_cell(instance, instance.cost))


def _write_workers(found: Answered, folder: Path) -> None:
    path = find_table(found.folder, "workers")
    assert path is not None
    table, left = read_table(path, CAMPAIGN_TABLES["workers"]), Continuation(found).capacity
    anew = {"price": "price", "family": "groups"}  # what other tables say then
    columns: dict[str, Iterable[Any]] = {
        key: column for key, column in table.columns.items() if anew.get(key) not in found.overrides
    }
    columns["capacity"] = left
    if "min_tasks" in table or "min_tasks" in found.overrides:
        columns["min_tasks"] = np.clip(found.instance.min_load - _given(found), 0, left)
    columns |= table.extras
    write_csv(folder / "workers.csv", list(columns), columns.values())


def _given(found: Answered) -> Ints:
    return np.bincount(found.new[:, 1], minlength=found.instance.n_workers)


def _write_fixed(found: Answered, folder: Path) -> None:
    """Fixed pairs whose label may yet come, as far as their workers have capacity and their tasks room for it."""
    instance = found.instance
    had = {(task, worker) for task, worker in [*found.pairs.tolist(), *found.skipped.tolist()]}
    capacity = Continuation(found).capacity
    count = np.bincount(found.pairs[:, 0], minlength=instance.n_tasks)
    room = np.maximum(0, instance.max_labels - count)
    kept = []
    for task, worker in instance.fixed.tolist():
        if (task, worker) not in had and capacity[worker] > 0 and room[task] > 0:
            kept.append((task, worker))
            capacity[worker] -= 1
            room[task] -= 1
    if kept:
        write_csv(folder / "fixed.csv", ["task", "worker"], pair_ids(instance, np.array(kept, np.int64)))


def _write_rows(found: Answered, folder: Path) -> None:
    """Own rows, their sides less what the new labels have brought: they are about labels to come."""
    rows = found.instance.own_rows
    if rows is None:
        return
    came = np.isin(found.instance.pair_keys(rows.pairs), found.instance.pair_keys(found.new))
    brought = np.bincount(rows.row[came], rows.coefficient[came], len(rows.names))
    left = replace(rows, lower=rows.lower - brought, upper=rows.upper - brought)
    write_rows(replace(found.instance, own_rows=left), folder)
