"""Gold as a table: tallies of each worker, or the answers themselves beside the truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdopt.arrays import Ints, coded
from crowdopt.crowd.skills import heed, tell_missing
from crowdopt.errors import InputError, plain
from crowdopt.io.campaign.campaign_tables import Ids, refuse_repeats
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.table_columns import Table, has_column, read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES
from crowdopt.io.tables.tidying import MISSING

ALIKE = "write them alike, or name every class in campaign.toml"


@dataclass(frozen=True, eq=False)
class GoldTally:
    """Answers to gold, counted."""

    # c and s; one row where gold does not tell types apart
    correct: Ints  # (types, workers)
    asked: Ints  # (types, workers)
    source: str  # where they stand, for sentences


def is_by_class(source: TableLike) -> bool:
    """Whether gold tells true classes from answers."""
    return has_column(source, "true")


def read_gold_table(source: TableLike) -> Table:
    """Gold as columns worker[, type], correct, asked: tallies, or a row for each answer, right or not.

    source: columns worker, correct, asked; or worker, task, label, truth; either with a type; -> of answers
    it keeps the column ``task``.
    """
    answers = has_column(source, "truth")
    table = read_table(source, CAMPAIGN_TABLES["gold answers" if answers else "gold"])
    table.ids("worker")
    if answers:
        return _counted(table.labelled())
    right, asked = table.counts("correct"), table.counts("asked")
    if (right > asked).any():
        row = int(np.flatnonzero(right > asked)[0])
        raise table.error(
            row,
            "correct",
            f"{right[row]} correct of {asked[row]} asked are more correct answers than control questions; "
            "see whether the columns are swapped",
        )
    return table


def _counted(table: Table) -> Table:
    pairs = list(zip(table.ids("worker"), table.ids("task"), strict=True))
    if len(set(pairs)) < len(pairs):
        first = {pair: row for row, pair in reversed(list(enumerate(pairs)))}
        row = next(row for row, pair in enumerate(pairs) if first[pair] < row)
        raise table.error(row, "worker", f"{pairs[row][0]!r} answered {pairs[row][1]!r} before; keep one answer")
    right = ["1" if label == true else "0" for label, true in zip(table.ids("label"), table.ids("truth"), strict=True)]
    columns = {**table.columns, "correct": right, "asked": ["1"] * table.rows}
    return replace(table, columns=columns)


def tally_gold(source: TableLike, ids: Ids) -> GoldTally:
    """The tallies of a campaign's workers, by type where gold has types."""
    gold = read_gold_table(source)
    kinds, workers = ids.cells(gold)
    if "task" not in gold:
        refuse_repeats(gold, kinds * len(ids.workers) + workers, "worker", "this worker and type")
    rows = len(ids.types) if "type" in gold else 1
    correct, asked = np.zeros((2, rows, len(ids.workers)), np.int64)
    cells = np.maximum(kinds, 0), workers
    np.add.at(correct, cells, gold.counts("correct"))
    np.add.at(asked, cells, gold.counts("asked"))
    if asked.sum() == 0:
        raise InputError(
            f"{gold.path.name}: no worker was asked anything, so skills cannot be estimated; give skills.csv"
        )
    return GoldTally(correct, asked, gold.path.name)


def heed_gold(gold: GoldTally, classes: int, workers: Sequence[str]) -> None:
    """Refuse gold of a crowd below chance; warn of workers below chance, or without gold."""
    heed(gold.correct, gold.asked, classes, workers, gold.source)
    tell_missing(gold.asked, workers, gold.source)


def gold_classes(source: TableLike, kind: str = "gold answers") -> dict[str, set[str]]:
    """The classes that each column of gold names; none where it has tallies."""
    columns = ("true", "answered") if is_by_class(source) else ("truth", "label")
    if not has_column(source, columns[0]):
        return {}
    table = read_table(source, CAMPAIGN_TABLES["gold by class" if columns[0] == "true" else kind])
    return {f"{column} in {table.path.name}": set(table[column]) - MISSING for column in columns}


def refuse_unlike(gold: dict[str, set[str]], tables: dict[str, set[str]]) -> None:
    """InputError where classes differ in case or blanks only, or where truth and labels of gold share none.

    gold: classes by column (:func:`gold_classes`); tables: classes by table.
    """
    if gold and all(gold.values()) and not set.intersection(*gold.values()):
        said = ", ".join(f"{place} says {listed(names)}" for place, names in gold.items())
        raise InputError(f"{said}: they share no class; {ALIKE}")
    seen: dict[str, tuple[str, str]] = {}
    for place, names in (gold | tables).items():
        for name in sorted(names):
            first, home = seen.setdefault(plain(name), (name, place))
            if first != name:
                what = "they differ in case, blanks or Unicode form only"
                raise InputError(f"{home} says {first!r}, {place} says {name!r}: {what}; {ALIKE}")


def listed(names: Iterable[str]) -> str:
    """Classes in a sentence."""
    names = sorted(names)
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def read_gold_votes(source: TableLike, ids: Ids) -> Ints:
    """Who was right on which item.

    source: columns item, worker, label, truth; -> (items, workers): 1 right, 0 wrong, -1 not asked, items in the order
    of their first row.
    """
    table = read_table(source, CAMPAIGN_TABLES["gold_votes"]).labelled()
    workers = ids.workers_of(table)
    names, labels, truth = table.ids("item"), table.ids("label"), table.ids("truth")
    items = coded(names, dict.fromkeys(names))
    refuse_repeats(table, items * len(ids.workers) + workers, "worker", "this worker's vote on the item")
    known: dict[str, str] = {}
    for row, (name, true) in enumerate(zip(names, truth, strict=True)):
        if known.setdefault(name, true) != true:
            raise table.error(row, "truth", f"item {name!r} is {known[name]!r} in a row before; give it one truth")
    right = np.full((len(known), len(ids.workers)), -1)
    right[items, workers] = [label == true for label, true in zip(labels, truth, strict=True)]
    return right
