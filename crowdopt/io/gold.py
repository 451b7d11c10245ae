"""The tables of a campaign folder, and the ids that tie them together.

Gold as a table: tallies of each worker, or the answers themselves beside the truth.

How often each worker of a campaign is right on each type: given, or estimated from gold.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Floats, Ints, coded, places
from crowdopt.crowd.gold import FOLDS, Gold, GoldVotes, Told, heeded
from crowdopt.crowd.law import NONE, coins_like
from crowdopt.crowd.rules import EXACT_ERROR
from crowdopt.crowd.skills import AVERAGED, heed, tell_missing
from crowdopt.errors import HeaderError, InputError, meant, plain, tell
from crowdopt.io.cells import ENDINGS, TableLike
from crowdopt.io.schema import CAMPAIGN_TABLES, GOLD_OF_ANY_FORM, TableKind
from crowdopt.io.settings import difficulty_of
from crowdopt.io.tables import MISSING, TEXTS, Table, find_table, has_column, read_table


def optional_table(folder: Path, name: str) -> Table | None:
    """A table of the campaign, or None if it is not there."""
    path = find_table(folder, name.partition(" ")[0])
    if path is None:
        return None
    table = read_table(path, CAMPAIGN_TABLES[name])
    return table.labelled() if name == "collected" else table


def needed_table(folder: Path, name: str) -> Table:
    """A table that every campaign has."""
    table = optional_table(folder, name)
    if table is None:
        shape = CAMPAIGN_TABLES[name].header
        raise InputError(f"there is no {name}.csv in {folder}; it is a table with the header {shape}")
    return table


def tell_unread(folder: Path) -> None:
    """Say which tables of a folder no campaign reads; InputError where only case or blanks keep it from that."""
    known = {"gold_tasks", *(name.partition(" ")[0] for name in CAMPAIGN_TABLES)}  # the former is for live
    unread = []
    for path in sorted(folder.iterdir()):
        ending, is_read = path.suffix.lower(), path.stem in known and path.suffix in ENDINGS
        if is_read or ending not in (*ENDINGS, *TEXTS) or path.name[0] in ".~" or not path.is_file():
            continue
        near = meant(path.stem, known)
        if near is None and ending in (".txt", ".json", ".jsonl", ".ndjson"):  # they hold much else than tables
            continue
        there = [file for ending in ENDINGS if near and (file := folder / f"{near}{ending}").exists()]
        if any(map(path.samefile, there)):  # where the file system takes capitals for small letters
            continue
        if near and not there and plain(path.stem) == near:
            raise InputError(f"{path.name} is looked for as {near}.csv; rename it")
        unread.append(f"{path.name} (did you mean {near}.csv?)" if near and not there else path.name)
    if unread:
        unread.sort(key=lambda name: "(" not in name)
        more = f" and {len(unread) - 5} more" if len(unread) > 5 else ""
        tell(f"{folder} has tables that no campaign reads: {', '.join(unread[:5])}{more}")


def refuse_empty(*tables: Table) -> None:
    """InputError where a table has no row."""
    for table in tables:
        if table.rows == 0:
            raise InputError(f"{table.path.name} has a header but no rows; a campaign needs tasks and workers")


def refuse_repeats(table: Table, keys: Ints, column: str, what: str) -> None:
    """Refuse a table in which a key, (rows,), stands twice; the complaint names the column and what it has."""
    if (row := second_of(keys.tolist())) is not None:
        raise table.error(row, column, f"{what} was there before; give it one row")


def second_of(keys: Sequence[Hashable]) -> int | None:
    """The first row whose key stands in one before, if any does."""
    if len(set(keys)) == len(keys):
        return None
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    return next(row for row, key in enumerate(keys) if first[key] < row)


@dataclass
class Ids:
    """The ids of a campaign and their places."""

    tasks: list[str]
    workers: list[str]
    types: list[str]
    task: dict[str, int] = field(init=False)
    worker: dict[str, int] = field(init=False)
    type: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.task, self.worker, self.type = map(places, (self.tasks, self.workers, self.types))

    def workers_of(self, table: Table) -> Ints:
        """The worker of each row."""
        remedy = "a worker who has left stays in workers.csv with capacity 0; add that row, or correct the name"
        return table.places("worker", self.worker, remedy)

    def cells(self, table: Table) -> tuple[Ints, Ints]:
        """Type and worker of each row of a table with columns worker[, type]; type -1 stands for every type."""
        workers = self.workers_of(table)
        if "type" not in table:
            return np.full(table.rows, -1), workers
        return table.places("type", self.type, "no task is of that type"), workers

    def pairs(self, table: Table) -> Ints:
        """Task and worker of each row, each pair once."""
        tasks = table.places("task", self.task, "add it to the tasks table or drop the row")
        workers = self.workers_of(table)
        refuse_repeats(table, tasks * len(self.workers) + workers, "worker", "this pair")
        return np.column_stack([tasks, workers])


ALIKE = "write them alike, or name every class in campaign.toml"


def is_by_class(source: TableLike) -> bool:
    """Whether gold tells true classes from answers."""
    return has_column(source, "true")


def gold_kind(source: TableLike) -> TableKind:
    """The form that gold has, by its columns: tallies, answers beside the truth, or answers by true class."""
    if is_by_class(source):
        return CAMPAIGN_TABLES["gold by class"]
    if not has_column(source, "truth"):
        return CAMPAIGN_TABLES["gold"]
    kind = CAMPAIGN_TABLES["gold answers"]
    items = has_column(source, "item") and not has_column(source, "task")
    return replace(kind, header=kind.header.replace("task", "item")) if items else kind


def refuse_headers(folder: Path) -> None:
    """InputError that asks back all headers of a campaign's tables that are not understood at once."""
    asked = []
    for name, kind in CAMPAIGN_TABLES.items():
        path = find_table(folder, name)
        try:
            if path is not None:
                read_table(path, gold_kind(path) if name == "gold" else kind)
        except HeaderError as error:
            asked.append(str(error))
        except InputError:  # of another kind: it is said once the headers are right
            pass
    if asked:
        raise InputError("; ".join(asked))


def read_gold_table(source: TableLike) -> tuple[Table, Ints, Ints]:
    """Gold's rows, and how many answers each stands for that are right, and in all, (rows,): tallies, or one answer.

    source: columns worker, correct, asked; or worker, task (or item), label, truth; either with a type; of answers
    the table has the column ``task``.
    """
    table = read_table(source, gold_kind(source))
    table.ids("worker")
    if "truth" in table:
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
    if not all(has_column(source, column) for column in columns):
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
    values = filled(skills, skills.numbers("accuracy"), ids)
    return CampaignSkills(Told(values, difficulty_of(settings), None, "given"))


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
