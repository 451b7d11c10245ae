"""How often each worker of a campaign is right on each type: given, or estimated from gold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.crowd.skills import ESTIMATORS
from crowdopt.errors import InputError
from crowdopt.io.campaign_tables import Ids, optional_table, refuse_repeats
from crowdopt.io.tables import Table


def read_accuracy(folder: Path, ids: Ids, settings: dict[str, Any]) -> tuple[Floats, str]:
    """Accuracies of a campaign's workers, and where they come from.

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
    accuracy : (types, workers) float
    source : str
        Where it comes from, in words.

    Raises
    ------
    InputError
        If there are both tables or neither, or an accuracy is missing or outside of [0, 1].
    """
    skills, gold = optional_table(folder, "skills"), optional_table(folder, "gold")
    if (skills is None) == (gold is None):
        have = "both" if skills else "neither"
        raise InputError(f"{folder} has {have} of skills.csv and gold.csv; it needs exactly one of them")
    if gold is not None:
        method = settings.get("skills", "empirical-bayes")
        accuracy = _from_gold(gold, ids, method)
        return accuracy, f"{method} from {settings.get('gold_source', 'gold')}"
    assert skills is not None
    values = skills.numbers("accuracy")
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        row = int(outside[0])
        raise skills.error(
            row, "accuracy", f"{skills['accuracy'][row]} is not in [0, 1]; give the share of right labels"
        )
    return filled(skills, values, ids), "given"


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
