"""A campaign folder: plain tables in, one validated instance out.

What a campaign asks for and allows: error targets, prices, capacities, label limits, special pairs.

Groups and own rows as tables of a campaign: groups.csv, rows.csv.

A large synthetic instance as one ``.npz`` file.

An instance as a campaign folder.

Labels that were given once, in a campaign's own indices.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints, coded
from crowdopt.crowd.gold import Gold
from crowdopt.crowd.groups import Group, OwnRows
from crowdopt.crowd.instance import FIELDS, PAIRS, UNLIMITED, AssignmentInstance, Field
from crowdopt.crowd.law import NONE, Law
from crowdopt.documents import misfit, quoted
from crowdopt.errors import GoldWarning, HeaderError, InputError, TableWarning, meant, public, tell
from crowdopt.files import draft
from crowdopt.io.cells import TableLike, name_of, write_csv
from crowdopt.io.folders import CAMPAIGN, check_target, new_folder
from crowdopt.io.gold import (
    ALIKE,
    Ids,
    filled,
    gold_classes,
    heed_gold,
    listed,
    needed_table,
    optional_table,
    read_accuracy,
    refuse_empty,
    refuse_headers,
    refuse_unlike,
    tell_unread,
)
from crowdopt.io.settings import (
    DIFFICULTY,
    GROUPS,
    ROWS,
    read_settings,
    recorded_groups,
    recorded_rows,
    settings_text,
    stated_difficulty,
    written_groups,
    written_rows,
)
from crowdopt.io.tables import (
    Table,
    campaign_pairs,
    find_table,
    is_folder,
    pair_ids,
    read_label_table,
    read_true_labels,
)


def read_epsilon(tasks: Table, settings: dict[str, Any]) -> Floats:
    """Error target of each task: its own where the table has one, else that of campaign.toml.

    tasks: column epsilon is optional; -> (tasks,).
    """
    default = settings.get("epsilon")
    if default is None and ("epsilon" not in tasks or "" in tasks["epsilon"]):
        raise InputError("campaign.toml has no epsilon; add a line such as epsilon = 0.05")
    if default is not None and not 0 < default < 0.5:
        raise InputError(f"campaign.toml: epsilon must lie strictly between 0 and 1/2 (0.05 is 5 %), not {default}")
    if "epsilon" not in tasks:
        return np.full(tasks.rows, default, dtype=np.float64)
    return tasks.numbers("epsilon", empty=default)


def read_cost(folder: Path, workers: Table, ids: Ids) -> Floats:
    """Prices of labels: prices.csv, else the workers' price column, else 1.

    workers: column price is optional; -> (types, workers).
    """
    prices = optional_table(folder, "prices")
    if prices is None and "price" not in workers:
        return np.ones((len(ids.types), len(ids.workers)))
    if prices is not None and "price" in workers:
        raise InputError("workers.csv has a column price and there is a prices.csv; keep one of them")
    table = workers if prices is None else prices
    values = table.numbers("price")
    if prices is None:
        return np.broadcast_to(values, (len(ids.types), len(ids.workers)))
    return filled(prices, values, ids)


def read_limits(folder: Path, tasks: Table, workers: Table, ids: Ids) -> dict[str, Any]:
    """Capacities, least loads, label limits and special pairs, by the names that an instance has for them.

    folder: of the campaign; forbidden.csv, fixed.csv and collected.csv are optional.
    """
    limits: dict[str, Any] = {"capacity": workers.counts("capacity")}
    for one in (one for one in FIELDS if one.kind is int and one.default is not None):
        table = tasks if one.of == "task" else workers
        if one.key in table:
            limits[one.name] = table.counts(one.key, empty=int(one.default or 0))
    for name in PAIRS:
        pairs = optional_table(folder, name)
        if pairs is not None:
            limits[name] = ids.pairs(pairs)
    return limits


MOST = 20_000_000  # entries of all rows together, once empty cells stand for all workers


FAMILY = {"dependent": True}  # what holds of a family unless campaign.toml says otherwise


def with_families(workers: Table, settings: dict[str, Any]) -> dict[str, Any]:
    """The limits of groups with those of the families that a column of workers.csv names."""
    names = {name for name in _families(workers) if name}
    stated = settings.get("groups", {})
    return stated | {name: FAMILY | stated.get(name, {}) for name in sorted(names)}


def _families(workers: Table) -> list[str]:
    return workers["family"] if "family" in workers else []  # noqa: SIM401 a table is no dict


def read_groups(folder: Path, workers: Table, ids: Ids, settings: dict[str, Any]) -> list[Group]:
    """The groups of groups.csv, and families of workers.csv, with the limits of campaign.toml."""
    table, limits = optional_table(folder, "groups"), settings.get("groups", {})
    members: dict[str, list[int]] = {}
    for worker, family in enumerate(_families(workers)):
        members.setdefault(family, []).append(worker)
    families = {name for name in members if name}
    members.pop("", None)
    if table is not None:
        for row, (worker, group) in enumerate(zip(ids.workers_of(table).tolist(), table.ids("group"), strict=True)):
            if group in families:
                raise table.error(
                    row, "group", f"{group!r} is a family of {workers.path.name} too; name one of them anew"
                )
            if worker in members.setdefault(group, []):
                raise table.error(row, "group", f"the worker is in {group!r} already; give each membership one row")
            members[group].append(worker)
    strange = next((name for name in limits if name not in members), None)
    if strange is not None:
        near = meant(strange, members)
        hint = f"did you mean {near!r}? " if near else ""
        raise InputError(
            f"campaign.toml: no worker is in the group {strange!r}; {hint}groups.csv (worker,group) says who"
        )
    idle = [repr(name) for name in members if not limits.get(name)]
    if idle and table is not None:
        what = f"{', '.join(idle[:5])}{' and more' if len(idle) > 5 else ''}: campaign.toml sets no limit for them"
        tell(f"{table.path.name}: nothing depends on the group(s) {what}, such as [groups.NAME] max_per_task = 1")
    return [Group(name, tuple(those), **limits.get(name, {})) for name, those in members.items()]


def read_own(folder: Path, ids: Ids) -> OwnRows | None:
    """The rows of rows.csv; None where there is none."""
    table = optional_table(folder, "rows")
    if table is None:
        return None
    names = list(dict.fromkeys(table.ids("row")))
    row = coded(table["row"], names)
    everything = {"task": {**ids.task, "": -1}, "worker": {**ids.worker, "": -1}}
    task = table.places("task", everything["task"], "add it to the tasks table or drop the row")
    worker = table.places("worker", everything["worker"], "add it to the workers table or drop the row")
    value = table.numbers("coefficient")
    sides = [_sides(table, name, row, len(names), end) for name, end in (("lower", -np.inf), ("upper", np.inf))]
    open_ended = np.flatnonzero(np.isinf(sides[0]) & np.isinf(sides[1]))
    if open_ended.size:
        raise table.error(
            int(np.flatnonzero(row == open_ended[0])[0]), "row", "has no side; give it a lower or an upper"
        )
    n, m = len(ids.tasks), len(ids.workers)
    counts = np.where(task < 0, n, 1) * np.where(worker < 0, m, 1)
    if counts.sum() > MOST:
        raise InputError(f"{table.path.name} comes to {counts.sum()} entries, more than {MOST}; name fewer pairs")
    # entries of a line: all tasks where it names none, and for each of them all workers where it names none
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    step = np.repeat(np.where(worker < 0, m, 1), counts)
    named = np.repeat(task, counts), np.repeat(worker, counts)
    flat = np.column_stack(
        [np.where(named[0] < 0, place // step, named[0]), np.where(named[1] < 0, place % step, named[1])]
    )
    return OwnRows(tuple(names), np.repeat(row, counts), flat, np.repeat(value, counts), *sides)


def _sides(table: Table, name: str, row: Any, count: int, absent: float) -> Any:
    sides = np.full(count, absent)
    if name not in table:
        return sides
    stated = table.numbers(name, empty=absent)
    for line in np.flatnonzero(np.isfinite(stated)).tolist():
        if np.isfinite(sides[row[line]]) and sides[row[line]] != stated[line]:
            raise table.error(line, name, f"says {stated[line]:g}, but an earlier line of the row {sides[row[line]]:g}")
        sides[row[line]] = stated[line]
    return sides


def write_groups(instance: AssignmentInstance, folder: Path) -> None:
    """groups.csv of an instance, where it has any."""
    pairs = [(instance.worker_id(j), group.name) for group in instance.groups for j in group.members]
    if pairs:
        write_csv(folder / "groups.csv", ["worker", "group"], zip(*pairs, strict=True))


def write_rows(instance: AssignmentInstance, folder: Path) -> None:
    """rows.csv of an instance, where it has any; its sides stand in the first line of each row."""
    rows = instance.own_rows
    if rows is None:
        return
    first = np.zeros(rows.row.size, bool)
    first[np.unique(rows.row, return_index=True)[1]] = True
    if len(set(rows.row.tolist())) < len(rows.names):
        raise InputError("an own row without entries cannot be written as a table; drop it")
    columns: list[Any] = [
        [rows.names[k] for k in rows.row.tolist()],
        *pair_ids(instance, rows.pairs),
        rows.coefficient,
        *(
            [
                repr(float(side[k])) if there and np.isfinite(side[k]) else ""
                for k, there in zip(rows.row, first, strict=True)
            ]
            for side in (rows.lower, rows.upper)
        ),
    ]
    write_csv(folder / "rows.csv", ["row", "task", "worker", "coefficient", "lower", "upper"], columns)


FORMAT = 1
HARD = ("hard_share", "hard_left")  # entries of a difficulty, where there is one
ROUNDED = 1e-9  # of shares that add up to 1
LAW = ("law_name", "law_share", "law_accuracy")  # entries of a law of votes, where there is one
APART = ("difficulty", "vote_law")
JOINT = {  # entries that are text: how each is written and read, and its shape
    "groups": (written_groups, recorded_groups, GROUPS),
    "own_rows": (written_rows, recorded_rows, ROWS),
}
ENTRIES = {one.name: one for one in FIELDS if one.name not in APART}
LETTERS: dict[type, tuple[str, str]] = {str: ("U", "text"), int: ("iuf", "whole number"), bool: ("b", "truth value")}


def write_archive(instance: AssignmentInstance, path: Path, force: bool = False) -> None:
    """Write every field of the instance; absent ids are left out, shared prices kept once."""
    check_target(path, None, force)
    with draft(path, replace=force) as file:
        np.savez_compressed(file, **arrays_of(instance))


def arrays_of(instance: AssignmentInstance) -> dict[str, Any]:
    """The entries of an archive: every field that is there."""
    arrays: dict[str, Any] = {"format": FORMAT}
    for name in ENTRIES:
        value = getattr(instance, name)
        if name in JOINT:
            if value:
                arrays[name] = np.asarray(json.dumps(JOINT[name][0](instance)))
        elif value is not None:
            arrays[name] = np.asarray(value)
    if instance.difficulty.share:
        arrays |= dict(zip(HARD, (instance.difficulty.share, instance.difficulty.left), strict=True))
    law = instance.vote_law
    if law is not None:
        arrays |= dict(zip(LAW, (np.asarray(law.name), law.share, law.accuracy), strict=True))
    if (instance.cost == instance.cost[0]).all():
        arrays["cost"] = instance.cost[0]
    return arrays


def read_archive(path: Path) -> AssignmentInstance:
    """Read what :func:`write_archive` wrote; nothing in it is executed."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except Exception as error:  # damage surfaces as whatever zip, zlib or numpy stumble over first
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{path.name} is not an archive of arrays: {said}") from None
    if arrays.pop("format", np.int64(0)).tolist() != FORMAT:
        raise InputError(f"{path.name} is no campaign of format {FORMAT}; write it anew with this version")
    _check_entries(path, arrays)
    hard = {key: arrays.pop(name).item() for key, name in zip(("share", "left"), HARD, strict=True) if name in arrays}
    wrong = misfit(hard, DIFFICULTY, "hard") if hard else None
    if wrong is not None:
        raise InputError(f"{path.name}: {wrong}")
    law = _law_of(path, {name: arrays.pop(name) for name in LAW if name in arrays})
    joint = {name: str(arrays.pop(name).item()) for name in JOINT if name in arrays}
    instance = AssignmentInstance(
        **{name: _restored(array) for name, array in arrays.items()},
        difficulty=stated_difficulty(hard) if hard else NONE,
        vote_law=law,
    )
    return replace(instance, **{name: _parsed(path, instance, name, text) for name, text in joint.items()})


def _check_entries(path: Path, arrays: dict[str, Any]) -> None:
    strange = sorted(set(arrays) - {*ENTRIES, *HARD, *LAW})
    if strange:
        raise InputError(f"{path.name} has the unknown entry {strange[0]!r}")
    missing = {"accuracy", "task_type", "capacity", "epsilon"} - set(arrays)
    if missing:
        raise InputError(f"{path.name} lacks the entry {sorted(missing)[0]!r}")
    for name, array in arrays.items():
        entry = ENTRIES.get(name, Field("" if name in (*HARD, LAW[0]) else "law", float))
        kinds, wanted = LETTERS[str] if name in (*JOINT, LAW[0]) else LETTERS.get(entry.kind, ("iuf", "number"))
        if array.dtype.kind not in kinds or (not entry.of and array.ndim > 0):
            many = f"{wanted}s" if entry.of else f"one {wanted}"
            raise InputError(f"{path.name}: the entry {name} must be {many}, not {array.dtype} of shape {array.shape}")


def _parsed(path: Path, instance: AssignmentInstance, name: str, text: str) -> Any:
    _, read, shape = JOINT[name]
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    wrong = misfit(value, shape, name)
    if wrong is not None:
        raise InputError(f"{path.name}: {wrong}")
    return read(instance, value)


def _law_of(path: Path, given: dict[str, Any]) -> Law | None:
    if not given:
        return None
    share, accuracy = (given.get(name, np.zeros(0)) for name in LAW[1:])
    is_law = set(given) == set(LAW) and share.ndim == 1 and accuracy.ndim == 2 and share.size == len(accuracy)
    within = bool(((accuracy >= 0) & (accuracy <= 1)).all() and (share >= 0).all())
    if not is_law or not within or abs(share.sum() - 1) > ROUNDED:
        raise InputError(f"{path.name}: {', '.join(LAW)} are no law of votes; write the archive anew")
    return Law.votes(str(given[LAW[0]].item()), share, accuracy)


def _restored(array: np.ndarray[Any, Any]) -> Any:
    return array.item() if array.ndim == 0 else array


@public
def read_campaign(folder: str | Path, *, trust_gold: bool = False) -> AssignmentInstance:
    """Read a campaign folder, or an ``.npz`` archive of a large one, into an instance.

    What the labels in collected.csv say becomes each task's prior, where rule and law of votes allow; with
    ``collected = "evidence"`` in campaign.toml they count as labels of such workers, whatever they say.
    A warning (:class:`crowdopt.errors.GoldWarning`) names workers whose gold is below chance, or who have none, and the
    classes that gold names where campaign.toml names none; another (``TableWarning``) names tables that are not read.

    Parameters
    ----------
    folder : path
    trust_gold : bool
        Whether gold is taken as it is, even where the crowd is below chance. Default: what campaign.toml says.

    Returns
    -------
    AssignmentInstance

    Raises
    ------
    InputError
        At the first thing that cannot be used: file, line, column and remedy are in the sentence.
    """
    campaign = read_with_labels(folder)
    instance = campaign.instance
    if campaign.gold is not None and not (trust_gold or campaign.trusts_gold):
        heed_gold(campaign.gold, instance.classes, instance.worker_ids)
    if not campaign.observed:
        return instance
    return instance.given(instance.posterior(instance.collected, campaign.indices())).as_read(campaign.gold)


@dataclass(frozen=True, eq=False)
class Campaign:
    """A campaign as its tables have it: the instance, and what the labels already in say."""

    instance: AssignmentInstance
    collected_labels: list[str] = field(default_factory=list)
    observed: bool = False
    gold: Gold | None = None
    trusts_gold: bool = False

    def indices(self, more: Sequence[str] = ()) -> Ints:
        """Classes of the collected labels, and of more, by the campaign's class names, else by those that occur."""
        every = [*self.collected_labels, *more]
        names = self.class_names(more)
        strange = next((name for name in dict.fromkeys(every) if name not in names), None)
        if strange is not None:
            near = meant(strange, names)
            hint = f" (did you mean {near!r}?)" if near else ""
            remedy = "correct the label, or name every class in campaign.toml"
            said = f"the label {strange!r} is no class of this campaign{hint}; they are {', '.join(names)}"
            raise InputError(f"{said}; {remedy}")
        return coded(every, names)

    def class_names(self, more: Sequence[str] = ()) -> tuple[str, ...]:
        """The campaign's class names; where it states none, the labels that occur, sorted."""
        if self.instance.class_names is not None:
            return tuple(self.instance.class_names)
        names, classes = sorted({*self.collected_labels, *more}), self.instance.classes
        if len(names) > classes:
            raise InputError(
                f"the labels name {len(names)} classes ({', '.join(names[:4])}), the campaign has {classes}"
            )
        if not names:
            return tuple(str(k) for k in range(classes))
        return (*names, *(f"(other {k})" for k in range(classes - len(names))))


def read_with_labels(folder: str | Path) -> Campaign:
    """Read a campaign with the labels already in; InputError as for :func:`read_campaign`."""
    path = Path(folder)
    if path.suffix == ".npz" and path.is_file():
        return Campaign(read_archive(path).as_read())
    if not is_folder(path):
        raise InputError(f"there is no campaign folder {path}; `crowdopt init {path}` makes one to start from")
    try:
        return _read_folder(path)
    except HeaderError:
        refuse_headers(path)
        raise


def _read_folder(path: Path) -> Campaign:
    settings = read_settings(path / "campaign.toml")
    tell_unread(path)
    tasks, workers = needed_table(path, "tasks"), needed_table(path, "workers")
    names = tasks.unique_ids("task"), workers.unique_ids("worker")
    refuse_empty(tasks, workers)
    kinds = tasks.ids("type") if "type" in tasks else ["all"] * tasks.rows
    ids = Ids(*names, list(dict.fromkeys(kinds)))
    collected = optional_table(path, "collected")
    settings |= _agreed_classes(path, collected, settings) | {"groups": with_families(workers, settings)}
    skills = read_accuracy(path, ids, settings)
    prior = settings.get("prior")
    class_names = settings.get("class_names", skills.names)
    instance = AssignmentInstance(
        accuracy=skills.told.accuracy,
        task_type=np.array([ids.type[kind] for kind in kinds]),
        epsilon=read_epsilon(tasks, settings),
        cost=read_cost(path, workers, ids),
        **read_limits(path, tasks, workers, ids),
        rule=settings.get("rule"),
        classes=len(class_names or ()) or settings.get("classes", 2),
        prior=None if prior is None else np.array([*prior.values()], dtype=np.float64),
        class_names=class_names,
        confusion=skills.confusion,
        vote_law=skills.told.vote_law,
        difficulty=skills.told.difficulty,
        budget=settings.get("budget"),
        groups=read_groups(path, workers, ids, settings),
        own_rows=read_own(path, ids),
        tasks=ids.tasks,
        workers=ids.workers,
        types=ids.types,
        title=settings.get("title", ""),
        skills_source=skills.told.source,
    )
    labels = [] if collected is None else collected.ids("label")
    by_votes = instance.the_rule.heeds_prior and not instance.errs_together and (instance.dependence == 1).all()
    observed = settings.get("collected", "observed" if labels and by_votes else "evidence") == "observed"
    known = instance.as_read(skills.gold)  # whoever puts a plan's settings in force needs gold
    return Campaign(known, labels, observed, skills.gold, settings.get("trust_gold", False))


def _agreed_classes(folder: Path, collected: Table | None, settings: dict[str, Any]) -> dict[str, Any]:
    """The classes that gold and the labels in name, where campaign.toml names none; InputError where they disagree."""
    home = find_table(folder, "gold")
    columns = {} if home is None else gold_classes(home)
    truths, in_gold = next(iter(columns.values()), set()), set().union(*columns.values())
    tables = {home.name: in_gold} if home is not None and in_gold else {}
    if collected is not None:
        tables[collected.path.name] = set(collected.ids("label"))
    names, stated, count = sorted(set().union(*tables.values())), settings.get("class_names"), settings.get("classes")
    sources = " and ".join(tables)
    if stated is not None:
        _refuse_others("campaign.toml", stated, tables)
        if in_gold and not in_gold.issuperset(stated):
            rest = listed(set(stated) - in_gold)
            says = f"{next(iter(tables))}: no label and no truth is {rest}, which campaign.toml names"
            if not settings.get("trust_gold"):
                raise InputError(f"{says}; leave it out, ask gold of it, or say trust_gold = true where it is rare")
            tell(says, GoldWarning)
        return {}
    refuse_unlike(columns, tables)
    if count is not None and (len(names) > count or (in_gold and len(names) < count)):
        remedy = f"name all of them in campaign.toml: classes = [{', '.join(map(quoted, names[:10]))}]"
        raise InputError(f"{sources} names {len(names)} classes, the campaign has {count}; {remedy}")
    if count is None and len(in_gold) > 1:
        _refuse_others(next(iter(tables)), in_gold, tables)
    if len(names) < (2 if in_gold else 3) or count not in (None, len(names)):
        return {}  # two classes, whatever they are called, are what campaign.toml has by default
    if count is None:
        never = f" (no truth is {listed(in_gold - truths)})" if in_gold - truths else ""
        said = f"{sources}: the classes are taken to be {listed(names)}{never}; campaign.toml names none"
        tell(said, GoldWarning if in_gold else TableWarning)
    return {"class_names": tuple(names)}


def _refuse_others(source: str, classes: Collection[str], tables: dict[str, set[str]]) -> None:
    """InputError where a table names classes beside those of the source."""
    others = {table: sorted(names.difference(classes)) for table, names in tables.items() if names.difference(classes)}
    if others:
        said = ", ".join(f"{table} says {listed(names)}" for table, names in others.items())
        near = meant(next(iter(others.values()))[0], classes)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise InputError(f"{source} has the classes {listed(classes)}, but {said}{hint}; {ALIKE}")


@public
def write_campaign(
    instance: AssignmentInstance,
    folder: str | Path,
    *,
    force: bool = False,
    gold: tuple[Ints, Ints] | Mapping[str, Sequence[str]] | None = None,
    gold_source: str | None = None,
    trust_gold: bool = False,
    collected_labels: Sequence[str] = (),
) -> None:
    """Write an instance as a campaign folder, or as an archive where the name ends in ``.npz``.

    Parameters
    ----------
    instance : AssignmentInstance
    folder : path
    force : bool
        Whether what is there may be replaced.
    gold : (correct, asked), each (types, workers) int, or columns by name, optional
        Written as gold.csv in place of the accuracies: tallies, or answers: worker, task, label, truth[, type].
    gold_source : str, optional
        What the tallies were counted against, in words.
    trust_gold : bool
        Whether the campaign says that its gold is to be taken as it is.
    collected_labels : sequence of str
        The labels of ``instance.collected``, needed where there are any.

    Raises
    ------
    InputError
        If the target exists and is not forced, cannot be written, or the instance is no campaign (its demand is not 1).
    """
    path = Path(folder)
    if path.suffix == ".npz":
        write_archive(instance, path, force)
        return
    if (instance.demand != 1).any():
        raise InputError("a campaign covers its whole need; an instance with another demand cannot be written as one")
    if instance.prior.ndim > 1:
        raise InputError("an instance with a prior per task cannot be written as a campaign; give one prior for all")
    if instance.confusion is not None:
        raise InputError("confusion tables stand in no table of a campaign; write an .npz archive")
    if len(collected_labels) != len(instance.collected):
        raise InputError("the labels already in must be given, one for each collected pair")
    with new_folder(path, CAMPAIGN, force) as new:
        write_tables(instance, new, settings_text(instance, gold_source, trust_gold), collected_labels)
        _write_skills(instance, new, gold)


Columns: TypeAlias = Mapping[str, Sequence[Any]]


def write_tables(
    instance: AssignmentInstance,
    folder: Path,
    settings: str,
    labels: Sequence[str],
    tasks: Columns = MappingProxyType({}),
    workers: Columns = MappingProxyType({}),
) -> None:
    """The files of a campaign but for its skills; tasks, workers: further columns of their tables."""
    (folder / CAMPAIGN).write_text(settings, encoding="utf-8", newline="\n")
    same = bool((instance.cost == instance.cost[0]).all())
    _write(
        folder / "tasks.csv",
        task=instance.task_ids,
        type=_types(instance),
        epsilon=None if instance.one_target is not None else instance.epsilon,
        min_labels=instance.min_labels if (instance.min_labels > 0).any() else None,
        max_labels=["" if most == UNLIMITED else most for most in instance.max_labels.tolist()]
        if (instance.max_labels < UNLIMITED).any()
        else None,
        **tasks,
    )
    _write(
        folder / "workers.csv",
        worker=instance.worker_ids,
        capacity=instance.capacity,
        price=instance.cost[0] if same and (instance.cost != 1).any() else None,
        min_tasks=instance.min_load if (instance.min_load > 0).any() else None,
        **workers,
    )
    if not same:
        write_csv(folder / "prices.csv", ["worker", "type", "price"], by_cell(instance, instance.cost))
    write_groups(instance, folder)
    write_rows(instance, folder)
    for name in PAIRS:
        pairs = getattr(instance, name)
        if len(pairs):
            task, worker = pair_ids(instance, pairs)
            _write(folder / f"{name}.csv", task=task, worker=worker, label=labels if name == "collected" else None)


def _write(path: Path, **columns: Any) -> None:
    """A table of those columns that are there."""
    there = {name: column for name, column in columns.items() if column is not None}
    write_csv(path, list(there), there.values())


def _types(instance: AssignmentInstance) -> list[str] | None:
    """The type of each task, where a table needs to say it."""
    if instance.n_types == 1 and instance.types in (None, ("all",)):
        return None
    return [instance.type_id(int(kind)) for kind in instance.task_type]


def _write_skills(
    instance: AssignmentInstance, folder: Path, gold: tuple[Any, Any] | Mapping[str, Sequence[str]] | None
) -> None:
    if isinstance(gold, Mapping):
        write_csv(folder / "gold.csv", list(gold), gold.values())
        return
    typed = _types(instance) is not None
    keep = slice(None) if typed else slice(0, None, 2)
    header = ["worker", "type"] if typed else ["worker"]
    if gold is None:
        columns = by_cell(instance, instance.accuracy)
        write_csv(folder / "skills.csv", [*header, "accuracy"], [*columns[:2][keep], *columns[2:]])
    else:
        columns = by_cell(instance, *gold)
        write_csv(folder / "gold.csv", [*header, "correct", "asked"], [*columns[:2][keep], *columns[2:]])


def by_cell(instance: AssignmentInstance, *tables: NDArray[Any]) -> list[Any]:
    """Worker and type of each cell, and what these tables (types, workers) have there."""
    kinds = np.unique(instance.task_type).tolist()  # a type without tasks would be unknown to the reader
    workers = range(instance.n_workers)
    names = [instance.worker_id(j) for j in workers for _ in kinds]
    types = [instance.type_id(kind) for _ in workers for kind in kinds]
    return [names, types, *(table[kinds].T.reshape(-1) for table in tables)]


@dataclass(frozen=True, eq=False)
class LabelRecord:
    """Recorded labels in a campaign's indices, and the true classes."""

    # task, worker and class of each label
    task: Ints  # (k,)
    worker: Ints  # (k,)
    label: Ints  # (k,)
    truth: Ints  # (tasks,): class of each task, -1 where unknown


def read_record(instance: AssignmentInstance, labels: TableLike, truth: TableLike | None = None) -> LabelRecord:
    """Read a label table (task, worker, label) and the truth (task, label) of the campaign's tasks and workers."""
    table = read_label_table(labels)
    known = {} if truth is None else read_true_labels(truth)
    classes = sorted({*table["label"], *known.values()})
    if len(classes) > instance.classes:
        there = f"{name_of(labels)} has {len(classes)} different labels"
        raise InputError(f"{there}, but the campaign has {instance.classes}")
    task, worker = campaign_pairs(table, instance).T
    if np.unique(task * instance.n_workers + worker).size < task.size:
        raise InputError(f"{name_of(labels)} has a worker's label for a task twice; keep one of each pair")
    ids = (instance.task_id(i) for i in range(instance.n_tasks))
    return LabelRecord(task, worker, coded(table["label"], classes), coded(map(known.get, ids), classes))
