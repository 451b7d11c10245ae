"""A push to Label Studio: what is there is looked at first, and only what differs is written, so that any call may be
the second one. Nothing is ever deleted: a task that no worker is to see has an empty queue.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from crowdopt.documents import Each, Keys
from crowdopt.io.bridges.exchange.bridge import Change
from crowdopt.io.bridges.exchange.pushed_round import PushedRound
from crowdopt.io.bridges.exchange.web import Call, Web
from crowdopt.io.bridges.label_studio_api import ANSWER, BATCH, MARK, PROJECT, accounts, tasks_of
from crowdopt.io.bridges.label_studio_tasks import (
    MODEL,
    NOBODY,
    Control,
    control_of,
    own_control,
    prediction,
    tab,
    task_data,
    tokens,
)
from crowdopt.io.tables.foreign_json import ID, check, scalar

TAB = Keys(required={"id": ID, "data": Keys(open=True)}, open=True)


@dataclass
class StudioPush:
    """One push: what there is, what is to be, and what was done about it."""

    web: Web
    handed: PushedRound
    title: str
    project: dict[str, Any] | None
    dry_run: bool
    changes: list[Change] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    skipped: list[tuple[str, int]] = field(default_factory=list)
    there: dict[str, dict[str, Any]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    waiting: list[Call] = field(default_factory=list)
    control: Control = field(init=False)
    names: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.control, self.names = own_control(self.handed), tokens(self.handed.workers)

    def do(self, kind: str, what: str, method: str, path: str, body: Any) -> Any:
        """Make a change, or on a dry run only note it."""
        self.changes.append(Change(kind, what))
        return None if self.dry_run else self.web.call(method, path, body)

    def put_off(self, kind: str, what: str, method: str, path: str, body: Any) -> None:
        """Note a change that is made with others."""
        self.changes.append(Change(kind, what))
        self.waiting.append((method, path, body))

    def make(self) -> list[Any]:
        """Make the changes that were put off, several at a time; nothing on a dry run."""
        calls, self.waiting = self.waiting, []
        return [] if self.dry_run else self.web.call_all(calls)

    def settle(self, interface: str) -> None:
        """A project that hands out tasks by their tabs alone, and shows no worker what others think."""
        most = 2 * len(self.handed.workers)  # Label Studio would take a task with this many annotations off every queue
        if self.project is None:
            settings = {
                "title": self.title,
                "description": MARK + self.title,
                "label_config": interface,
                "maximum_annotations": most,
                "sampling": "Sequential sampling",
                "skip_queue": "REQUEUE_FOR_OTHERS",
                "show_collab_predictions": False,
            }
            answer = self.do("project", f"a project {self.title!r}", "POST", "/api/projects/", settings)
            if answer is not None:
                check(answer, PROJECT, f"{self.web.url}/api/projects/", ANSWER)
            self.project = answer
            return
        number = self.project["id"]
        self.control = control_of(
            self.project.get("parsed_label_config") or {}, self.handed.classes, f"project {number}"
        )
        wrong: dict[str, Any] = {}
        if not isinstance(self.project.get("maximum_annotations"), int) or self.project["maximum_annotations"] < most:
            wrong["maximum_annotations"] = most
        if self.project.get("skip_queue") == "IGNORE_SKIPPED":
            wrong["skip_queue"] = "REQUEUE_FOR_OTHERS"
        if self.handed.answers and self.project.get("show_collab_predictions"):
            wrong["show_collab_predictions"] = False
        if wrong:
            said = ", ".join(f"{key} = {json.dumps(value)}" for key, value in wrong.items())
            self.do("setting", f"settings of project {number}: {said}", "PATCH", f"/api/projects/{number}/", wrong)

    def hand_out(self) -> None:
        """Each task with the queue of this round: changed where it is there, imported where it is not."""
        for task in [] if self.project is None else tasks_of(self.web, self.project["id"]):
            name = scalar(task["data"].get("task"))
            if name in self.there:
                self.twice.append(str(name))
                self._show_nobody(task)
            elif name in self.handed.queues:
                self.there[str(name)] = task
                self.skipped += [(str(name), user) for user in _cancelled_by(task)]
                self._change(task, self._data(task, str(name)), f"task {name}: who sees it")
            elif "queue" in task["data"]:
                self._show_nobody(task)
        self.make()
        missing = [name for name in self.handed.queues if name not in self.there]
        number = None if self.project is None else self.project["id"]
        for first in range(0, len(missing), BATCH):
            part = missing[first : first + BATCH]
            self.changes += [Change("task", f"task {name}: imported") for name in part]
            if not self.dry_run:
                body = [{"data": task_data(self.handed, name, self.names)} for name in part]
                self.web.call("POST", f"/api/projects/{number}/import", body)

    def _data(self, task: dict[str, Any], name: str) -> dict[str, Any]:
        wanted = task_data(self.handed, name, self.names)
        if self.handed.described:
            return {**task["data"], **wanted}
        return {**wanted, **task["data"], "queue": wanted["queue"]}

    def _show_nobody(self, task: dict[str, Any]) -> None:
        self._change(
            task, {**task["data"], "queue": NOBODY}, f"task {scalar(task['data'].get('task'))}: shown to no worker"
        )

    def _change(self, task: dict[str, Any], data: dict[str, Any], what: str) -> None:
        if task["data"] != data:
            self.put_off("queue", what, "PATCH", f"/api/tasks/{task['id']}/", {"data": data})

    def predict(self) -> None:
        """The answers so far as predictions of the tasks that are there."""
        if not self.handed.answers:
            return
        if self.project is not None and not self.dry_run and len(self.there) < len(self.handed.queues):
            for task in tasks_of(self.web, self.project["id"]):
                self.there.setdefault(str(scalar(task["data"].get("task"))), task)
        for name in self.handed.queues:
            if name in self.handed.answers:
                self._predict(name, prediction(self.control, *self.handed.answers[name]))
        self.make()

    def _predict(self, name: str, wanted: dict[str, Any]) -> None:
        task = self.there.get(name, {"id": None})
        old = task.get("predictions")
        ours = [one for one in old if isinstance(one, dict)] if isinstance(old, list) else []
        ours = [one for one in ours if one.get("model_version") == MODEL]
        what = f"task {name}: the answer so far is {wanted['result'][0]['value']['choices'][0]}"
        if not ours:
            self.put_off("answer", what, "POST", "/api/predictions/", {**wanted, "task": task["id"]})
        elif ours[-1].get("score") != wanted["score"] or ours[-1].get("result") != wanted["result"]:
            self.put_off(
                "answer", what, "PATCH", f"/api/predictions/{ours[-1].get('id')}/", {**wanted, "task": task["id"]}
            )

    def open_tabs(self) -> None:
        """A tab for each worker of the round, by what it filters, and the link that labels it and nothing else."""
        number = None if self.project is None else self.project["id"]
        tabs = [] if number is None else self.web.get("/api/dm/views/", project=number)
        check(tabs, Each(TAB), f"{self.web.url}/api/dm/views/", ANSWER)
        wanted = {worker: tab(worker, self.names[worker]) for worker in self.handed.busy}
        missing = [worker for worker in wanted if _tab_of(wanted[worker], tabs) is None]
        for worker in missing:
            body = {"project": number, "data": wanted[worker]}
            self.put_off("tab", f"a tab for {worker}", "POST", "/api/dm/views/", body)
        made = self.make()
        check(made, Each(TAB), f"{self.web.url}/api/dm/views/", ANSWER)
        opened = dict(zip(missing, made, strict=not self.dry_run))
        for worker, data in wanted.items():
            found = opened.get(worker) or _tab_of(data, tabs)
            if found is not None:
                asked = urlencode({"tab": found["id"], "labeling": 1})
                self.links[worker] = f"{self.web.url}/projects/{number}/data?{asked}"

    def notes(self) -> tuple[str, ...]:
        """Who has no account yet, and tasks that stand twice."""
        users = accounts(self.web)
        known = {str(user["email"]) for user in users}
        known |= {email.partition("@")[0] for email in known}
        known_as = {user["id"]: {str(user["email"]), str(user["email"]).partition("@")[0]} for user in users}
        again = [1 for task, user in self.skipped if known_as.get(user, set()) & set(self.handed.queues[task])]
        strangers = [worker for worker in self.handed.busy if worker not in known]
        said = []
        if strangers:
            names = ", ".join(strangers[:5]) + (", ..." if len(strangers) > 5 else "")
            said.append(f"no account yet for {names}: invite them, or say who is who with pull --people")
        if again:
            said.append(
                f"{len(again)} planned label(s) are of tasks that their worker has skipped, which Label Studio "
                "does not show them again: pull, aggregate with --skipped, and solve the campaign it writes"
            )
        if self.twice:
            said.append(f"{len(self.twice)} task(s) stand twice in the project; the second ones are shown to no worker")
        return tuple(said)


def _tab_of(wanted: dict[str, Any], tabs: list[dict[str, Any]]) -> dict[str, Any] | None:
    return next((one for one in tabs if one["data"].get("filters") == wanted["filters"]), None)


def _cancelled_by(task: dict[str, Any]) -> list[int]:
    given = task.get("annotations")
    rows = [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []
    return [row["completed_by"] for row in rows if row.get("was_cancelled") and type(row.get("completed_by")) is int]
