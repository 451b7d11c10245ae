"""Whom could be hired, read from tables; whom to hire, written as one.

Answers as tables, and the gold that weighted votes need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.answers.answers import Answers
from crowdopt.arrays import Floats, Ints, coded, places
from crowdopt.crowd.labels import Labels
from crowdopt.crowd.skills import heed
from crowdopt.errors import InputError
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.ranking import Frontier, Selection
from crowdopt.io.cells import TableLike, name_of, write_table
from crowdopt.io.gold import read_gold_table, second_of
from crowdopt.io.schema import CANDIDATES, CONFUSIONS
from crowdopt.io.tables import Table, read_table

EVERY = "*"  # in place of a group: all that are not named


@dataclass(frozen=True, kw_only=True)
class CandidateLimits:
    """What is said of candidates beside their gold, and whom a selection may hire."""

    classes: int = 2  # L, classes a label chooses from
    most: int | None = None  # K, the most workers to hire; default: all
    # columns worker, and price or group or both (others are ignored); it must have every worker of the gold
    workers: TableLike | None = None
    kind: str | None = None  # the type of task whose tallies count; default: all added up
    money: float | None = None  # the most the hired may cost together
    require: Sequence[str] = ()  # ids of workers who must be hired
    bar: Sequence[str] = ()  # ids of workers who must not
    at_least: Mapping[str, int] | None = None  # group -> the fewest of it to hire
    at_most: Mapping[str, int] | None = None  # group -> the most of it to hire; ``*`` stands for every other group


def read_candidates(gold: TableLike, limits: CandidateLimits) -> SelectionInstance:
    """A selection instance from gold tallies and, where there is one, a table of workers.

    gold: columns worker, correct, asked; with a column type, a worker's types are added up, unless limits name one.
    """
    names, correct, asked = read_gold(gold, limits.kind)
    place = places(names)
    told: dict[str, Any] = {} if limits.workers is None else _of_workers(read_workers(limits.workers), place)
    if limits.at_least:
        told["fewest"] = _by_group(dict(limits.at_least), told.get("groups"), 0)
    if limits.at_most:
        each = dict(limits.at_most)
        rest = each.pop(EVERY, len(names))
        told["most_each"] = _by_group(each, told.get("groups"), rest)
    return SelectionInstance(
        correct,
        asked,
        limits.classes,
        limits.most,  # type: ignore[arg-type]
        money=limits.money,
        required=_places("required", limits.require, place),
        barred=_places("barred", limits.bar, place),
        workers=names,
        **told,
    )


def read_gold(source: TableLike, kind: str | None = None) -> tuple[tuple[str, ...], Ints, Ints]:
    """Workers in order of appearance, and their tallies over all types, or of one.

    source: columns worker, correct, asked, or worker, task, label, truth; and optionally type; others are ignored;
    kind: the type whose tallies count; default: all added up; -> correct, asked (workers,).
    """
    table, right, of = read_gold_table(source)
    keys = list(zip(table.ids("worker"), table["type"] if "type" in table else [""] * table.rows, strict=True))
    if "task" not in table and (row := second_of(keys)) is not None:
        raise table.error(row, "worker", f"{keys[row][0]!r} was there before; give each worker (and type) one row")
    rows = _rows_of_type(table, keys, kind)
    names = tuple(dict.fromkeys(keys[k][0] for k in rows))
    at = coded((keys[k][0] for k in rows), names)
    correct, asked = (np.zeros(len(names), np.int64) for _ in range(2))
    np.add.at(correct, at, right[rows])
    np.add.at(asked, at, of[rows])
    return names, correct, asked


def _rows_of_type(table: Table, keys: list[tuple[str, str]], kind: str | None) -> Ints:
    if not keys:
        raise InputError(f"{table.path.name} has no worker; it needs at least one row")
    rows = np.array([k for k, (_, there) in enumerate(keys) if kind in (None, there)], dtype=np.int64)
    if rows.size == 0:
        known = ", ".join(dict.fromkeys(there for _, there in keys if there)) or "none, for want of a column type"
        raise InputError(f"{table.path.name} has no type {kind!r}; its types are: {known}")
    return rows


def read_workers(path: TableLike) -> Table:
    """A table of workers with a price, a group, or both."""
    table = read_table(path, CANDIDATES)
    if "price" not in table and "group" not in table:
        raise InputError(f"{table.path.name} has neither a column price nor a column group; add one, or leave it out")
    return table


def write_hired(selection: Selection, path: Path, force: bool = False) -> None:
    """The hired as a table, best first, with what speaks for each and the vote's weight; whole or not at all."""
    instance, who = selection.instance, selection.members
    header = ["worker", "correct", "asked", "gain", "weight"]
    columns: list[Any] = [[instance.worker_id(i) for i in who.tolist()]]
    columns += [part[who] for part in (instance.correct, instance.asked, instance.gain, instance.weight)]
    if instance.price is not None:
        header.append("price")
        columns.append(instance.price[who])
    write_table(path, header, columns, force)


def write_frontier(frontier: Frontier, instance: SelectionInstance, path: Path, force: bool = False) -> None:
    """``workers,score[,cost],hired`` per point, cheapest first; the hired of a point as ids between blanks."""
    header, columns = ["workers", "score"], [frontier.size, frontier.score]
    if frontier.cost is not None:
        header.append("cost")
        columns.append(frontier.cost)
    hired = [" ".join(instance.worker_id(i) for i in members.tolist()) for members in frontier.members]
    write_table(path, [*header, "hired"], [*columns, hired], force)


def _of_workers(table: Table, place: dict[str, int]) -> dict[str, Any]:
    known = places(table.unique_ids("worker"))
    lacking = next((name for name in place if name not in known), None)
    if lacking is not None:
        raise InputError(f"{table.path.name} has no row for worker {lacking!r}, who has gold; add one")
    rows = [known[name] for name in place]
    found: dict[str, Any] = {}
    if "price" in table:
        found["price"] = table.numbers("price")[rows]
    if "group" in table:
        cells = table.ids("group")
        names = tuple(sorted(set(cells)))
        found["groups"] = names
        found["group"] = np.array([names.index(cells[row]) for row in rows])
    return found


def _by_group(numbers: dict[str, int], groups: tuple[str, ...] | None, rest: int) -> Ints:
    if groups is None:
        raise InputError("a number per group needs groups; give a table of workers with a column group")
    unknown = next((name for name in numbers if name not in groups), None)
    if unknown is not None:
        raise InputError(f"there is no group {unknown!r}; the groups are {', '.join(groups[:20])}")
    return np.array([numbers.get(name, rest) for name in groups])


def _places(what: str, names: Sequence[str], place: dict[str, int]) -> Ints:
    unknown = next((name for name in names if name not in place), None)
    if unknown is not None:
        raise InputError(f"the {what} worker {unknown!r} has no gold; check the id, or ask the worker some first")
    return coded(names, place)


def read_gold_shares(source: TableLike, labels: Labels, trust_gold: bool = False) -> Floats:
    """Share of gold that each worker of the labels answered correctly.

    source: columns worker, correct, asked, or worker, task, label, truth; trust_gold: whether it is taken as it is,
    even where workers are below chance; -> (workers,): NaN for a worker without gold.
    """
    names, correct, asked = read_gold(source)
    if not trust_gold:
        heed(correct, asked, len(labels.classes), names, name_of(source))
    rows = coded(labels.workers, names)
    with np.errstate(invalid="ignore"):
        share: Floats = np.where((rows >= 0) & (asked[rows] > 0), correct[rows] / asked[rows], np.nan)
    return share


def read_gold_by_class(source: TableLike, labels: Labels, trust_gold: bool = False) -> Ints:
    """Gold answers of each worker of the labels by true class and by answer.

    source: columns worker, true, answered, and optionally count, how many such answers a row stands for; others are
    ignored, and workers without labels too; trust_gold: whether it is taken as it is, even where workers are below
    chance; -> (workers, classes, classes).
    """
    table = read_table(source, CONFUSIONS)
    worker, classes = coded(table.ids("worker"), labels.workers), labels.classes
    remedy = "the classes are those of the labels; check the name"
    true, answered = (table.places(name, classes, remedy) for name in ("true", "answered"))
    count = table.counts("count") if "count" in table else np.ones(table.rows, np.int64)
    tallies = np.zeros((len(labels.workers), len(classes), len(classes)), np.int64)
    here = worker >= 0
    np.add.at(tallies, (worker[here], true[here], answered[here]), count[here])
    if not tallies.any():
        raise InputError(f"{table.path.name} has no gold of any worker of the labels; check the ids")
    if not trust_gold:
        right, asked = np.trace(tallies, axis1=1, axis2=2), tallies.sum(axis=(1, 2))
        heed(right, asked, len(classes), labels.workers, name_of(source))
    return tallies


def write_answers(answers: Answers, labels: Labels, path: Path, force: bool = False) -> None:
    """``task,label,confidence,labels`` for every task, whole or not at all; force replaces a file."""
    names = [*labels.classes, ""]
    columns = [labels.tasks, [names[k] for k in answers.answer.tolist()], answers.confidence, answers.count]
    write_table(path, ["task", "label", "confidence", "labels"], columns, force)


def write_accuracies(answers: Answers, labels: Labels, path: Path, force: bool = False) -> None:
    """``worker,labels,accuracy`` for every worker, by answers that estimate them; whole or not at all."""
    if answers.accuracy is None:
        raise InputError(f"{answers.method} estimates no worker's accuracy; choose one-coin or dawid-skene")
    write_table(path, ["worker", "labels", "accuracy"], [labels.workers, labels.counts, answers.accuracy], force)
