"""The verb live: a campaign that runs, in Python; and a recorded history, checked and held against other policies."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.api.binding import AnyPath, BackendMissing, InstanceLike, TableLike
from crowdopt.api.verbs import keywords
from crowdopt.arrays import Ints, places
from crowdopt.backends import solve_whole
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.errors import InputError
from crowdopt.io.campaign import arrays_of, read_with_labels
from crowdopt.io.table_kinds import Extras, TableKind
from crowdopt.io.tables import has_column, read_table
from crowdopt.labelers.policies import named as asking_named
from crowdopt.labelers.policies import policies as asking_policies
from crowdopt.live.live_rows import GoldTasks, LiveSettings, gold_tasks
from crowdopt.live.live_state import LiveState
from crowdopt.live.running import Live
from crowdopt.live.stores import MEMORY, SQLiteStore, SQLLedgerbook
from crowdopt.live.tasks_course import TasksCourse
from crowdopt.live.workers_course import WorkersCourse
from crowdopt.online.policies import named as online_named
from crowdopt.online.policies import policies as online_policies

GOLD_TASKS = "gold_tasks.csv"
GOLD_TABLE = TableKind("task,label[,type]", "tasks whose answer is known", Extras.IGNORED)


def policies() -> dict[str, type[Any]]:
    """Every policy that a campaign can run with, by name: those of ``compare``, and those of ``learn``."""
    return online_policies() | asking_policies()


@dataclass(frozen=True, kw_only=True)
class LiveOptions:
    """Options of a live campaign: its policy and what it may count on.

    Parameters
    ----------
    policy : str
        A policy of ``compare``, where workers come and ask, or of ``learn``, where tasks arrive and workers are picked;
        with options, as in ``sequential:stop=each``.
    store : path
        File of the history, made where there is none; or ``postgresql://USER@HOST/DATABASE?schema=NAME``. Default: in
        memory, gone when the process ends.
    seed : int
        Of the policy's own chance.
    lease : float
        Seconds that a worker has for a task.
    gold : path or frame, optional
        Tasks whose answer is known, columns task, label and, for tasks that are not the campaign's, type. Default:
        ``gold_tasks.csv`` in the campaign's folder, if it is there.
    newcomers : int
        Workers beyond those of workers.csv who may come; each counts as a middling one until labels say more.
    money : float, optional
        The most that labels may cost, in place of the campaign's budget.
    horizon : int
        Tasks that will arrive, for a policy of ``learn``.
    crew : int
        Workers at work from which on one who never came waits, while these are expected to bring all that is missing:
        fewer at once take fewer labels, more take less time.
    clock : callable
        Seconds since 1970. Where it is given leases go by it too; otherwise they go by one that is never set.
    """

    policy: str = "sequential"
    store: AnyPath = MEMORY
    seed: int = 0
    lease: float = 600.0
    gold: TableLike | None = None
    newcomers: int = 0
    money: float | None = None
    horizon: int = 10_000
    crew: int = 3
    clock: Callable[[], float] = time.time


@keywords(LiveOptions)
def live(campaign: InstanceLike, asked: LiveOptions) -> Live:
    """Run a campaign: ``ask`` for a worker's next task, ``tell`` its label, while people work.

    The history is kept in the store; opened again, the campaign goes on where it stopped. Two processes may open one
    store.

    Raises
    ------
    InputError
        If the policy is unknown or asks gold tasks that are not there, the campaign has limits that no online policy
        knows, or the store holds the history of another campaign or of other settings.
    BackendMissing
        If the store is in PostgreSQL and psycopg is not installed.
    """
    tables = LiveTables.of(campaign, asked.gold)
    tables.check_gold(asked.policy)
    settings = LiveSettings(
        asked.policy, asked.seed, asked.lease, asked.newcomers, asked.money, asked.horizon, asked.crew, tables.digest
    )
    return Live(tables.state, store_of(asked.store), settings, asked.clock)


def store_of(place: AnyPath) -> SQLLedgerbook:
    """The store at a place: a file, ``postgresql://…``, or ``:memory:``.

    Raises BackendMissing if it is a database whose library is not installed.
    """
    if not is_database(place):
        return SQLiteStore(place)
    try:
        from crowdopt.live.stores import PostgreSQLStore
    except ModuleNotFoundError:
        raise BackendMissing("a store in PostgreSQL needs psycopg: pip install 'crowdopt[live]'") from None
    return PostgreSQLStore(str(place))


def is_database(place: AnyPath) -> bool:
    """Whether a store is in PostgreSQL, not in a file."""
    return str(place).startswith(("postgresql://", "postgres://"))


class LiveTables:
    """The tables of a live campaign: the instance, names of classes, gold, and classes of the labels in, if known."""

    def __init__(
        self, instance: AssignmentInstance, classes: tuple[str, ...], gold: GoldTasks, collected: Ints | None = None
    ) -> None:
        self.instance, self.classes, self.gold, self.collected = instance, classes, gold, collected
        digest = sha256(repr((classes, gold.ids, gold.kind.tolist(), gold.truth.tolist())).encode())
        for name, value in sorted(arrays_of(instance).items()):
            array = np.asarray(value)
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(array.tobytes())
        digest.update(b"" if collected is None else collected.tobytes())
        self.digest = digest.hexdigest()[:16]

    @staticmethod
    def of(campaign: InstanceLike, gold: TableLike | None = None) -> LiveTables:
        """The tables of an instance, or of a campaign's folder."""
        if isinstance(campaign, AssignmentInstance):
            names = tuple(campaign.class_names or map(str, range(campaign.classes)))
            return LiveTables(campaign, names, _gold(gold, campaign, names))
        read = read_with_labels(campaign)
        names = tuple(read.class_names())
        there = Path(campaign) / GOLD_TASKS
        source = there if gold is None and there.is_file() else gold
        return LiveTables(read.instance.as_read(), names, _gold(source, read.instance, names), read.indices())

    def check_gold(self, text: str) -> None:
        """Raises InputError if the policy asks gold tasks first and there are none of some task's type."""
        name = text.strip().partition(":")[0]
        policy = online_named(text) if name in online_policies() else None
        if policy is None or not policy.without_gold:
            return
        kinds, asks = self.instance.task_type, f"policy {name} asks {policy.gold} gold tasks of each worker"
        wanted = kinds[~np.isin(self.instance.task_ids, self.gold.ids)]
        lacks = np.setdiff1d(wanted, self.gold.kind).tolist()
        if lacks and self.gold.ids:
            asks += f", and there are none of type {self.instance.type_id(lacks[0])!r}"
        if lacks:
            raise InputError(f"{asks}: give {'more' if self.gold.ids else GOLD_TASKS}, or {policy.without_gold}")

    def state(self, settings: LiveSettings) -> LiveState:
        """The state before anything has happened."""
        name = settings.policy.strip().partition(":")[0]
        if name in asking_policies():
            course: Any = TasksCourse(self.instance, asking_named(settings.policy), settings)
        elif name in online_policies():
            policy = online_named(settings.policy)
            course = WorkersCourse(self.instance, policy, settings, solve_whole, self.gold, self.collected)
        else:
            raise InputError(f"unknown policy {name!r}; there are {', '.join(policies())}")
        return LiveState(settings, course, self.classes)


def _gold(source: TableLike | None, instance: AssignmentInstance, classes: tuple[str, ...]) -> GoldTasks:
    if source is None:
        return gold_tasks({})
    typed = has_column(source, "type")
    table = read_table(source, GOLD_TABLE)
    kinds = {instance.task_id(i): int(instance.task_type[i]) for i in range(instance.n_tasks)}
    types = places(map(str, instance.types or ()))
    known: dict[str, tuple[int, int]] = {}
    for row, (task, label) in enumerate(zip(table.ids("task"), table.ids("label"), strict=True)):
        kind = kinds.get(task, types.get(table["type"][row]) if typed else 0 if len(types) < 2 else None)
        if kind is None:
            raise table.error(row, "task", f"{task!r} is no task of the campaign; say its type in a column type")
        if label not in classes:
            raise table.error(row, "label", f"{label!r} is no label of the campaign; they are {', '.join(classes)}")
        known[task] = (kind, classes.index(label))
    return gold_tasks(known)
