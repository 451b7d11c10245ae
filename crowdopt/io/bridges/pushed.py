"""A round as a tool needs it: who is shown what, what a task looks like, what can be chosen.

What a bridge to a labelling tool can do: read the tool's files, write its files, speak with its server.

A round as files in a folder: only files that differ are written, each whole or not at all, and none is removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from crowdopt.arrays import places
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import ANSWER, ASK
from crowdopt.errors import InputError, tell
from crowdopt.files import write_text
from crowdopt.io.answers import read_answered
from crowdopt.io.bridges.annotations import Annotations
from crowdopt.io.bridges.inspect_panel import state_of
from crowdopt.io.campaign import Campaign, read_with_labels
from crowdopt.io.cells import TableLike
from crowdopt.io.folders import check_target
from crowdopt.io.foreign_json import parsed, read_text
from crowdopt.io.gold import optional_table
from crowdopt.io.plan import read_claims, read_pairs, read_weights
from crowdopt.io.policy import StoredPolicy, is_policy, policy_rows, read_policy
from crowdopt.io.schema import CONTENT
from crowdopt.io.tables import Table, is_folder, read_table
from crowdopt.notebooks import InNotebooks

RESERVED = ("task", "queue", "workers", "id")  # columns that the tools' own keys would be written over


@dataclass(frozen=True, eq=False)
class PushedRound:
    """A plan with everything that a labelling tool shows of it."""

    title: str  # of the campaign
    # all there are
    classes: tuple[str, ...]
    workers: tuple[str, ...]
    queues: dict[str, tuple[str, ...]]  # task -> the workers who are to label it, in the campaign's order of both
    content: dict[str, dict[str, str]]  # task -> column -> what is shown; the id alone where nothing is known
    answers: dict[str, tuple[str, float]]  # task -> the answer so far, and its chance to be right
    weights: dict[str, dict[str, float]]  # task -> worker -> weight of the vote, for the pairs of the plan
    # of an adaptive plan: which votes lead to which (crowdopt.io.bridges.pushed)
    policy: dict[str, Any] | None = None
    # whether the content is from a table; else it is the task's id, which replaces nothing that a tool has already
    described: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of what is shown of a task."""
        return tuple(next(iter(self.content.values())))

    @property
    def busy(self) -> tuple[str, ...]:
        """Workers with at least one task, in the campaign's order."""
        named = {worker for workers in self.queues.values() for worker in workers}
        return tuple(worker for worker in self.workers if worker in named)

    @property
    def pairs(self) -> int:
        """Labels to come."""
        return sum(map(len, self.queues.values()))


def read_round(
    campaign: str | Path,
    plan: str | Path,
    content: TableLike | None = None,
    answers: str | Path | None = None,
    classes: tuple[str, ...] = (),
) -> PushedRound:
    """Read a round from a campaign's and a plan's folder.

    content: table with a column ``task`` and others, which are shown; answers: what ``aggregate`` wrote of the labels
    so far; classes: what can be chosen, where the campaign does not name it.
    """
    known = read_with_labels(campaign)
    instance = known.instance
    pairs, table = read_pairs(plan, instance)
    if "value" in table:
        raise InputError(f"{plan} is a plan of shares; solve with --program ip for labels that can be handed out")
    if instance.confusion is not None:
        raise InputError(
            "no labelling tool weighs votes by class, as gold by class asks; hand out the plan's queues instead"
        )
    weight = read_weights(plan, instance)[instance.cells(pairs)]
    order = np.lexsort((pairs[:, 1], pairs[:, 0])).tolist()
    weights: dict[str, dict[str, float]] = {}
    for task, worker, value in ((*pairs[k].tolist(), float(weight[k])) for k in order):
        weights.setdefault(instance.task_id(task), {})[instance.worker_id(worker)] = value
    queues = {task: tuple(workers) for task, workers in weights.items()}
    if not queues:
        raise InputError(f"{plan} plans no labels; there is nothing to hand out")
    names = _classes(known.class_names(), classes, instance.class_names is None and not known.collected_labels)
    return PushedRound(
        title=instance.title,
        classes=names,
        workers=tuple(instance.worker_ids),
        queues=queues,
        content=(shown := _content(content, campaign, list(queues))),
        answers={} if answers is None else _answers(answers, names),
        weights=weights,
        policy=read_pushed_policy(plan, known, names),
        described=any(cells != {"text": task} for task, cells in shown.items()),
    )


def _classes(known: tuple[str, ...], given: tuple[str, ...], unnamed: bool) -> tuple[str, ...]:
    if not given:
        return known
    if len(set(given)) < len(given) or "" in given:
        raise InputError("--classes names a class twice, or one without a name; give each once, as in cat,dog")
    if len(given) != len(known):
        raise InputError(f"--classes names {len(given)} classes, the campaign has {len(known)}; name each of them")
    strange = [name for name in known if name not in given and not name.startswith("(other ")]
    if strange and not unnamed:
        raise InputError(f"--classes leaves out {strange[0]!r}, which is a class of the campaign")
    return given


def _content(given: TableLike | None, campaign: str | Path, tasks: list[str]) -> dict[str, dict[str, str]]:
    known = None if given is not None or not is_folder(Path(campaign)) else optional_table(Path(campaign), "tasks")
    table = known if given is None else read_table(given, CONTENT)
    shown = {} if table is None else _shown(table, asked=given is not None)
    if table is None or not shown:
        return {task: {"text": task} for task in tasks}
    place = places(table.unique_ids("task"))
    missing = [task for task in tasks if task not in place]
    if missing:
        raise InputError(f"{table.path.name} has no row for task {missing[0]!r} ({len(missing)} missing); add them")
    return {task: {name: column[place[task]] for name, column in shown.items()} for task in tasks}


def _shown(table: Table, asked: bool) -> dict[str, list[str]]:
    """Columns that can be shown; asked: whether the table was named for that, so that each must be one."""
    if asked and not table.extras:
        raise InputError(f"{table.path.name}, line 1: the header must be task and what is to be shown, as in task,text")
    taken = [name for name in table.extras if name in RESERVED or not name.isidentifier()]
    if taken and asked:
        raise InputError(f"{table.path.name}, line 1: {taken[0]!r} cannot be a column that is shown; name it otherwise")
    if taken:
        tell(f"{table.path.name}: {taken[0]!r} cannot be a column that is shown and stays here; name it otherwise")
    return {name: column for name, column in table.extras.items() if name not in taken}


def _answers(path: str | Path, classes: tuple[str, ...]) -> dict[str, tuple[str, float]]:
    """Answers so far, with their chances to be right; those that name no class are left out."""
    table = read_answered(path)
    claims = [0.0] * len(table.tasks) if table.claims is None else table.claims.tolist()
    rows = zip(table.tasks, table.labels, claims, strict=True)
    return {task: (label, 1 - error) for task, label, error in rows if label in classes}


def read_pushed_policy(plan: str | Path, known: Campaign, classes: tuple[str, ...]) -> dict[str, Any] | None:
    """``policy.json`` of an adaptive plan over states of votes; None for any other plan.

    classes: what a judge says, which may be other names than the plan's.
    """
    claims, names = read_claims(plan), known.class_names()
    if not is_policy(claims):
        return None
    instance, strangers = replace(known.instance, class_names=names), [one for one in classes if one not in names]
    stored = read_policy(plan, claims, instance)
    if stored.steps is not None:
        return None
    label = [name if name in classes else strangers.pop(0) for name in names]
    kind_of = dict(zip(stored.tasks["task"], stored.tasks["type"], strict=True))
    lacking = next((task for task in instance.task_ids if task not in kind_of), None)
    if lacking is not None:
        raise InputError(f"{stored.tasks.path.name} has no row for task {lacking!r}; solve the campaign again")
    votes: dict[str, dict[str, str]] = {}
    for (task, worker), said in zip(instance.collected.tolist(), known.indices().tolist(), strict=True):
        votes.setdefault(instance.task_id(task), {})[instance.worker_id(worker)] = label[said]
    prices = {
        kind_of[task]: dict(zip(instance.worker_ids, instance.cost[instance.task_type[i]].tolist(), strict=True))
        for i, task in reversed(list(enumerate(instance.task_ids)))
    }
    return {
        "kinds": kind_of,
        "votes": votes,
        "classes": list(classes),
        "askers": {one: of for one, of in zip(stored.workers["worker"], stored.workers["asker"], strict=True) if of},
        "prices": prices,
        "rounds": claims.get("rounds"),
        "seed": claims.get("seed", 0),
        "moves": _moves(stored, instance, label),
    }


def _moves(
    stored: StoredPolicy, instance: AssignmentInstance, label: list[str]
) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Of each kind of task and each state of its votes, what is done, and with which share; label: of each class."""
    kinds, askers = stored.types["type"], list(dict.fromkeys(filter(None, stored.workers["asker"])))
    moves: dict[str, dict[str, list[dict[str, Any]]]] = {kind: {} for kind in kinds}
    for row in policy_rows(stored, instance):
        state = state_of(row.round, {(askers[g], label[k]): number for g, k, number in row.votes})
        what = {askers[g]: number for g, number in enumerate(row.what) if number} if row.action == ASK else {}
        answer = label[row.what[0]] if row.action == ANSWER else None
        move = {"action": row.action, "ask": what, "answer": answer, "share": row.share}
        moves[kinds[row.kind]].setdefault(state, []).append(move)
    return moves


@dataclass(frozen=True)
class Wishes:
    """What a reader is told beyond the file."""

    field: str | None = None  # the question whose answers are the labels, where the tool asks several
    # the key of a task's own data that holds its id; default: ``task`` where every task has it, else the tool's id
    key: str | None = None


@dataclass(frozen=True)
class Change:
    """One thing that a push changes, in words; ``kind`` counts it in the summary."""

    kind: str
    what: str


@dataclass(frozen=True)
class Changes(InNotebooks):
    """What a push changed, or would change; ``notes`` are sentences for the reader, ``links`` for the workers."""

    changes: tuple[Change, ...]  # in the order of work; none where everything is in place already
    place: str  # where they were made, in words
    notes: tuple[str, ...] = ()  # advice
    links: Mapping[str, str] = field(default_factory=dict)  # worker -> where they label, and nobody else is sent

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind, in the order of work."""
        counts: dict[str, int] = {}
        for change in self.changes:
            counts[change.kind] = counts.get(change.kind, 0) + 1
        return counts


@dataclass(frozen=True)
class Address:
    """A server and a project on it."""

    url: str  # of the server
    project: str | None = None  # title of the project; default: the campaign's title
    insecure: bool = False  # whether plain HTTP may leave this machine


Reader: TypeAlias = Callable[[Path, Wishes], Annotations]
Writer: TypeAlias = Callable[[PushedRound, Path], Mapping[str, str]]


@dataclass(frozen=True)
class Bridge:
    """A tool's name, and what can be done with it."""

    name: str  # as it is typed
    what: str  # what is read and written, in a line
    read: Reader | None = None  # a file or folder of the tool -> its annotations
    write: Writer | None = None  # a round and the folder it goes to -> file name in that folder -> text
    # where the tool has an API: brings a project to the state of a round, without calls that change nothing, or with
    # ``True`` says what it would change; and gets everything that was annotated in a project
    push: Callable[[PushedRound, Address, bool], Changes] | None = None
    pull: Callable[[Address, Wishes], Annotations] | None = None
    advice: tuple[str, ...] = field(default=())  # what to do after files were written

    def reader(self) -> Reader:
        """What reads the tool's files; InputError where nothing does."""
        if self.read is None:
            raise InputError(f"crowdopt reads no labels of {self.name}; there are readers of other tools")
        return self.read


MARK = "crowdopt.json"  # tells a folder that a push may write into


def push_files(bridge: Bridge, handed: PushedRound, folder: Path, dry_run: bool) -> Changes:
    """Write a round's files into a folder, or only say which would be.

    folder: new, empty, or one that a push to the same tool wrote.
    """
    if bridge.write is None:
        raise InputError(f"{bridge.name} is a format that crowdopt reads and does not write; push to another tool")
    check_own(folder, bridge.name)
    wanted = {MARK: json.dumps({"tool": bridge.name}) + "\n", **bridge.write(handed, folder)}
    changes = list(_differing(folder, wanted))
    for change in [] if dry_run else changes:
        write_text(folder / change.what, wanted[change.what])
    advice = bridge.advice if changes else ()
    return Changes(tuple(changes), str(folder), advice)


def check_own(folder: Path, tool: str) -> None:
    """Refuse a folder that a push to this tool did not write."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        check_target(folder, MARK, True)
        return
    mark = folder / MARK
    if not folder.is_dir() or not mark.is_file():
        raise InputError(f"{folder} holds something else; choose a new folder, or one that a push to {tool} wrote")
    known = parsed(read_text(mark), str(mark))
    other = known.get("tool") if isinstance(known, dict) else None
    if other != tool:
        raise InputError(f"{folder} is of a push to {other!r}; choose another folder for {tool}")


def _differing(folder: Path, wanted: Mapping[str, str]) -> list[Change]:
    changes = []
    for name, text in wanted.items():
        path = folder / name
        try:
            same = path.read_bytes() == text.encode("utf-8", errors="surrogatepass")
        except FileNotFoundError:
            changes.append(Change("new file", name))
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}; choose another folder") from None
        else:
            changes += [] if same else [Change("changed file", name)]
    return changes
