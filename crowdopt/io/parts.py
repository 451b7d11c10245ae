"""Campaigns whose tasks lie in parts, and their plans: small tables beside a folder of Parquet files.

::

    campaign.toml       epsilon, rule, title
    workers.csv         worker,capacity[,price]
    skills.csv          worker,type,accuracy: only where parts have a column type
    parts/*.parquet     task, then a column for each worker or a column type; [epsilon], [forbidden], [fixed]

    plan: assignment/*.parquet   task, worker; a file for each part, under its name
          workers.csv            worker,load,capacity,dual
          plan.json, run.json    what it comes to; what differs between two equal runs

Tasks stay where they are: of a part nothing but its footer is read until it is worked on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.rules import EXACT_ERROR, RULES, rule_named
from crowdopt.documents import TEXT, Keys, Maybe, each_of, number, one_of, read_toml, whole, write_json
from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.io.cells import parquet_source, write_csv
from crowdopt.io.folders import CAMPAIGN, PLAN
from crowdopt.io.gold import Ids, filled, needed_table, optional_table
from crowdopt.io.plan import read_claims, stamped
from crowdopt.io.schema import PLAN_TABLES
from crowdopt.io.settings import settings_text
from crowdopt.io.tables import Table, read_table
from crowdopt.notebooks import InNotebooks

PARTS, ASSIGNMENT, PARQUET = "parts", "assignment", "*.parquet"
OWN = ("task", "type", "epsilon", "forbidden", "fixed")  # columns of a part that are no worker's
SETTINGS = Keys(optional={"epsilon": number("a number between 0 and 0.5"), "rule": TEXT, "title": TEXT})
COUNT = whole("a whole number of at least 0", low=0)
CLAIMS = Keys(
    required=each_of({"form": one_of("parts"), "objective bound": number(), "labels tasks parts": COUNT}),
    optional={"gap": Maybe(number())},
    open=True,
)
ROWS = 65_536  # of a row group that is written


@dataclass(frozen=True, eq=False)
class PartsFolder(InNotebooks):
    """What all parts share, and their names."""

    folder: Path
    parts: tuple[str, ...]  # names of the Parquet files, sorted: their order in every sum
    settings: dict[str, Any]  # of campaign.toml
    workers: tuple[str, ...]  # ids
    capacity: Ints  # (workers,): M
    price: Floats  # (workers,): what a label is paid
    types: tuple[str, ...] = ()  # ids; none where tasks have accuracies of their own
    skills: Floats | None = None  # (types, workers): accuracies where tasks have types

    def path(self, part: str) -> Path:
        """Where a part lies."""
        return self.folder / PARTS / part

    @property
    def rule(self) -> str:
        """The rule by which parts are solved: the linear one that implies the one stated where that is none."""
        stated = str(self.settings.get("rule", EXACT_ERROR.name))
        return rule_named(stated).implied_by or stated

    @property
    def promise(self) -> str | None:
        """The rule stated, where parts are solved by another one that implies it."""
        stated = str(self.settings.get("rule", EXACT_ERROR.name))
        return None if stated == self.rule else stated

    @cached_property
    def stamp(self) -> str:
        """A name for exactly these files as they are now: sizes and times of the parts, contents of what is small."""
        found = [(part, self.path(part).stat()) for part in self.parts]
        small = [(self.folder / name) for name in (CAMPAIGN, "workers.csv", "skills.csv")]
        known = [path.read_bytes() for path in small if path.exists()]
        return sha256(repr([[(p, s.st_size, s.st_mtime_ns) for p, s in found], known]).encode()).hexdigest()[:24]


@dataclass(frozen=True, eq=False)
class Part:
    """The tasks of a part: ``ids``, an Arrow array of texts, and the instance of them alone."""

    path: Path
    ids: Any
    instance: AssignmentInstance


def is_in_parts(path: str | Path) -> bool:
    """Whether this names a campaign in parts: its folder, or a glob such as ``big/parts/2026-*.parquet``."""
    place = Path(path)
    return (place / PARTS).is_dir() or ("*" in place.name and place.parent.name == PARTS)


def read_parts_folder(path: str | Path) -> PartsFolder:
    """Read what all parts share; the parts themselves are only named.

    path: the folder, or a glob of the parts that are meant.
    """
    place, pattern = Path(path), PARQUET
    if "*" in place.name:
        place, pattern = place.parent.parent, place.name
    names = tuple(sorted(found.name for found in (place / PARTS).glob(pattern)))
    if not names:
        raise InputError(f"there is no part {pattern} in {place / PARTS}; `crowdopt generate --parts` writes some")
    return _shared(place, names)


@lru_cache(maxsize=4)
def known_folder(folder: str, stamp: str) -> PartsFolder:
    """What all parts share, for all who work on one of them: read once in a process for each ``stamp`` of it."""
    return _shared(Path(folder), ())


def _shared(place: Path, names: tuple[str, ...]) -> PartsFolder:
    toml = place / CAMPAIGN
    if not toml.exists():
        raise InputError(f"there is no {CAMPAIGN} in {place}; it needs at least a line such as epsilon = 0.05")
    settings: dict[str, Any] = read_toml(toml, SETTINGS)
    table = needed_table(place, "workers")
    workers = table.unique_ids("worker")
    if not workers:
        raise InputError(f"{table.path.name} has a header but no rows; a campaign needs workers")
    if "min_tasks" in table:
        raise InputError(f"{table.path.name}: a campaign in parts has no min_tasks; drop the column")
    taken = next((row for row, worker in enumerate(workers) if worker in OWN), None)
    if taken is not None:
        raise table.error(taken, "worker", f"{workers[taken]!r} names a column of the parts; choose another id")
    skills = optional_table(place, "skills")
    kinds = [] if skills is None else list(dict.fromkeys(skills.ids("type"))) if "type" in skills else ["all"]
    folder = PartsFolder(
        folder=place,
        parts=names,
        settings=settings,
        workers=tuple(workers),
        capacity=table.counts("capacity"),
        price=table.numbers("price") if "price" in table else np.ones(len(workers)),
        types=tuple(kinds),
        skills=None if skills is None else filled(skills, skills.numbers("accuracy"), Ids([], workers, kinds)),
    )
    if rule_named(folder.rule).checked:
        held = ", ".join(name for name, one in RULES.items() if not one.checked or one.implied_by)
        raise InputError(
            f"{toml.name}: rule {folder.rule} needs votes checked, which parts are not; choose one of {held}"
        )
    return folder


def arrow() -> tuple[Any, Any, Any]:
    """The modules pyarrow, its compute functions and its Parquet. Raises InputError if pyarrow is not installed."""
    try:
        import pyarrow
        from pyarrow import compute, parquet
    except ImportError:
        raise InputError("campaigns in parts need pyarrow: pip install 'crowdopt[frames]'") from None
    return pyarrow, compute, parquet


@contextmanager
def _readable(name: str) -> Iterator[Any]:
    """Pyarrow's Parquet; what it cannot read is said in a sentence."""
    pyarrow, _, parquet = arrow()
    try:
        yield parquet
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{name} cannot be read as Parquet: {said}; write it anew") from None


def count_tasks(folder: PartsFolder, part: str) -> int:
    """Rows of a part by its footer. Raises InputError if it is no Parquet file, or has no row."""
    with _readable(part) as parquet:
        rows = int(parquet.ParquetFile(parquet_source(folder.path(part))).metadata.num_rows)
    if rows == 0:
        raise InputError(f"{part} has no rows; drop the part")
    return rows


def read_part(folder: PartsFolder, part: str) -> Part:
    """Read the tasks of one part.

    Raises InputError at the first thing that cannot be used: part, row (the first is 1) and column are in the sentence.
    """
    path = folder.path(part)
    with _readable(part) as parquet:
        table = Columns(path, parquet.read_table(parquet_source(path)))
    _check_names(table, folder)
    ids = table.ids()
    fields: dict[str, Any] = {"capacity": folder.capacity, "cost": folder.price}
    if folder.skills is None:
        fields["accuracy"] = table.accuracies(folder.workers)
    else:
        fields |= {"accuracy": folder.skills, "task_type": table.types(folder.types), "types": folder.types}
    fields |= {name: table.pairs(name, folder.workers) for name in ("forbidden", "fixed")}
    fields["epsilon"] = table.targets(folder.settings.get("epsilon"))
    texts = {"rule": folder.rule, "title": folder.settings.get("title", "")}
    try:
        instance = AssignmentInstance(**fields, **texts, workers=folder.workers)
    except InputError as error:
        raise InputError(f"{part}: {error}") from None
    return Part(path, ids, instance)


def _check_names(table: Columns, folder: PartsFolder) -> None:
    typed, names = folder.skills is not None, table.names
    wanted = ["task", *(["type"] if typed and len(folder.types) > 1 else [] if typed else folder.workers)]
    missing = next((name for name in wanted if name not in names), None)
    if missing is not None:
        kind = "a column for each worker, or types with skills.csv" if missing in folder.workers else "a column task"
        raise InputError(f"{table.path.name} has no column {missing!r}; a part has {kind}")
    known = {*OWN, *folder.workers} if not typed else set(OWN)
    strange = next((name for name in names if name not in known), None)
    if strange is not None or len(set(names)) < len(names):
        what = "a column twice" if strange is None else f"the column {strange!r}, which is no worker of workers.csv"
        raise InputError(f"{table.path.name} has {what}; drop it")


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a part; a fault is named by file, row and column."""

    path: Path
    table: Any  # Arrow's

    @property
    def names(self) -> list[str]:
        """Of all columns."""
        return list(self.table.column_names)

    def error(self, row: int, column: str, message: str) -> InputError:
        """What is wrong where."""
        return InputError(f"{self.path.name}, row {row + 1}, column {column}: {message}")

    def refuse(self, column: str, wrong: Bools, message: str) -> None:
        """InputError at the first row that is wrong."""
        if wrong.any():
            raise self.error(int(np.flatnonzero(wrong)[0]), column, message)

    def ids(self) -> Any:
        """The tasks', each once."""
        _, compute, _ = arrow()
        ids = self.table.column("task").combine_chunks().cast("string")
        empty = np.asarray(compute.is_null(ids).to_numpy(zero_copy_only=False), dtype=bool)
        self.refuse("task", empty, "is empty; every task needs an id")
        if compute.count_distinct(ids).as_py() < len(ids):
            _, first = np.unique(np.asarray(ids.to_pylist(), dtype=object), return_index=True)
            row = int(np.setdiff1d(np.arange(len(ids)), first)[0])
            raise self.error(row, "task", f"{ids[row].as_py()!r} was there before; give each task one row")
        return ids

    def numbers(self, name: str) -> NDArray[Any]:
        """A column of numbers; NaN where one is empty."""
        pyarrow, _, _ = arrow()
        column = self.table.column(name)
        if not (pyarrow.types.is_floating(column.type) or pyarrow.types.is_integer(column.type)):
            raise self.error(0, name, f"is of type {column.type}, not numbers; write it as float")
        return np.asarray(column.to_numpy(), dtype=np.float64)

    def accuracies(self, workers: Sequence[str]) -> Floats:
        """What each worker is right with, (tasks, workers)."""
        accuracy = np.empty((self.table.num_rows, len(workers)))
        for j, worker in enumerate(workers):
            accuracy[:, j] = one = self.numbers(worker)
            bad = np.flatnonzero(~((one >= 0) & (one <= 1)))
            if bad.size:
                what = "is empty" if np.isnan(one[bad[0]]) else f"{one[bad[0]]:g} is not in [0, 1]"
                raise self.error(int(bad[0]), worker, f"{what}; give the share of right labels")
        return accuracy

    def targets(self, stated: float | None) -> Floats:
        """Each task's, or the one that campaign.toml states."""
        if "epsilon" not in self.names:
            if stated is None:
                raise InputError(f"{self.path.name} has no column epsilon and campaign.toml no epsilon; give one")
            return np.asarray(float(stated))
        epsilon = self.numbers("epsilon")
        epsilon = np.where(np.isnan(epsilon), np.nan if stated is None else float(stated), epsilon)
        self.refuse("epsilon", ~((epsilon > 0) & (epsilon < 0.5)), "must lie strictly between 0 and 1/2 (0.05 is 5 %)")
        return epsilon

    def types(self, known: Sequence[str]) -> Ints:
        """The type of each task, all of the first where there is no column."""
        if "type" not in self.names:
            return np.zeros(self.table.num_rows, np.int64)
        place = _places(self.table.column("type").combine_chunks(), known)
        self.refuse("type", place < 0, "is no type of skills.csv; add it there or drop the row")
        return place

    def pairs(self, name: str, workers: Sequence[str]) -> Ints:
        """Task and worker of each entry of a column of lists, sorted, (k, 2)."""
        pyarrow, compute, _ = arrow()
        if name not in self.names:
            return np.zeros((0, 2), np.int64)
        lists = self.table.column(name).combine_chunks()
        if not (pyarrow.types.is_list(lists.type) or pyarrow.types.is_large_list(lists.type)):
            raise self.error(0, name, f"is of type {lists.type}, not lists of workers; write it as a list")
        owner = np.asarray(compute.list_parent_indices(lists).to_numpy(), dtype=np.int64)
        worker, wrong = _places(compute.list_flatten(lists), workers), np.zeros(len(lists), bool)
        wrong[owner[worker < 0]] = True
        self.refuse(name, wrong, "has a worker whom workers.csv does not have; add or drop them")
        pairs = np.column_stack([owner, worker])[np.lexsort((worker, owner))]
        wrong[pairs[1:][(np.diff(pairs, axis=0) == 0).all(axis=1), 0]] = True
        self.refuse(name, wrong, "has a worker twice; name each once")
        return pairs


def _places(column: Any, known: Any) -> Ints:
    pyarrow, compute, _ = arrow()
    values = known if isinstance(known, pyarrow.Array) else pyarrow.array(known, "string")
    found = compute.index_in(column.cast("string"), value_set=values)
    return np.asarray(compute.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.int64)


def write_shared(instance: AssignmentInstance, folder: Path, types: Sequence[str] = ()) -> None:
    """Write campaign.toml, workers.csv and, for some types, skills.csv into a new folder.

    instance: any one with the settings, workers, capacities and prices of the whole; types: ids of its rows of
    accuracy, where tasks have types.
    """
    workers = instance.worker_ids
    columns: dict[str, Any] = {"worker": workers, "capacity": instance.capacity}
    if (instance.cost != 1).any():
        columns["price"] = instance.cost[0]
    (folder / CAMPAIGN).write_text(settings_text(instance), encoding="utf-8", newline="\n")
    write_csv(folder / "workers.csv", list(columns), columns.values())
    if types:
        names = np.repeat(types, len(workers)), np.tile(workers, len(types))
        write_csv(folder / "skills.csv", ["worker", "type", "accuracy"], [*names[::-1], instance.accuracy.ravel()])
    (folder / PARTS).mkdir()


def write_part(
    path: Path,
    instance: AssignmentInstance,
    ids: Any,
    stated: float | None,
    *,
    typed: bool = False,
    single: bool = False,
) -> None:
    """Write the tasks of an instance as a part, whole or not at all.

    ids: texts, or Arrow's array of them; stated: the target in campaign.toml: where a task has another one, targets
    are written; typed: whether types are, whose accuracies are in skills.csv; single: accuracies as 32 bits.
    """
    pyarrow, _, _ = arrow()
    kind = pyarrow.float32() if single else pyarrow.float64()
    columns: dict[str, Any] = {"task": pyarrow.array(ids, "string") if isinstance(ids, list) else ids}
    if typed:
        columns["type"] = pyarrow.array([instance.type_id(int(one)) for one in instance.task_type], "string")
    else:
        for j in range(instance.n_workers):
            columns[instance.worker_id(j)] = pyarrow.array(instance.accuracy[instance.task_type, j], kind)
    if stated is None or (instance.epsilon != stated).any():
        columns["epsilon"] = pyarrow.array(instance.epsilon)
    for name in ("forbidden", "fixed"):
        pairs: Ints = getattr(instance, name)
        if len(pairs):
            pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
            ends = np.cumsum(np.bincount(pairs[:, 0], minlength=instance.n_tasks))
            workers = pyarrow.array([instance.worker_id(int(j)) for j in pairs[:, 1]], "string")
            columns[name] = pyarrow.ListArray.from_arrays(pyarrow.array(np.append(0, ends), pyarrow.int32()), workers)
    _write(path, pyarrow.table(columns))


def _write(path: Path, table: Any) -> None:
    words = [name for name in ("worker", "type") if name in table.column_names]
    with draft(path) as file:
        arrow()[2].write_table(table, file, row_group_size=ROWS, use_dictionary=words)


def write_pairs(folder: Path, part: Part, pairs: Ints) -> None:
    """Write one part's sorted pairs, (k, 2), into the folder of all assignments."""
    pyarrow, _, _ = arrow()
    known = pyarrow.array(part.instance.worker_ids)
    workers = pyarrow.DictionaryArray.from_arrays(pairs[:, 1].astype(np.int32), known)
    task = part.ids.take(pyarrow.array(pairs[:, 0]))
    _write(folder / part.path.name, pyarrow.table({"task": task, "worker": workers.cast("string")}))


def read_pairs(folder: Path, part: Part) -> Ints:
    """Task and worker of each label of one part, (k, 2)."""
    name = f"{ASSIGNMENT}/{part.path.name}"
    with _readable(name) as parquet:
        table = parquet.read_table(parquet_source(folder / part.path.name), columns=["task", "worker"])
    columns = []
    for column, known in (("task", part.ids), ("worker", part.instance.worker_ids)):
        index = _places(table.column(column).combine_chunks(), known)
        if (index < 0).any():
            row = int(np.flatnonzero(index < 0)[0])
            given = table.column(column)[row].as_py()
            raise InputError(f"{name}, row {row + 1}: {column} {given!r} is none of the campaign's")
        columns.append(index)
    return np.column_stack(columns)


def write_numbers(
    place: Path, folder: PartsFolder, load: Ints, dual: Floats, claims: dict[str, Any], facts: dict[str, Any]
) -> None:
    """Write workers.csv, plan.json and run.json beside the assignments.

    dual (workers,): multipliers of the capacities; claims, facts: of plan.json beside versions, and of run.json.
    """
    columns: list[Any] = [list(folder.workers), load, folder.capacity, dual]
    write_csv(place / "workers.csv", ["worker", "load", "capacity", "dual"], columns)
    for name, content in ((PLAN, stamped(claims)), ("run.json", facts)):
        write_json(place / name, content)


def read_numbers(place: Path, folder: PartsFolder) -> tuple[dict[str, Any], Table]:
    """The claims of a plan in parts, and the table of its workers, in the campaign's order."""
    claims = read_claims(place, CLAIMS)
    table = read_table(place / "workers.csv", PLAN_TABLES["workers"])
    if tuple(table["worker"]) != folder.workers:
        raise InputError(f"{place / 'workers.csv'} does not have the campaign's workers in their order")
    return claims, table
