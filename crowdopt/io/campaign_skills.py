"""How often each worker of a campaign is right on each type: given, or estimated from gold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.confusion import confusion_evidence, confusions, one_coin_like
from crowdopt.crowd.difficulty import LARGEST
from crowdopt.crowd.skills import ESTIMATORS
from crowdopt.errors import InputError
from crowdopt.io.campaign_tables import Ids, optional_table, refuse_repeats
from crowdopt.io.stated_difficulty import stated_difficulty
from crowdopt.io.tables import Table, find_table, read_table


@dataclass(frozen=True, eq=False)
class CampaignSkills:
    """What a campaign knows of its workers.

    Parameters
    ----------
    accuracy : (types, workers) float
    source : str
        Where it comes from, in words.
    confusion : (types, workers, classes, classes) float, optional
        Where gold is by true class and answer; the accuracies then tell as much.
    names : tuple of str
        The classes that such gold names.
    """

    accuracy: Floats
    source: str
    confusion: Floats | None = None
    names: tuple[str, ...] | None = None


def read_accuracy(folder: Path, ids: Ids, settings: dict[str, Any]) -> CampaignSkills:
    """Accuracies of a campaign's workers, or their confusion tables, and where they come from.

    Parameters
    ----------
    folder : Path
        Of the campaign, with skills.csv or gold.csv.
    ids : Ids
        Of the campaign.
    settings : dict
        Of campaign.toml: ``skills`` names the method for gold.

    Returns
    -------
    CampaignSkills

    Raises
    ------
    InputError
        If there are both tables or neither, or an accuracy is missing or outside of [0, 1].
    """
    if is_by_class(folder) and find_table(folder, "skills") is None:
        return _by_class(folder, ids, settings)
    skills, gold = optional_table(folder, "skills"), optional_table(folder, "gold")
    if (skills is None) == (gold is None):
        have = "both" if skills else "neither"
        raise InputError(f"{folder} has {have} of skills.csv and gold.csv; it needs exactly one of them")
    if gold is not None:
        method = settings.get("skills", "empirical-bayes")
        accuracy = _on_easy_tasks(_from_gold(gold, ids, method), settings)
        return CampaignSkills(accuracy, f"{method} from {settings.get('gold_source', 'gold')}")
    assert skills is not None
    values = skills.numbers("accuracy")
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        row = int(outside[0])
        raise skills.error(
            row, "accuracy", f"{skills['accuracy'][row]} is not in [0, 1]; give the share of right labels"
        )
    return CampaignSkills(filled(skills, values, ids), "given")


def is_by_class(folder: Path) -> bool:
    """Whether the campaign's gold tells true classes from answers."""
    path = find_table(folder, "gold")
    return path is not None and "true" in read_table(path, ("worker",), ("true",), extras=True)


def _by_class(folder: Path, ids: Ids, settings: dict[str, Any]) -> CampaignSkills:
    """Confusion tables from gold with columns worker[,type],true,answered[,count], type by type."""
    if settings.get("skills", "empirical-bayes") != "empirical-bayes" or "difficulty" in settings:
        raise InputError("gold by class takes neither another method for skills nor difficulty; take them out")
    gold = optional_table(folder, "gold by class")
    assert gold is not None
    kinds, workers = ids.cells(gold)
    names = _class_names(gold, settings)
    place = {name: k for k, name in enumerate(names)}
    true, answered = (gold.places(side, place, "it is no class of the campaign") for side in ("true", "answered"))
    count = gold.counts("count") if "count" in gold else np.ones(gold.rows, np.int64)
    tallies = np.zeros((len(ids.types), len(ids.workers), len(names), len(names)), np.int64)
    for row in [kinds] if "type" in gold else [np.full(gold.rows, k) for k in range(len(ids.types))]:
        np.add.at(tallies, (row, workers, true, answered), count)
    known = tallies.sum(axis=(1, 2, 3)) > 0
    if not known.any():
        raise InputError(f"{gold.path.name}: nobody was asked anything, so skills cannot be estimated; give skills.csv")
    tallies[~known] = tallies.sum(axis=0)  # a type without gold is like all others together
    tables = np.stack([confusions(one) for one in tallies])
    accuracy = np.stack([one_coin_like(confusion_evidence(one), len(names)) for one in tables])
    return CampaignSkills(accuracy, f"confusion tables from {settings.get('gold_source', 'gold')}", tables, names)


def _class_names(gold: Table, settings: dict[str, Any]) -> tuple[str, ...]:
    """The classes: the prior's, else those that gold names."""
    if "prior" in settings:
        return tuple(settings["prior"])
    names = sorted({*gold.ids("true"), *gold.ids("answered")})
    if len(names) < 2 or len(names) != settings.get("classes", len(names)):
        wanted = f", the campaign has {settings['classes']}" if "classes" in settings else ""
        raise InputError(f"{gold.path.name} names {len(names)} classes{wanted}; name all of them by a prior")
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

    Parameters
    ----------
    table : Table
        Columns worker and, where types differ, type.
    values : (rows,) float
        What each row says.
    ids : Ids
        Of the campaign.

    Returns
    -------
    (types, workers) float

    Raises
    ------
    InputError
        If a cell has no row, or two.
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


def _from_gold(gold: Table, ids: Ids, method: str) -> Floats:
    """Estimate accuracies; what an estimator leaves open (NaN) becomes its type's mean of what it knows."""
    kinds, workers = ids.cells(gold)
    refuse_repeats(gold, kinds * len(ids.workers) + workers, "worker", "this worker and type")
    right, asked = gold.counts("correct"), gold.counts("asked")
    if (right > asked).any():
        row = int(np.flatnonzero(right > asked)[0])
        raise gold.error(row, "correct", f"{right[row]} correct of {asked[row]} asked; it cannot be more")
    rows = len(ids.types) if "type" in gold else 1
    tallies = np.zeros((2, rows, len(ids.workers)), np.int64)
    tallies[:, np.maximum(kinds, 0), workers] = right, asked
    if tallies[1].sum() == 0:
        raise InputError(f"{gold.path.name}: nobody was asked anything, so skills cannot be estimated; give skills.csv")
    estimate = ESTIMATORS[method](*tallies)
    return np.broadcast_to(_means_for_missing(estimate), (len(ids.types), len(ids.workers))).copy()


def _means_for_missing(estimate: Floats) -> Floats:
    known = ~np.isnan(estimate)
    overall = estimate[known].mean() if known.any() else 0.5
    means = np.array(
        [row[there].mean() if there.any() else overall for row, there in zip(estimate, known, strict=True)]
    )
    return np.where(known, estimate, means[:, None])
