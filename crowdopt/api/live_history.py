"""A recorded history: its decisions made anew, another policy held against it, its campaign exported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfile

import numpy as np

from crowdopt.api.binding import AnyPath, InstanceLike, TableLike
from crowdopt.api.live import GOLD_TASKS, LiveTables, is_database, store_of
from crowdopt.backends import solve_whole
from crowdopt.crowd.subset import of_workers
from crowdopt.documents import write_json
from crowdopt.errors import InputError
from crowdopt.io.campaign import read_with_labels, write_campaign
from crowdopt.io.cells import write_csv
from crowdopt.io.folders import new_folder
from crowdopt.io.table_kinds import CAMPAIGN_TABLES
from crowdopt.io.tables import find_table, read_table
from crowdopt.live.live_rows import LiveSettings
from crowdopt.live.live_state import LiveState
from crowdopt.live.stores import DECIDED, Event
from crowdopt.live.workers_course import WorkersCourse
from crowdopt.online.arrivals import Stream
from crowdopt.online.crowds import Recorded
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of

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
