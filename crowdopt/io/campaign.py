"""A campaign folder: plain tables in, one validated instance out, and back."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.answers.planned import posteriors
from crowdopt.crowd.instance import UNLIMITED, AssignmentInstance
from crowdopt.crowd.skills import ESTIMATORS
from crowdopt.errors import InputError
from crowdopt.io import archive
from crowdopt.io.folder import CAMPAIGN, new_folder
from crowdopt.io.tables import Table, find_table, is_folder, read_table, write_csv

SETTINGS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "epsilon": ((int, float), "a number between 0 and 0.5"),
    "rule": (str, "the name of a rule in quotes"),
    "classes": (int, "a whole number of at least 2"),
    "prior": (dict, "a table of the classes' probabilities such as { yes = 0.7, no = 0.3 }"),
    "collected": (str, 'either "evidence" or "observed" in quotes'),
    "budget": ((int, float), "a number of at least 0"),
    "title": (str, "text in quotes"),
    "skills": (str, "one of " + ", ".join(ESTIMATORS)),
    "gold_source": (str, "text in quotes"),
}


@dataclass
class _Ids:
    """The ids of a campaign and their places."""

    tasks: list[str]
    workers: list[str]
    types: list[str]
    task: dict[str, int] = field(init=False)
    worker: dict[str, int] = field(init=False)
    type: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.task, self.worker, self.type = (
            {name: k for k, name in enumerate(names)} for names in (self.tasks, self.workers, self.types)
        )

    def cells(self, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Type and worker of each row of a table with columns worker[, type]; type -1 stands for every type."""
        workers = table.places("worker", self.worker, "add it to the workers table or drop the row")
        if "type" not in table:
            return np.full(table.rows, -1), workers
        return table.places("type", self.type, "no task is of that type"), workers

    def pairs(self, table: Table) -> NDArray[np.int64]:
        """Task and worker of each row, each pair once."""
        tasks = table.places("task", self.task, "add it to the tasks table or drop the row")
        workers = table.places("worker", self.worker, "add it to the workers table or drop the row")
        _refuse_repeats(table, tasks * len(self.workers) + workers, "worker", "this pair")
        return np.column_stack([tasks, workers])


def read_campaign(folder: str | Path) -> AssignmentInstance:
    """Read a campaign folder, or an ``.npz`` archive of a large one, into an instance.

    Where campaign.toml says ``collected = "observed"``, what the labels in collected.csv say becomes each task's prior.

    Raises
    ------
    InputError
        At the first thing that cannot be used: file, line, column and remedy are in the sentence.
    """
    campaign = read_with_labels(folder)
    instance = campaign.instance
    if not campaign.observed:
        return instance.as_read()
    return instance.given(posteriors(instance, instance.collected, campaign.indices())).as_read()


@dataclass(frozen=True, eq=False)
class Campaign:
    """A campaign as its tables have it: the instance, and what the labels already in say."""

    instance: AssignmentInstance
    collected_labels: list[str] = field(default_factory=list)
    observed: bool = False

    def indices(self, more: Sequence[str] = ()) -> NDArray[np.int64]:
        """Classes of the collected labels, and of more, by the campaign's class names, else by those that occur.

        Raises
        ------
        InputError
            If a label is no class, or there are more classes than the campaign has.
        """
        every = [*self.collected_labels, *more]
        names = self.class_names(more)
        place = {name: k for k, name in enumerate(names)}
        strange = next((name for name in every if name not in place), None)
        if strange is not None:
            raise InputError(f"the label {strange!r} is no class of this campaign; they are {', '.join(names)}")
        return np.array([place[name] for name in every], dtype=np.int64)

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
        return Campaign(archive.read_archive(path))
    if not is_folder(path):
        raise InputError(f"there is no campaign folder {path}; `crowdopt init {path}` makes one to start from")
    settings = _settings(path / "campaign.toml")
    tasks, workers = _needed(path, "tasks"), _needed(path, "workers")
    names = tasks.unique_ids("task"), workers.unique_ids("worker")
    _refuse_empty(tasks, workers)
    kinds = tasks.ids("type") if "type" in tasks else ["all"] * tasks.rows
    ids = _Ids(*names, list(dict.fromkeys(kinds)))
    accuracy, source = _accuracy(path, ids, settings)
    collected = _optional(path, "collected")
    prior = settings.get("prior")
    instance = AssignmentInstance(
        accuracy=accuracy,
        task_type=np.array([ids.type[kind] for kind in kinds]),
        epsilon=_epsilon(tasks, settings),
        cost=_cost(path, workers, ids),
        **_limits(path, tasks, workers, ids),
        rule=settings.get("rule", "bhattacharyya"),
        classes=settings.get("classes", 2 if prior is None else len(prior)),
        prior=None if prior is None else np.array([*prior.values()], dtype=np.float64),
        class_names=None if prior is None else list(prior),
        budget=settings.get("budget"),
        tasks=ids.tasks,
        workers=ids.workers,
        types=ids.types,
        title=settings.get("title", ""),
        skills_source=source,
    )
    labels = [] if collected is None else collected.ids("label")
    return Campaign(instance, labels, settings.get("collected") == "observed")


def _settings(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(f"there is no {path.name} in {path.parent}; it needs at least a line such as epsilon = 0.05")
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} is not TOML: {error}") from None
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}") from None
    for key, value in settings.items():
        if key not in SETTINGS:
            near = get_close_matches(key, SETTINGS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(SETTINGS)}"
            raise InputError(f"{path.name}: unknown key {key!r}; {hint}")
        kind, wanted = SETTINGS[key]
        wrong = key == "prior" and not _is_prior(value, settings.get("classes"))
        if isinstance(value, bool) or not isinstance(value, kind) or wrong:
            raise InputError(f"{path.name}: {key} must be {wanted}, not {value!r}")
    if settings.get("collected", "evidence") not in ("evidence", "observed"):
        raise InputError(f"{path.name}: collected must be {SETTINGS['collected'][1]}, not {settings['collected']!r}")
    if settings.get("skills", "plug-in") not in ESTIMATORS:
        raise InputError(f"{path.name}: skills must be {SETTINGS['skills'][1]}, not {settings['skills']!r}")
    return settings


def _is_prior(value: Any, classes: Any) -> bool:
    """Whether this names each class with a positive probability, all of them adding up to 1."""
    if not isinstance(value, dict) or len(value) < 2 or len(value) != (classes or len(value)):
        return False
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) and one > 0 for one in value.values())
    return numbers and abs(sum(value.values()) - 1) <= 1e-9


COLUMNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "tasks": (("task",), ("type", "epsilon", "min_labels", "max_labels")),
    "workers": (("worker", "capacity"), ("price", "min_tasks")),
    "skills": (("worker", "accuracy"), ("type",)),
    "gold": (("worker", "correct", "asked"), ("type",)),
    "prices": (("worker", "price"), ("type",)),
    "forbidden": (("task", "worker"), ()),
    "fixed": (("task", "worker"), ()),
    "collected": (("task", "worker", "label"), ()),
}


def _optional(folder: Path, name: str) -> Table | None:
    path = find_table(folder, name)
    return None if path is None else read_table(path, *COLUMNS[name])


def _needed(folder: Path, name: str) -> Table:
    table = _optional(folder, name)
    if table is None:
        required, optional = COLUMNS[name]
        shape = ",".join(required) + "".join(f"[,{column}]" for column in optional)
        raise InputError(f"there is no {name}.csv in {folder}; it is a table with the header {shape}")
    return table


def _refuse_empty(*tables: Table) -> None:
    for table in tables:
        if table.rows == 0:
            raise InputError(f"{table.path.name} has a header but no rows; a campaign needs tasks and workers")


def _refuse_repeats(table: Table, keys: NDArray[np.int64], column: str, what: str) -> None:
    unique, first = np.unique(keys, return_index=True)
    if unique.size < keys.size:
        row = int(np.setdiff1d(np.arange(keys.size), first)[0])
        raise table.error(row, column, f"{what} was there before; give it one row")


def _accuracy(folder: Path, ids: _Ids, settings: dict[str, Any]) -> tuple[NDArray[np.float64], str]:
    """Accuracies (types, workers) and the sentence that says where they come from."""
    skills, gold = _optional(folder, "skills"), _optional(folder, "gold")
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
    return _filled(skills, values, ids), "given"


def _filled(table: Table, values: NDArray[np.float64], ids: _Ids) -> NDArray[np.float64]:
    """A (types, workers) table from rows worker[, type]; every cell must be given."""
    kinds, workers = ids.cells(table)
    _refuse_repeats(table, kinds * len(ids.workers) + workers, "worker", "this worker and type")
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


def _from_gold(gold: Table, ids: _Ids, method: str) -> NDArray[np.float64]:
    """Estimate accuracies; what an estimator leaves open (NaN) becomes its type's mean of what it knows."""
    kinds, workers = ids.cells(gold)
    _refuse_repeats(gold, kinds * len(ids.workers) + workers, "worker", "this worker and type")
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


def _means_for_missing(estimate: NDArray[np.float64]) -> NDArray[np.float64]:
    known = ~np.isnan(estimate)
    overall = estimate[known].mean() if known.any() else 0.5
    means = np.array(
        [row[there].mean() if there.any() else overall for row, there in zip(estimate, known, strict=True)]
    )
    return np.where(known, estimate, means[:, None])


def _epsilon(tasks: Table, settings: dict[str, Any]) -> NDArray[np.float64]:
    default = settings.get("epsilon")
    if default is None and ("epsilon" not in tasks or "" in tasks["epsilon"]):
        raise InputError("campaign.toml has no epsilon; add a line such as epsilon = 0.05")
    if default is not None and not 0 < default < 0.5:
        raise InputError(f"campaign.toml: epsilon must lie strictly between 0 and 1/2 (0.05 is 5 %), not {default}")
    if "epsilon" not in tasks:
        return np.full(tasks.rows, default, dtype=np.float64)
    values = tasks.numbers("epsilon", empty=default)
    outside = np.flatnonzero(~((values > 0) & (values < 0.5)))
    if outside.size:
        row = int(outside[0])
        raise tasks.error(row, "epsilon", f"{tasks['epsilon'][row]} is not strictly between 0 and 1/2")
    return values


def _cost(folder: Path, workers: Table, ids: _Ids) -> NDArray[np.float64]:
    """Prices (types, workers): prices.csv, else the workers' price column, else 1."""
    prices = _optional(folder, "prices")
    if prices is None and "price" not in workers:
        return np.ones((len(ids.types), len(ids.workers)))
    if prices is not None and "price" in workers:
        raise InputError("workers.csv has a column price and there is a prices.csv; keep one of them")
    table = workers if prices is None else prices
    values = table.numbers("price")
    if (values < 0).any():
        row = int(np.flatnonzero(values < 0)[0])
        raise table.error(row, "price", f"{table['price'][row]} is negative; a label costs at least 0")
    if prices is None:
        return np.broadcast_to(values, (len(ids.types), len(ids.workers)))
    return _filled(prices, values, ids)


def _limits(folder: Path, tasks: Table, workers: Table, ids: _Ids) -> dict[str, Any]:
    limits: dict[str, Any] = {"capacity": workers.counts("capacity")}
    if "min_tasks" in workers:
        limits["min_load"] = workers.counts("min_tasks", empty=0)
    if "min_labels" in tasks:
        limits["min_labels"] = tasks.counts("min_labels", empty=0)
    if "max_labels" in tasks:
        limits["max_labels"] = tasks.counts("max_labels", empty=UNLIMITED)
    for name in ("forbidden", "fixed", "collected"):
        table = _optional(folder, name)
        if table is not None:
            limits[name] = ids.pairs(table)
    return limits


def write_campaign(
    instance: AssignmentInstance,
    folder: str | Path,
    *,
    force: bool = False,
    gold: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    gold_source: str | None = None,
    collected_labels: Sequence[str] = (),
) -> None:
    """Write an instance as a campaign folder, or as an archive where the name ends in ``.npz``.

    Parameters
    ----------
    gold : (correct, asked), each (types, workers) int, optional
        Written as gold.csv in place of the accuracies.
    collected_labels : sequence of str
        The labels of ``instance.collected``, needed where there are any.

    Raises
    ------
    InputError
        If the target exists and is not forced, cannot be written, or the instance is no campaign (its demand is not 1).
    """
    path = Path(folder)
    if path.suffix == ".npz":
        archive.write_archive(instance, path, force)
        return
    if (instance.demand != 1).any():
        raise InputError("a campaign covers its whole need; an instance with another demand cannot be written as one")
    if instance.prior.ndim > 1:
        raise InputError("an instance with a prior per task cannot be written as a campaign; give one prior for all")
    if len(collected_labels) != len(instance.collected):
        raise InputError("the labels already in must be given, one for each collected pair")
    with new_folder(path, CAMPAIGN, force) as new:
        (new / "campaign.toml").write_text(_toml(instance, gold_source), encoding="utf-8", newline="\n")
        _write_tasks(instance, new)
        _write_workers(instance, new)
        _write_skills(instance, new, gold)
        for name in ("forbidden", "fixed", "collected"):
            pairs = getattr(instance, name)
            labels = {"label": collected_labels} if name == "collected" else {}
            if len(pairs):
                columns = [
                    [instance.task_id(i) for i in pairs[:, 0]],
                    [instance.worker_id(j) for j in pairs[:, 1]],
                ]
                write_csv(new / f"{name}.csv", ["task", "worker", *labels], [*columns, *labels.values()])


def _toml(instance: AssignmentInstance, gold_source: str | None) -> str:
    lines = [f"title = {_quoted(instance.title)}"] if instance.title else []
    if (instance.epsilon == instance.epsilon[0]).all():
        lines.append(f"epsilon = {float(instance.epsilon[0])!r}")
    lines.append(f"rule = {_quoted(instance.rule)}")
    if instance.classes != 2:
        lines.append(f"classes = {instance.classes}")
    if instance.has_prior or instance.class_names is not None:
        names = instance.class_names or [str(k) for k in range(instance.classes)]
        parts = [f"{_quoted(name)} = {chance!r}" for name, chance in zip(names, instance.prior.tolist(), strict=True)]
        lines.append(f"prior = {{ {', '.join(parts)} }}")
    if instance.budget is not None:
        lines.append(f"budget = {float(instance.budget)!r}")
    if gold_source is not None:
        lines.append(f"gold_source = {_quoted(gold_source)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


def _write_tasks(instance: AssignmentInstance, folder: Path) -> None:
    columns: dict[str, Any] = {"task": [instance.task_id(i) for i in range(instance.n_tasks)]}
    if instance.n_types > 1 or instance.types is not None:
        columns["type"] = [instance.type_id(int(kind)) for kind in instance.task_type]
    if (instance.epsilon != instance.epsilon[0]).any():
        columns["epsilon"] = instance.epsilon
    if (instance.min_labels > 0).any():
        columns["min_labels"] = instance.min_labels
    if (instance.max_labels < UNLIMITED).any():
        columns["max_labels"] = ["" if most == UNLIMITED else most for most in instance.max_labels.tolist()]
    write_csv(folder / "tasks.csv", list(columns), columns.values())


def _write_workers(instance: AssignmentInstance, folder: Path) -> None:
    names = [instance.worker_id(j) for j in range(instance.n_workers)]
    columns: dict[str, Any] = {"worker": names, "capacity": instance.capacity}
    same = bool((instance.cost == instance.cost[0]).all())
    if same and (instance.cost != 1).any():
        columns["price"] = instance.cost[0]
    if (instance.min_load > 0).any():
        columns["min_tasks"] = instance.min_load
    write_csv(folder / "workers.csv", list(columns), columns.values())
    if not same:
        write_csv(folder / "prices.csv", ["worker", "type", "price"], _by_cell(instance, instance.cost))


def _write_skills(instance: AssignmentInstance, folder: Path, gold: tuple[Any, Any] | None) -> None:
    typed = instance.n_types > 1 or instance.types is not None
    keep = slice(None) if typed else slice(0, None, 2)
    header = ["worker", "type"] if typed else ["worker"]
    if gold is None:
        columns = _by_cell(instance, instance.accuracy)
        write_csv(folder / "skills.csv", [*header, "accuracy"], [*columns[:2][keep], *columns[2:]])
    else:
        columns = _by_cell(instance, *gold)
        write_csv(folder / "gold.csv", [*header, "correct", "asked"], [*columns[:2][keep], *columns[2:]])


def _by_cell(instance: AssignmentInstance, *tables: NDArray[Any]) -> list[Any]:
    """Columns worker, type and one per table, worker by worker."""
    kinds = np.unique(instance.task_type).tolist()  # a type without tasks would be unknown to the reader
    workers = range(instance.n_workers)
    names = [instance.worker_id(j) for j in workers for _ in kinds]
    types = [instance.type_id(kind) for _ in workers for kind in kinds]
    return [names, types, *(table[kinds].T.reshape(-1) for table in tables)]
