"""Gold as a table: tallies of each worker, or the answers themselves beside the truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdopt.arrays import Ints, coded
from crowdopt.crowd.gold import Gold, heeded
from crowdopt.crowd.law_fits import FOLDS, GoldVotes
from crowdopt.crowd.skills import AVERAGED, heed, tell_missing
from crowdopt.errors import InputError, plain
from crowdopt.io.campaign.campaign_settings import difficulty_of
from crowdopt.io.campaign.campaign_tables import Ids, refuse_repeats, second_of
from crowdopt.io.tables.frames import TableLike
from crowdopt.io.tables.table_columns import Table, has_column, read_table
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES, GOLD_OF_ANY_FORM
from crowdopt.io.tables.tidying import MISSING

ALIKE = "write them alike, or name every class in campaign.toml"


def is_by_class(source: TableLike) -> bool:
    """Whether gold tells true classes from answers."""
    return has_column(source, "true")


def read_gold_table(source: TableLike) -> tuple[Table, Ints, Ints]:
    """Gold's rows, and how many answers each stands for that are right, and in all, (rows,): tallies, or one answer.

    source: columns worker, correct, asked; or worker, task (or item), label, truth; either with a type; of answers
    the table has the column ``task``.
    """
    answers = has_column(source, "truth")
    kind = CAMPAIGN_TABLES["gold answers" if answers else "gold"]
    if answers and has_column(source, "item") and not has_column(source, "task"):
        kind = replace(kind, header=kind.header.replace("task", "item"))
    table = read_table(source, kind)
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
    return table, right, asked


def _counted(table: Table) -> tuple[Table, Ints, Ints]:
    """The answers as tallies of one question each; a worker answers an item once, which has one truth and type."""
    name = "item" if "item" in table else "task"
    items, truth = table.ids(name), table.ids("truth")
    pairs = list(zip(table.ids("worker"), items, strict=True))
    if (row := second_of(pairs)) is not None:
        raise table.error(row, "worker", f"{pairs[row][0]!r} answered {pairs[row][1]!r} before; keep one answer")
    for column in ("truth", *(["type"] if "type" in table else [])):
        known: dict[str, str] = {}
        for row, (item, said) in enumerate(zip(items, table.ids(column), strict=True)):
            if known.setdefault(item, said) != said:
                what = f"{name} {item!r} is {known[item]!r} in a row before"
                raise table.error(row, column, f"{what}; give it one {column}")
    right = np.array([label == true for label, true in zip(table.ids("label"), truth, strict=True)], np.int64)
    return replace(table, columns={**table.columns, "task": items}), right, np.ones_like(right)


def read_gold(source: TableLike, ids: Ids, settings: dict[str, Any]) -> Gold:
    """The gold of a campaign's workers, by type where it has types; of answers to shared items the rows too.

    settings: of campaign.toml: ``skills``, ``gold_source``, ``classes``, ``difficulty``, ``groups``, ``collected``.
    """
    gold, right, of = read_gold_table(source)
    kinds, workers = ids.cells(gold)
    if "task" not in gold:
        refuse_repeats(gold, kinds * len(ids.workers) + workers, "worker", "this worker and type")
    rows = len(ids.types) if "type" in gold else 1
    correct, asked = np.zeros((2, rows, len(ids.workers)), np.int64)
    cells = np.maximum(kinds, 0), workers
    np.add.at(correct, cells, right)
    np.add.at(asked, cells, of)
    if asked.sum() == 0:
        raise InputError(
            f"{gold.path.name}: no worker was asked anything, so skills cannot be estimated; give skills.csv"
        )
    found = Gold(correct, asked, gold.path.name, **read_by(settings))
    names = dict.fromkeys(gold["task"]) if "task" in gold else {}
    if not FOLDS <= len(names) < gold.rows:  # one answer to each item tells nothing of dependence
        return found
    items, kind = coded(gold["task"], names), np.zeros(len(names), np.int64)
    kind[items] = cells[0]
    return replace(found, rows=GoldVotes(items, workers, right, kind, correct.shape, found.classes))


def read_by(settings: dict[str, Any]) -> dict[str, Any]:
    """What gold is read by: how tallies become skills, and which laws of votes plans of the campaign can heed."""
    classes = settings.get("classes", len(settings.get("class_names", ())) or 2)
    several = any(
        one.get("dependent") and one.get("max_per_task", 1) != 1 for one in settings.get("groups", {}).values()
    )
    by_itself = settings.get("collected") == "observed" or "difficulty" in settings
    return {
        "classes": classes,
        "method": settings.get("skills", AVERAGED),
        "told_by": settings.get("gold_source", "gold"),
        "stated": difficulty_of(settings),
        "heeds": () if by_itself else heeded(classes, several),
    }


def heed_gold(gold: Gold, classes: int, workers: Sequence[str]) -> None:
    """Refuse gold of a crowd below chance; warn of workers below chance, or without gold."""
    heed(gold.correct, gold.asked, classes, workers, gold.source)
    tell_missing(gold.asked, workers, gold.source)


def gold_classes(source: TableLike) -> dict[str, set[str]]:
    """The classes that each column of gold names; none where it has tallies."""
    columns = ("true", "answered") if is_by_class(source) else ("truth", "label")
    if not has_column(source, columns[0]):
        return {}
    table = read_table(source, GOLD_OF_ANY_FORM)
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
