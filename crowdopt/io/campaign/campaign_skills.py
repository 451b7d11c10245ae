"""How often each worker of a campaign is right on each type: given, or estimated from gold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.gold import Gold, Told
from crowdopt.crowd.law import NONE, coins_like
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.skills import AVERAGED
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_settings import difficulty_of
from crowdopt.io.campaign.campaign_tables import Ids, optional_table, refuse_repeats
from crowdopt.io.campaign.gold_table import is_by_class, read_gold
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.table_columns import Table, find_table, read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES


@dataclass(frozen=True, eq=False)
class CampaignSkills:
    """What a campaign knows of its workers."""

    told: Told  # accuracies, and what gold tells of dependence
    # where gold is by true class and answer; the accuracies then tell as much
    confusion: Floats | None = None  # (types, workers, classes, classes)
    names: tuple[str, ...] | None = None  # the classes that such gold names
    gold: Gold | None = None  # that they come from


def read_accuracy(folder: Path, ids: Ids, settings: dict[str, Any]) -> CampaignSkills:
    """Accuracies of a campaign's workers, or their confusion tables, and where they come from.

    folder: of the campaign, with skills.csv or gold.csv; settings: of campaign.toml: ``skills`` names the method for
    gold. Raises InputError if there are both tables or neither, or an accuracy is missing or outside of [0, 1].
    """
    skills, gold = optional_table(folder, "skills"), find_table(folder, "gold")
    if (skills is None) == (gold is None):
        have = "both" if skills else "neither"
        raise InputError(f"{folder} has {have} of skills.csv and gold.csv; it needs exactly one of them")
    if gold is not None:
        return skills_from_gold(gold, ids, settings)
    assert skills is not None
    values = skills.numbers("accuracy")
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        row = int(outside[0])
        raise skills.error(
            row, "accuracy", f"{skills['accuracy'][row]} is not in [0, 1]; give the share of right labels"
        )
    return CampaignSkills(Told(filled(skills, values, ids), difficulty_of(settings), None, "given"))


def skills_from_gold(source: TableLike, ids: Ids, settings: dict[str, Any]) -> CampaignSkills:
    """What gold says of the workers: accuracies, or confusion tables where it tells true classes from answers.

    source: tallies, answers beside the truth, or answers by true class; settings: of campaign.toml: ``skills``,
    ``gold_source``, ``difficulty``, and for gold by class ``prior``, ``classes``.
    """
    if is_by_class(source):
        return _by_class(source, ids, settings)
    gold = read_gold(source, ids, settings)
    return CampaignSkills(gold.told(len(ids.types), settings.get("rule", EXACT_ERROR.name)), gold=gold)


def _by_class(source: TableLike, ids: Ids, settings: dict[str, Any]) -> CampaignSkills:
    """Confusion tables from gold with columns worker[,type],true,answered[,count], type by type."""
    if settings.get("skills", AVERAGED) != AVERAGED or "difficulty" in settings:
        raise InputError("gold by class takes neither another method for skills nor difficulty; take them out")
    gold = read_table(source, CAMPAIGN_TABLES["gold by class"])
    kinds, workers = ids.cells(gold)
    names = _class_names(gold, settings)
    true, answered = (gold.places(side, names, "it is no class of the campaign") for side in ("true", "answered"))
    count = gold.counts("count") if "count" in gold else np.ones(gold.rows, np.int64)
    tallies = np.zeros((len(ids.types), len(ids.workers), len(names), len(names)), np.int64)
    for row in [kinds] if "type" in gold else [np.full(gold.rows, k) for k in range(len(ids.types))]:
        np.add.at(tallies, (row, workers, true, answered), count)
    asked = tallies.sum(axis=(2, 3))
    known = asked.sum(axis=1) > 0
    if not known.any():
        raise InputError(
            f"{gold.path.name}: no worker was asked anything, so skills cannot be estimated; give skills.csv"
        )
    right = np.trace(tallies, axis1=2, axis2=3)
    tallies[~known] = tallies.sum(axis=0)  # a type without gold is like all others together
    found = Gold(right, asked, gold.path.name, len(names), tables=tallies)
    tables = found.counts / found.counts.sum(axis=-1, keepdims=True)
    words = f"confusion tables from {settings.get('gold_source', 'gold')}"
    return CampaignSkills(Told(coins_like(tables), NONE, None, words), tables, names, found)


def _class_names(gold: Table, settings: dict[str, Any]) -> tuple[str, ...]:
    if "class_names" in settings:
        return tuple(settings["class_names"])
    names = sorted({*gold.ids("true"), *gold.ids("answered")})
    if len(names) < 2:
        remedy = 'name all of them in campaign.toml: classes = ["cat", "dog"]'
        raise InputError(f"{gold.path.name} names {len(names)} classes; {remedy}")
    return tuple(names)


def filled(table: Table, values: Floats, ids: Ids) -> Floats:
    """A table of type and worker from rows worker[, type]; every cell must be given.

    table: columns worker and, where types differ, type; values (rows,): what each row says; -> (types, workers).
    """
    kinds, workers = ids.cells(table)
    refuse_repeats(table, kinds * len(ids.workers) + workers, "worker", "this worker and type")
    cells = np.full((len(ids.types), len(ids.workers)), np.nan)
    if "type" in table:
        cells[kinds, workers] = values
    else:
        cells[:, workers] = values
    if np.isnan(cells).any():
        kind, worker = np.argwhere(np.isnan(cells))[0]
        what = f"worker {ids.workers[worker]!r}, type {ids.types[kind]!r}"
        raise InputError(f"{table.path.name} has no row for {what}; add one")
    return cells
