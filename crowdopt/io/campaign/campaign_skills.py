"""How often each worker of a campaign is right on each type: given, or estimated from gold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.law import LARGEST, Difficulty, Law, coins_like
from crowdopt.crowd.law_fits import COMMON, FITS, INDEPENDENT, GoldVotes, chosen_law
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.skills import confusions, estimator
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_settings import stated_difficulty
from crowdopt.io.campaign.campaign_tables import Ids, optional_table, refuse_repeats
from crowdopt.io.campaign.gold_table import GoldTally, is_by_class, read_gold_votes, tally_gold
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.table_columns import Table, find_table, read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES


@dataclass(frozen=True, eq=False)
class CampaignSkills:
    """What a campaign knows of its workers."""

    accuracy: Floats  # (types, workers)
    source: str  # where it comes from, in words
    # where gold is by true class and answer; the accuracies then tell as much
    confusion: Floats | None = None  # (types, workers, classes, classes)
    names: tuple[str, ...] | None = None  # the classes that such gold names
    gold: GoldTally | None = None  # the tallies that they come from
    difficulty: Difficulty | None = None  # where gold votes tell it; the accuracies are then those on easy tasks
    vote_law: Law | None = None  # where gold votes tell more than difficulty


def read_accuracy(folder: Path, ids: Ids, settings: dict[str, Any]) -> CampaignSkills:
    """Accuracies of a campaign's workers, or their confusion tables, and where they come from.

    folder: of the campaign, with skills.csv or gold.csv; settings: of campaign.toml: ``skills`` names the method for
    gold. Raises InputError if there are both tables or neither, or an accuracy is missing or outside of [0, 1].
    """
    skills, gold, votes = optional_table(folder, "skills"), find_table(folder, "gold"), find_table(folder, "gold_votes")
    if sum(table is not None for table in (skills, gold, votes)) != 1:
        if votes is not None:
            raise InputError(f"{folder} has gold_votes.csv beside skills.csv or gold.csv; keep one of them")
        have = "both" if skills else "neither"
        raise InputError(f"{folder} has {have} of skills.csv and gold.csv; it needs exactly one of them")
    if votes is not None:
        return _by_law(votes, ids, settings)
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
    return CampaignSkills(filled(skills, values, ids), "given")


def skills_from_gold(source: TableLike, ids: Ids, settings: dict[str, Any]) -> CampaignSkills:
    """What gold says of the workers: accuracies, or confusion tables where it tells true classes from answers.

    source: tallies, answers beside the truth, or answers by true class; settings: of campaign.toml: ``skills``,
    ``gold_source``, ``difficulty``, and for gold by class ``prior``, ``classes``.
    """
    if is_by_class(source):
        return _by_class(source, ids, settings)
    method, gold = settings.get("skills", "averaged"), tally_gold(source, ids)
    classes = settings.get("classes", len(settings.get("class_names", ())) or 2)
    estimate = _means_for_missing(estimator(method, classes)(gold.correct, gold.asked))
    accuracy = np.broadcast_to(estimate, (len(ids.types), len(ids.workers))).copy()
    words = f"{method} from {settings.get('gold_source', 'gold')}"
    return CampaignSkills(_on_easy_tasks(accuracy, settings), words, gold=gold)


def _by_law(source: TableLike, ids: Ids, settings: dict[str, Any]) -> CampaignSkills:
    """Accuracies by the law of votes that tells held-out gold best, or by the next that fixed sets can heed too."""
    if "difficulty" in settings or "skills" in settings:
        raise InputError("gold_votes.csv tells skills and difficulty itself; take them out of campaign.toml")
    right = read_gold_votes(source, ids)
    two = settings.get("classes", len(settings.get("class_names", ())) or 2) == 2
    heeds = two and settings.get("rule", EXACT_ERROR.name) == EXACT_ERROR.name
    heeds = heeds and settings.get("collected") != "observed"
    names = tuple(FITS) if heeds else (INDEPENDENT,)
    if any(one.get("dependent") and one.get("max_per_task") != 1 for one in settings.get("groups", {}).values()):
        names = tuple(name for name in names if name != COMMON)  # families have no exact errors on hard tasks
    choice = chosen_law(GoldVotes.of(right), names)
    tally = GoldTally((right == 1).sum(axis=0)[None], (right >= 0).sum(axis=0)[None], "gold_votes.csv")
    coins = choice.by_coins
    accuracy = np.broadcast_to(coins.accuracy[0], (len(ids.types), len(ids.workers))).copy()
    law = None if coins is choice.law else choice.law
    return CampaignSkills(accuracy, str(choice), gold=tally, difficulty=coins.difficulty, vote_law=law)


def _by_class(source: TableLike, ids: Ids, settings: dict[str, Any]) -> CampaignSkills:
    """Confusion tables from gold with columns worker[,type],true,answered[,count], type by type."""
    if settings.get("skills", "averaged") != "averaged" or "difficulty" in settings:
        raise InputError("gold by class takes neither another method for skills nor difficulty; take them out")
    gold = read_table(source, CAMPAIGN_TABLES["gold by class"])
    kinds, workers = ids.cells(gold)
    names = _class_names(gold, settings)
    true, answered = (gold.places(side, names, "it is no class of the campaign") for side in ("true", "answered"))
    count = gold.counts("count") if "count" in gold else np.ones(gold.rows, np.int64)
    tallies = np.zeros((len(ids.types), len(ids.workers), len(names), len(names)), np.int64)
    for row in [kinds] if "type" in gold else [np.full(gold.rows, k) for k in range(len(ids.types))]:
        np.add.at(tallies, (row, workers, true, answered), count)
    tally = GoldTally(np.trace(tallies, axis1=2, axis2=3), tallies.sum(axis=(2, 3)), gold.path.name)
    known = tally.asked.sum(axis=1) > 0
    if not known.any():
        raise InputError(
            f"{gold.path.name}: no worker was asked anything, so skills cannot be estimated; give skills.csv"
        )
    tallies[~known] = tallies.sum(axis=0)  # a type without gold is like all others together
    tables = np.stack([confusions(one) for one in tallies])
    words = f"confusion tables from {settings.get('gold_source', 'gold')}"
    return CampaignSkills(coins_like(tables), words, tables, names, tally)


def _class_names(gold: Table, settings: dict[str, Any]) -> tuple[str, ...]:
    if "class_names" in settings:
        return tuple(settings["class_names"])
    names = sorted({*gold.ids("true"), *gold.ids("answered")})
    if len(names) < 2:
        remedy = 'name all of them in campaign.toml: classes = ["cat", "dog"]'
        raise InputError(f"{gold.path.name} names {len(names)} classes; {remedy}")
    return tuple(names)


def _on_easy_tasks(accuracy: Floats, settings: dict[str, Any]) -> Floats:
    """Gold is as often hard as other tasks are: the edge on easy tasks is gold's over ``1 - h + h s``, but below 1."""
    if "difficulty" not in settings:
        return accuracy
    edge = (2 * accuracy - 1) / stated_difficulty(settings["difficulty"]).mean
    most = np.maximum(LARGEST, np.abs(2 * accuracy - 1))
    return 0.5 + np.clip(edge, -most, most) / 2


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


def _means_for_missing(estimate: Floats) -> Floats:
    known = ~np.isnan(estimate)
    overall = estimate[known].mean() if known.any() else 0.5
    means = np.array(
        [row[there].mean() if there.any() else overall for row, there in zip(estimate, known, strict=True)]
    )
    return np.where(known, estimate, means[:, None])
