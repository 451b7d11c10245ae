"""One part of a campaign: a Parquet file of tasks, read into an instance of its own and written from one."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.linear_rule import linear_of
from crowdopt.crowd.rules import rule_named
from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.io.parts.parts_folder import OWN, PartsFolder
from crowdopt.io.tables.stored_tables import parquet_source

ROWS = 65_536  # of a row group: what is read or written at a time beside the arrays
ANY = 0.25  # a target of which needs are shares where the campaign states none
BYTES = 40  # of memory for a task and worker while a part is worked on, at most


@dataclass(frozen=True, eq=False)
class Part:
    """The tasks of a part: ``ids``, an Arrow array of texts, and the instance of them alone."""

    path: Path
    ids: Any
    instance: AssignmentInstance


def arrow() -> tuple[Any, Any, Any]:
    """The modules pyarrow, its compute functions and its Parquet. Raises InputError if pyarrow is not installed."""
    try:
        import pyarrow
        from pyarrow import compute, parquet
    except ImportError:
        raise InputError("campaigns in parts need pyarrow: pip install 'crowdopt[frames]'") from None
    return pyarrow, compute, parquet


def count_tasks(folder: PartsFolder, part: str) -> int:
    """Rows of a part by its footer. Raises InputError if it is no Parquet file, or has no row."""
    rows = int(_open(folder.path(part)).metadata.num_rows)
    if rows == 0:
        raise InputError(f"{part} has no rows; drop the part")
    return rows


def read_part(folder: PartsFolder, part: str) -> Part:
    """Read the tasks of one part.

    Raises InputError at the first thing that cannot be used: part, row (the first is 1) and column are in the sentence.
    """
    _, compute, _ = arrow()
    path = folder.path(part)
    file = _open(path)
    names = list(file.schema_arrow.names)
    _check_names(path, names, folder)
    own = _read(path, file, [name for name in names if name in OWN])
    ids = own.column("task").combine_chunks().cast("string")
    _refuse_at(path, "task", _mask(compute.is_null(ids)), "is empty; every task needs an id")
    if compute.count_distinct(ids).as_py() < len(ids):
        _, first = np.unique(np.asarray(ids.to_pylist(), dtype=object), return_index=True)
        row = int(np.setdiff1d(np.arange(len(ids)), first)[0])
        raise _error(path, row, "task", f"{ids[row].as_py()!r} was there before; give each task one row")
    fields: dict[str, Any] = (
        {"accuracy": _accuracies(path, file, folder)}
        if folder.skills is None
        else {"accuracy": folder.skills, "task_type": _types(path, own, folder), "types": folder.types}
    )
    fields |= {name: _pairs(path, own, name, folder) for name in ("forbidden", "fixed")}
    fields |= {**_targets(path, own, folder), "capacity": folder.capacity, "cost": folder.price}
    texts = {"rule": folder.rule, "title": folder.settings.get("title", "")}
    try:
        instance = AssignmentInstance(**fields, **texts, workers=folder.workers)
    except InputError as error:
        raise InputError(f"{part}: {error}") from None
    return Part(path, ids, instance)


def _open(path: Path) -> Any:
    pyarrow, _, parquet = arrow()
    try:
        return parquet.ParquetFile(parquet_source(path))
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{path.name} cannot be read as Parquet: {said}") from None


def _read(path: Path, file: Any, columns: list[str], group: int | None = None) -> Any:
    pyarrow, _, _ = arrow()
    try:
        return file.read(columns) if group is None else file.read_row_group(group, columns)
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{path.name} cannot be read: {said}; write the part anew") from None


def _check_names(path: Path, names: list[str], folder: PartsFolder) -> None:
    typed = folder.skills is not None
    wanted = ["task", *(["type"] if typed and len(folder.types) > 1 else [] if typed else folder.workers)]
    missing = next((name for name in wanted if name not in names), None)
    if missing is not None:
        kind = "a column for each worker, or types with skills.csv" if missing in folder.workers else "a column task"
        raise InputError(f"{path.name} has no column {missing!r}; a part has {kind}")
    known = {*OWN, *folder.workers} if not typed else set(OWN)
    strange = next((name for name in names if name not in known), None)
    if strange is not None or len(set(names)) < len(names):
        what = "a column twice" if strange is None else f"the column {strange!r}, which is no worker of workers.csv"
        raise InputError(f"{path.name} has {what}; drop it")


def _accuracies(path: Path, file: Any, folder: PartsFolder) -> Floats:
    workers = list(folder.workers)
    accuracy, start = np.empty((file.metadata.num_rows, len(workers))), 0
    for group in range(file.num_row_groups):
        table = _read(path, file, workers, group)
        some = accuracy[start : start + table.num_rows]
        for j, worker in enumerate(workers):
            some[:, j] = _numbers(path, table, worker, start)
        bad = ~((some >= 0) & (some <= 1))
        if bad.any():
            row, j = (int(place) for place in np.argwhere(bad)[0])
            value = some[row, j]
            what = "is empty" if np.isnan(value) else f"{value:g} is not in [0, 1]"
            raise _error(path, start + row, workers[j], f"{what}; give the share of right labels")
        start += table.num_rows
    return accuracy


def _numbers(path: Path, table: Any, name: str, start: int = 0) -> NDArray[Any]:
    pyarrow, _, _ = arrow()
    column = table.column(name)
    if not (pyarrow.types.is_floating(column.type) or pyarrow.types.is_integer(column.type)):
        raise _error(path, start, name, f"is of type {column.type}, not numbers; write it as float")
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _targets(path: Path, own: Any, folder: PartsFolder) -> dict[str, Floats]:
    default = folder.settings.get("epsilon")
    if "need" in own.column_names:
        return _needs(path, own, folder)
    if "epsilon" not in own.column_names:
        if default is None:
            raise InputError(
                f"{path.name} has no column epsilon or need and campaign.toml no epsilon; give one of them"
            )
        return {"epsilon": np.asarray(float(default))}
    epsilon = np.asarray(_numbers(path, own, "epsilon"), dtype=np.float64)
    epsilon = np.where(np.isnan(epsilon), np.nan if default is None else float(default), epsilon)
    wrong = ~((epsilon > 0) & (epsilon < 0.5))
    _refuse_at(path, "epsilon", wrong, "must lie strictly between 0 and 1/2 (0.05 is 5 %)")
    return {"epsilon": epsilon}


def _needs(path: Path, own: Any, folder: PartsFolder) -> dict[str, Floats]:
    """Needs that are given in units of evidence, as shares of what the campaign's target asks for."""
    if "epsilon" in own.column_names:
        raise InputError(f"{path.name} has both a column epsilon and a column need; give one of them")
    default = folder.settings.get("epsilon")
    need = np.asarray(_numbers(path, own, "need"), dtype=np.float64)
    empty = np.isnan(need)
    if default is None:
        _refuse_at(path, "need", empty, "is empty and campaign.toml has no epsilon; give one of them")
    _refuse_at(path, "need", ~(empty | ((need >= 0) & (need < np.inf))), "must be finite and at least 0")
    epsilon = np.asarray(ANY if default is None else float(default))
    whole = rule_named(folder.rule, 2).need(epsilon)
    return {"epsilon": epsilon, "demand": np.where(empty, 1.0, need / whole)}


def _types(path: Path, own: Any, folder: PartsFolder) -> Ints:
    if "type" not in own.column_names:
        return np.zeros(own.num_rows, np.int64)
    place = _places(own.column("type").combine_chunks(), folder.types)
    _refuse_at(path, "type", place < 0, "is no type of skills.csv; add it there or drop the row")
    return place


def _pairs(path: Path, own: Any, name: str, folder: PartsFolder) -> Ints:
    pyarrow, compute, _ = arrow()
    if name not in own.column_names:
        return np.zeros((0, 2), np.int64)
    lists = own.column(name).combine_chunks()
    if not (pyarrow.types.is_list(lists.type) or pyarrow.types.is_large_list(lists.type)):
        raise _error(path, 0, name, f"is of type {lists.type}, not lists of workers; write it as a list")
    owner = np.asarray(compute.list_parent_indices(lists).to_numpy(), dtype=np.int64)
    worker = _places(compute.list_flatten(lists), folder.workers)
    wrong = np.zeros(len(lists), bool)
    wrong[owner[worker < 0]] = True
    _refuse_at(path, name, wrong, "has a worker whom workers.csv does not have; add or drop them")
    order = np.lexsort((worker, owner))
    owner, worker = owner[order], worker[order]
    twice = np.zeros(len(lists), bool)
    twice[owner[1:][(np.diff(owner) == 0) & (np.diff(worker) == 0)]] = True
    _refuse_at(path, name, twice, "has a worker twice; name each once")
    return np.column_stack([owner, worker])


def _places(column: Any, known: tuple[str, ...]) -> Ints:
    pyarrow, compute, _ = arrow()
    found = compute.index_in(column.cast("string"), value_set=pyarrow.array(known, "string"))
    return np.asarray(compute.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _mask(column: Any) -> Bools:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=bool)


def _refuse_at(path: Path, column: str, wrong: Bools, message: str) -> None:
    if wrong.any():
        raise _error(path, int(np.flatnonzero(wrong)[0]), column, message)


def _error(path: Path, row: int, column: str, message: str) -> InputError:
    return InputError(f"{path.name}, row {row + 1}, column {column}: {message}")


def write_part(
    path: Path,
    instance: AssignmentInstance,
    ids: Any,
    stated: float | None = None,
    typed: bool = False,
    single: bool = False,
) -> None:
    """Write the tasks of an instance as a part, whole or not at all.

    path: the file; one that is there is replaced.
    instance: accuracies per task, unless ``typed``.
    ids array of text: the tasks' ids, Arrow's or a list.
    stated: the target that campaign.toml states; where some task has another one, targets are written. Needs are
    written where some task's is not what its target asks for.
    typed: whether tasks have types, whose accuracies are in skills.csv.
    single: whether accuracies are written as 32 bits.
    """
    pyarrow, _, _ = arrow()
    kind = pyarrow.float32() if single else pyarrow.float64()
    columns: dict[str, Any] = {"task": pyarrow.array(ids, "string") if isinstance(ids, list) else ids}
    if typed:
        columns["type"] = pyarrow.array([instance.type_id(int(one)) for one in instance.task_type], "string")
    else:
        for j in range(instance.n_workers):
            columns[instance.worker_id(j)] = pyarrow.array(instance.accuracy[instance.task_type, j], kind)
    if (instance.demand != 1).any():
        columns["need"] = pyarrow.array(linear_of(instance).need)
    elif stated is None or (instance.epsilon != stated).any():
        columns["epsilon"] = pyarrow.array(instance.epsilon)
    for name in ("forbidden", "fixed"):
        pairs: Ints = getattr(instance, name)
        if len(pairs):
            columns[name] = _lists(instance, pairs)
    write_arrow(path, pyarrow.table(columns))


def _lists(instance: AssignmentInstance, pairs: Ints) -> Any:
    pyarrow, _, _ = arrow()
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    ends = np.cumsum(np.bincount(pairs[:, 0], minlength=instance.n_tasks))
    starts = pyarrow.array(np.concatenate([[0], ends]), pyarrow.int32())
    values = pyarrow.array([instance.worker_id(int(j)) for j in pairs[:, 1]], "string")
    return pyarrow.ListArray.from_arrays(starts, values)


def write_arrow(path: Path, table: Any) -> None:
    """Write an Arrow table as Parquet under a temporary name, then give it its own."""
    _, _, parquet = arrow()
    words = [name for name in ("worker", "type") if name in table.column_names]
    with draft(path) as file:
        parquet.write_table(table, file, row_group_size=ROWS, use_dictionary=words)


FLOATS, COUNTS = "<f8", "<i4"


def text_of(array: NDArray[Any], kind: str) -> str:
    """An array as text; array array: of any shape; the shape is not kept; kind: FLOATS, or COUNTS below 2^31."""
    return b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def array_of(text: str, kind: str) -> NDArray[Any]:
    """The array of a text, as float64 or int64; text: by :func:`text_of`; kind: of which it was made; -> (entries,)."""
    return np.frombuffer(b64decode(text), dtype=kind).astype(np.float64 if kind == FLOATS else np.int64)
