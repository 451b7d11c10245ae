"""The verb live: a campaign that runs, in Python; and a recorded history, checked and held against other policies.

A recorded history: its decisions made anew, another policy held against it, its campaign exported.

A campaign that runs as a service (the extra ``live``), and tokens for those who may call it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np

from crowdopt.arrays import Ints, places
from crowdopt.crowd.alike import of_workers
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.documents import write_json
from crowdopt.errors import InputError
from crowdopt.io.campaign import arrays_of, read_with_labels, write_campaign
from crowdopt.io.cells import write_csv
from crowdopt.io.folders import CAMPAIGN, new_folder
from crowdopt.io.schema import CAMPAIGN_TABLES, Extras, TableKind
from crowdopt.io.settings import read_settings
from crowdopt.io.tables import find_table, has_column, read_table
from crowdopt.labelers.policies import named as asking_named
from crowdopt.labelers.policies import policies as asking_policies
from crowdopt.online.arrivals import Stream
from crowdopt.online.crowds import Recorded
from crowdopt.online.policies import named
from crowdopt.online.policies import named as online_named
from crowdopt.online.policies import policies as online_policies
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of
from crowdopt.serving.live_rows import GoldTasks, LiveSettings, gold_tasks
from crowdopt.serving.live_state import LiveState
from crowdopt.serving.running import Live, check_name
from crowdopt.serving.stores import DECIDED, MEMORY, Event, SQLiteStore, SQLLedgerbook
from crowdopt.serving.tasks_course import TasksCourse
from crowdopt.serving.tokens import MANAGER, WORKER, new_token
from crowdopt.serving.workers_course import WorkersCourse
from crowdopt.solvers import solve_whole
from crowdopt.verbs.binding import AnyPath, BackendMissing, InstanceLike, TableLike, keywords

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
        from crowdopt.serving.postgresql import PostgreSQLStore
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


EXPORTED, LOOKED = "history.json", "looks.csv"


@dataclass(frozen=True)
class HistoryCheck:
    """A history whose decisions were all made anew, and are those it records.

    Parameters
    ----------
    policy : str
    events, decisions, labels : int
    paid : float
    """

    policy: str
    events: int
    decisions: int
    labels: int
    paid: float


@dataclass(frozen=True)
class HeldAgainst:
    """Another policy on the workers of a history, in their order, with the labels it records.

    Parameters
    ----------
    policy : str
    labels : int
        Labels it asked for and the history has, gold included.
    missing : int
        Labels it asked for that the history does not have.
    same_answers, answers : int
        Tasks that both answer alike, and tasks that both answer.
    """

    policy: str
    labels: int
    missing: int
    same_answers: int
    answers: int


def check_history(campaign: InstanceLike, store: AnyPath, gold: TableLike | None = None) -> HistoryCheck:
    """Make every decision of a history anew; InputError at the first that is another one."""
    state, events = _followed(campaign, store, gold)
    decisions = sum(event.kind == DECIDED for event in events)
    return HistoryCheck(state.settings.policy, len(events), decisions, state.told, state.paid)


def held_against(campaign: InstanceLike, store: AnyPath, policy: str, gold: TableLike | None = None) -> HeldAgainst:
    """Run another online policy on the workers and labels of a history; InputError if that is one of arriving tasks."""
    state, _ = _followed(campaign, store, gold)
    if not isinstance(state.course, WorkersCourse):
        raise InputError("a policy can be compared with a history of workers who arrive; in this history tasks arrive")
    stream = _recorded(state)
    run = replay(named(policy), stream, state.settings.seed, solve_whole)
    theirs, ours = answers_of(run), answers_of(state.course.run())
    both = (theirs >= 0) & (ours >= 0) & (np.bincount(run.task, minlength=ours.size) > 0)
    same = int(np.count_nonzero(both & (theirs == ours)))
    return HeldAgainst(policy, run.total_labels, run.refused, same, int(both.sum()))


def export_history(
    campaign: InstanceLike, store: AnyPath, output: AnyPath, *, gold: TableLike | None = None, force: bool = False
) -> HistoryCheck:
    """Write what a history gives: labels.csv, looks.csv, and the campaign with these labels in (``collected.csv``).

    What no plan uses goes along: texts and pictures of tasks, gold tasks.

    ``aggregate`` takes the labels and the campaign, and what an expert told as ``truth``; ``solve`` the campaign. Gold
    is left out: its answers were known.
    """
    state, events = _followed(campaign, store, gold)
    if not isinstance(state.course, WorkersCourse):
        raise InputError("a history of tasks that arrive belongs to no campaign; take its labels from labels()")
    rows = [row for row in state.label_rows() if not row.gold]
    with new_folder(Path(output), EXPORTED, force) as folder:
        table = [[row.task for row in rows], [row.worker for row in rows], [row.label for row in rows]]
        write_csv(folder / "labels.csv", ["task", "worker", "label"], table)
        seen = [row for row in state.looks.rows(state.classes) if row.label]
        write_csv(folder / LOOKED, ["task", "label"], [[row.task for row in seen], [row.label for row in seen]])
        _write_continuation(campaign, state, folder / "campaign")
        facts = {"policy": state.settings.policy, "events": len(events), "labels": len(rows)}
        write_json(folder / EXPORTED, facts)
    decisions = sum(event.kind == DECIDED for event in events)
    return HistoryCheck(state.settings.policy, len(events), decisions, len(rows), state.paid)


def _write_continuation(campaign: InstanceLike, state: LiveState, folder: Path) -> None:
    assert isinstance(state.course, WorkersCourse)
    course, instance = state.course, state.course.whole
    before = [] if not isinstance(campaign, str | Path) else read_with_labels(campaign).collected_labels
    rows = [row for row in state.label_rows() if not row.gold]
    pairs = [(course.task_of[row.task], course.seat_of[row.worker].place) for row in rows]
    new = np.array(pairs, np.int64).reshape(-1, 2)
    load = np.bincount(new[:, 1], minlength=instance.n_workers)
    names = {seat.place: seat.worker for seat in course.seats}
    ids = [names.get(j, instance.worker_id(j)) for j in range(instance.n_workers)]
    there = np.array([j for j, name in enumerate(ids) if not name.startswith("\0")])
    first = ~np.isin(instance.pair_keys(instance.collected), instance.pair_keys(new))  # but for those brought anew
    collected = np.concatenate([instance.collected[first], new])
    before = [label for label, kept in zip(before, first.tolist(), strict=False) if kept]
    full = replace(instance, collected=collected, capacity=np.maximum(0, instance.capacity - load), workers=ids)
    left = full if there.size == full.n_workers else of_workers(full, there, [ids[j] for j in there])
    write_campaign(left, folder, collected_labels=[*before, *(row.label for row in rows)])
    if isinstance(campaign, str | Path) and Path(campaign).is_dir():
        _carry(Path(campaign), folder)


def _carry(campaign: Path, folder: Path) -> None:
    there, written = find_table(campaign, "tasks"), read_table(folder / "tasks.csv", CAMPAIGN_TABLES["tasks"])
    if there is not None and (shown := read_table(there, CAMPAIGN_TABLES["tasks"])).extras:
        row = {task: k for k, task in enumerate(shown.ids("task"))}
        more = {name: [shown.extras[name][row[task]] for task in written.ids("task")] for name in shown.extras}
        kept = {name: written[name] for name in written.columns}
        write_csv(folder / "tasks.csv", [*kept, *more], [*kept.values(), *more.values()])
    if (campaign / GOLD_TASKS).is_file():
        copyfile(campaign / GOLD_TASKS, folder / GOLD_TASKS)


def _followed(campaign: InstanceLike, store: AnyPath, gold: TableLike | None) -> tuple[LiveState, list[Event]]:
    """The state at the end of a history, every decision made anew, and the history."""
    if not is_database(store) and not Path(store).is_file():
        raise InputError(f"there is no store {store}; begin a campaign with crowdopt live")
    tables = LiveTables.of(campaign, gold)
    place = store_of(store)
    with place.hold() as book:
        events = book.after(0)
    place.close()
    if not events:
        raise InputError(f"the store {store} has no history yet")
    settings = LiveSettings.of(events[0].value)
    if settings.campaign != tables.digest:
        changed = f"the store {store} holds the history of another campaign, or its tables have changed since"
        raise InputError(f"{changed}; give the tables that it was served with")
    state = tables.state(settings)
    for event in events:
        state.apply(event)
    return state, events


def _recorded(state: LiveState) -> Stream:
    """The history as a stream: its workers in the order in which they came, and a crowd that says what they said."""
    course = state.course
    assert isinstance(course, WorkersCourse)
    run = course.run()
    instance, rows = run.stream.instance, state.label_rows()
    number = {seat.worker: seat.number for seat in course.seats if seat.number >= 0}
    kind_of = dict(zip(course.gold.ids, course.gold.kind.tolist(), strict=True))
    truth = dict(zip(course.gold.ids, course.gold.truth.tolist(), strict=True))
    tallies = np.zeros((2, instance.n_types, instance.n_workers), np.int64)
    for row in rows:
        if row.gold and row.worker in number:
            right = state.class_of(row.label) == truth[row.task]
            tallies[:, kind_of[row.task], number[row.worker]] += (int(right), 1)
    key = run.worker * instance.n_tasks + run.task
    order = np.argsort(key, kind="stable")
    none = np.zeros((instance.n_types, 0), np.int64)
    crowd = Recorded(
        instance.n_tasks, key[order], run.label[order], tallies[0], tallies[1], none, none, (state.settings.seed,)
    )
    return replace(run.stream, crowd=crowd)


JOIN = "CROWDOPT_JOIN_SECRET"  # what a link has that lets participants of Prolific in; kept out of command lines
SHORTEST = 16  # letters of it
MISSING = "the service needs FastAPI, uvicorn and Jinja: pip install 'crowdopt[live]'"


def token(store: AnyPath, worker: str | None = None, role: str = MANAGER) -> str:
    """A token for a worker, or for the manager or the expert; one that they had before ends.

    Raises InputError if the worker's name is empty or blank.
    """
    if worker is not None:
        check_name(worker)
    place, owner = store_of(store), role if worker is None else WORKER + worker
    try:
        return new_token(place, owner)
    finally:
        place.close()


def live_application(campaign: AnyPath, running: Live, join: str = "") -> Any:
    """The ASGI application of a campaign that runs; join: the secret of a link that lets people in, empty: none.

    Raises BackendMissing without the extra.
    """
    try:
        from crowdopt.serving.service.application import Shown, application
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("crowdopt"):
            raise
        raise BackendMissing(MISSING) from None
    return application(running, Shown(*_shown(Path(campaign))), join)


def serve(campaign: AnyPath, at: tuple[str, int], say: Callable[[str], None], **settings: Any) -> None:
    """Serve a campaign until the process is told to end; at: host and port; settings: those of ``live``.

    say: takes sentences.
    """
    join = os.environ.get(JOIN, "")
    if join and len(join) < SHORTEST:
        raise InputError(f"{JOIN}: a secret for links that let people in has {SHORTEST} letters at least")
    running = live(campaign, **settings)
    app = live_application(campaign, running, join)
    from crowdopt.serving.service.server import serve as run

    run(app, at, say, running)


def _shown(campaign: Path) -> tuple[str, dict[str, dict[str, str]]]:
    """The title, and of each task the columns that no plan uses: text, pictures."""
    title, place = campaign.resolve().name, None
    if campaign.is_dir():
        title, place = read_settings(campaign / CAMPAIGN).get("title", title), find_table(campaign, "tasks")
    if place is None:
        return title, {}
    table = read_table(place, CAMPAIGN_TABLES["tasks"])
    names = list(table.extras)
    return title, {
        task: {name: table.extras[name][row] for name in names} for row, task in enumerate(table.ids("task"))
    }
