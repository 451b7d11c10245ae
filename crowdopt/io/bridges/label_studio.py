"""Label Studio: its JSON export into annotations, a round into a file of tasks, or both by its API.

A push looks at what is there first, and writes only what differs, so that any call may be the second one. Nothing is
ever deleted: a task that no worker is to see has an empty queue.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import quoteattr

from crowdopt.documents import TEXT, Each, Keys, Maybe, Shape, Value
from crowdopt.errors import InputError
from crowdopt.io.bridges.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.pushed import Address, Bridge, Change, Changes, PushedRound, Wishes
from crowdopt.io.bridges.web import LISTING, PAGES, TOKEN, Call, Refused, Web, checked_url, token_of
from crowdopt.io.foreign_json import ID, check, read_json, refuse, scalar, seconds
from crowdopt.io.plan import queue_files

NOBODY = "|"  # the queue of a task that no worker is to see
HIDDEN = (  # columns that a worker's tab does without; who else is asked is not shown
    *("inner_id", "annotations_results", "annotations_ids", "predictions_score", "predictions_model_versions"),
    *("predictions_results", "file_upload", "storage_filename", "created_at", "updated_at", "updated_by"),
    *("avg_lead_time", "draft_exists", "annotators", "completed_at", "data.queue"),
    *("total_annotations", "cancelled_annotations", "total_predictions"),
)
MODEL = "crowdopt"  # the name under which our answers stand among the predictions


@dataclass(frozen=True)
class Control:
    """The question of a labelling interface that asks for a class: its name, and what it asks about."""

    name: str
    about: str


def tokens(workers: tuple[str, ...]) -> dict[str, str]:
    """Worker -> how a queue names them: between bars, and no two alike for a filter that ignores case."""
    names = queue_files(workers)
    return {worker: f"|{name.removesuffix('.csv')}|" for worker, name in zip(workers, names, strict=True)}


def task_data(handed: PushedRound, task: str, names: dict[str, str]) -> dict[str, str]:
    """A task's data: its id, what is shown, and who is to see it, by their :func:`tokens`."""
    queue = "".join(names[worker].rstrip("|") for worker in handed.queues.get(task, ()))
    return {"task": task, **handed.content[task], "queue": f"{queue}|"}


def prediction(control: Control, answer: str, chance: float) -> dict[str, Any]:
    """Our answer and its chance to be right, as a prediction."""
    chosen = {"from_name": control.name, "to_name": control.about, "type": "choices", "value": {"choices": [answer]}}
    return {"model_version": MODEL, "score": round(chance, 6), "result": [chosen]}


def tab(worker: str, token: str) -> dict[str, Any]:
    """A worker's tab: the tasks whose queue names them, in the order of the campaign."""
    asked = {"filter": "filter:tasks:data.queue", "operator": "contains", "type": "String", "value": token}
    return {
        "title": worker,
        "type": "list",
        "target": "tasks",
        "hiddenColumns": {"explore": [f"tasks:{name}" for name in HIDDEN], "labeling": []},
        "filters": {"conjunction": "and", "items": [asked]},
        "ordering": ["tasks:id"],
    }


def own_control(handed: PushedRound) -> Control:
    """The question of our own interface."""
    return Control("label", handed.columns[0])


def control_of(parsed_config: Any, classes: tuple[str, ...], project: str) -> Control:
    """The question of a project that asks for our classes."""
    asked = []
    for name, control in parsed_config.items() if isinstance(parsed_config, dict) else ():
        if isinstance(control, dict) and control.get("type") == "Choices":
            labels, about = control.get("labels"), control.get("to_name")
            if isinstance(labels, list) and set(classes) <= set(map(str, labels)) and isinstance(about, list) and about:
                asked.append(Control(str(name), str(about[0])))
    if len(asked) != 1:
        how = "no question with" if not asked else f"{len(asked)} questions with"
        raise InputError(
            f"{project} asks {how} the choices {', '.join(classes)}; change its labelling interface, or name another "
            "project with --project (a new one gets an interface that fits)"
        )
    return asked[0]


VARIABLE = "LABEL_STUDIO_API_KEY"
BATCH = 100  # tasks of one import, and of one page
PROJECT = Keys(required={"id": ID, "title": ID}, open=True)
LISTED = Keys(required={"id": ID, "data": Keys(open=True)}, open=True)
USER = Keys(required={"id": ID, "email": ID}, open=True)
ANSWER = "this is no answer of Label Studio; see that --url is its address"
BY_FILE = "export the project to a file, and name that in place of --url"
MARK = "made by crowdopt for the campaign "  # of a project's description, before the title it was made with
TITLE = (3, 50)  # letters that a project's title may have


def connect(address: Address) -> Web:
    """The server with the token of the environment; a personal access token is exchanged for a short-lived one."""
    url = checked_url(address.url, address.insecure)
    token = token_of(VARIABLE, "in Label Studio: Account & Settings, Access Token; then export it under that name")
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if token.count(".") == 2:
        web = Exchanged(url, "Label Studio", headers, (token,), token)
        web.exchange()
        return web
    return Web(url, "Label Studio", {**headers, "Authorization": f"Token {token}"}, (token,))


@dataclass
class Exchanged(Web):
    """Calls with a token that lives for minutes, renewed when it has run out."""

    long_lived: str = field(default="", repr=False)
    _renewing: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def exchange(self) -> None:
        """Get a new short-lived token."""
        self.headers = {name: value for name, value in self.headers.items() if name != "Authorization"}
        answer = super().call("POST", "/api/token/refresh/", {"refresh": self.long_lived})
        access = answer.get("access") if isinstance(answer, dict) else None
        if not isinstance(access, str) or not access.isascii() or not access.isprintable() or len(access) < TOKEN:
            raise InputError(f"{self.url} gives no token in exchange; {ANSWER}")
        self.secrets = tuple(dict.fromkeys((*self.secrets, self.long_lived, access)))
        self.headers = {**self.headers, "Authorization": f"Bearer {access}"}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One call; a 401 is answered with a new token once."""
        refused = self.headers
        try:
            return super().call(method, path, body)
        except Refused as error:
            if error.status != 401:
                raise
        with self._renewing:
            if self.headers is refused:  # no other call has renewed it meanwhile
                self.exchange()
        return super().call(method, path, body)


def title_of(address: Address, own: str) -> str:
    """The project's title; InputError without one that Label Studio takes."""
    title = (address.project or own).strip()
    if not TITLE[0] <= len(title) <= TITLE[1]:
        raise InputError(
            f"a project's title has {TITLE[0]} to {TITLE[1]} letters, and {title!r} has {len(title)}; name it with "
            "--project, or give the campaign a title in campaign.toml"
        )
    return title


def listed(web: Web, path: str, shape: Shape, entries: str, **query: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Each page of a listing and its entries, until there are no more.

    shape: of an entry; it has an id; entries: the key of a page's entries; **query: what is asked for beside the page.
    Raises InputError if an answer is none of Label Studio's, or the listing does not end: a page brings nothing new, or
    there are too many pages or seconds.
    """
    known: set[str] = set()
    began = time.monotonic()
    for page in range(1, PAGES + 1):
        try:
            answer = web.get(path, page=page, page_size=BATCH, **query)
        except Refused as error:
            if error.status == 404 and page > 1:
                return
            raise
        check(answer, Keys(required={entries: Each(shape)}, open=True), f"{web.url}{path}", ANSWER)
        ids = {str(entry["id"]) for entry in answer[entries]}
        if not ids:
            return
        if ids <= known and (len(answer[entries]) >= BATCH or answer.get("next")):
            raise InputError(f"{web.url}{path} lists on page {page} what it listed before; {ANSWER}")
        if time.monotonic() - began > LISTING:
            raise InputError(f"{web.url}{path} does not come to an end: {page} pages in {LISTING} s; {BY_FILE}")
        known |= ids
        yield answer, answer[entries]
    raise InputError(f"{web.url}{path} does not come to an end: {PAGES} pages; {BY_FILE}")


def find_project(web: Web, title: str) -> dict[str, Any] | None:
    """The project of that title, or the one made with it and renamed since; InputError if there are two."""
    named: list[dict[str, Any]] = []
    marked: list[dict[str, Any]] = []
    for answer, projects in listed(web, "/api/projects/", PROJECT, "results"):
        named += [project for project in projects if str(project["title"]).strip() == title]
        marked += [project for project in projects if project.get("description") == MARK + title]
        if not answer.get("next"):
            break
    found = named or marked
    if len(found) > 1:
        numbers = ", ".join(str(project["id"]) for project in found)
        raise InputError(
            f"{web.url} has several projects {title!r} (numbers {numbers}); give one of them another title"
        )
    return found[0] if found else None


def accounts(web: Web) -> list[dict[str, Any]]:
    """All who have an account."""
    users = web.get("/api/users/")
    check(users, Each(USER), f"{web.url}/api/users/", ANSWER)
    return [user for user in users if type(user["id"]) is int]


def tasks_of(web: Web, project: int) -> list[dict[str, Any]]:
    """Every task of a project, with its data and predictions."""
    tasks: list[dict[str, Any]] = []
    for _, page in listed(web, "/api/tasks/", LISTED, "tasks", project=project, fields="all"):
        tasks += page
        if len(page) < BATCH:
            break
    return tasks


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


REMEDY = "export the project from Label Studio as JSON (neither JSON-MIN nor CSV)"
PLAIN = Keys(open=True)
ACCOUNT = Value(
    "an account: its number, or a table with its email",
    lambda value: value is None or type(value) in (int, str) or isinstance(value, dict),
)
PART = Keys(optional={"type": TEXT, "from_name": Maybe(TEXT)}, open=True)
ANNOTATION = Keys(required={"result": Each(PART)}, optional={"completed_by": ACCOUNT}, open=True)
TASK = Keys(required={"id": ID, "data": PLAIN, "annotations": Each(ANNOTATION)}, open=True)
EXPORT = Each(TASK)
KINDS = {  # of questions whose answer is one class: the key of its value
    "choices": "choices",
    "rating": "rating",
    "taxonomy": "taxonomy",
    "pairwise": "selected",
}


def read_export(path: Path, wishes: Wishes) -> Annotations:
    """The annotations of a JSON export."""
    return annotations_of(read_json(path, EXPORT, REMEDY), path.name, wishes)


def annotations_of(
    tasks: list[dict[str, Any]], source: str, wishes: Wishes, people: Mapping[int, str] | None = None
) -> Annotations:
    """A project's annotations, one class each; people: number of an account -> e-mail address."""
    key = _key(tasks, source, wishes)
    return with_gold(_rows(tasks, source, key, wishes.field, people or {}), source)


def _key(tasks: list[dict[str, Any]], source: str, wishes: Wishes) -> str | None:
    """The key of the tasks' data that holds their ids; None for the tool's own number."""
    key = wishes.key or "task"
    lacking = next((k for k, task in enumerate(tasks) if not scalar(task["data"].get(key))), None)
    if wishes.key is not None and lacking is not None:
        raise InputError(f"{source}, [{lacking}].data has no {key!r} with an id; name another key of the tasks' data")
    if wishes.key is None and lacking is None:
        _check_ids(tasks, source)
    return None if lacking is not None else key


def _check_ids(tasks: list[dict[str, Any]], source: str) -> None:
    """Refuse a key ``task`` that was not asked for and holds no id: tasks that it names alike show other things."""
    first: dict[str | None, tuple[int, dict[str, Any]]] = {}
    for k, task in enumerate(tasks):
        shown = {name: value for name, value in task["data"].items() if name != "queue"}
        place, other = first.setdefault(scalar(task["data"]["task"]), (k, shown))
        if other != shown:
            raise InputError(
                f"{source}, [{k}].data: its task is that of [{place}], but they show different things; give the key of "
                "the tasks' ids with --key (task too, if it is)"
            )


def _rows(
    tasks: list[dict[str, Any]], source: str, key: str | None, question: str | None, people: Mapping[int, str]
) -> Iterator[Annotation]:
    for number, task in enumerate(tasks):
        name = scalar(task["id"] if key is None else task["data"][key])
        for place, given in enumerate(task["annotations"]):
            where = f"[{number}].annotations[{place}]"
            cancelled = given.get("was_cancelled") is True
            blank = cancelled and not given["result"]
            label, asked = ("", "") if blank else _label(given["result"], question, source, where)
            yield Annotation(
                task=name or str(task["id"]),
                worker=_account(given.get("completed_by"), people, source, where),
                label=label,
                seconds=seconds(given.get("lead_time")),
                when=scalar(given.get("updated_at")) or "",
                cancelled=cancelled,
                gold=given.get("ground_truth") is True,
                place=where,
                question=asked,
            )


def _account(value: Any, people: Mapping[int, str], source: str, place: str) -> str:
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    name = people.get(value) if type(value) is int else None
    name = name or scalar(value)
    if not name or value is None:
        raise refuse(source, f"{place}.completed_by", "must say who did it", value, REMEDY)
    return name


def _label(result: list[dict[str, Any]], question: str | None, source: str, place: str) -> tuple[str, str]:
    """The class of an annotation, empty where it was handed in without one; and the question that it answers."""
    answers = [
        (number, part)
        for number, part in enumerate(result)
        if part.get("type") in KINDS and question in (None, part.get("from_name"))
    ]
    if not answers:
        others = sorted({str(part.get("type")) for part in result if part.get("type") not in KINDS})
        if others and question is None:
            raise InputError(
                f"{source}, {place}.result: holds {', '.join(others)} and no choice; a label here is one class"
            )
        return "", ""
    asked = sorted({str(part.get("from_name")) for _, part in answers})
    if len(asked) > 1:
        raise InputError(f"{source}, {place}.result: answers {', '.join(asked)}; choose one of them with --field")
    number, part = answers[0]
    inner = _innermost(part)
    label = None if inner is None else scalar(inner)
    if label is None or label == "" or len(answers) > 1:
        where = f"{place}.result[{number}].value.{KINDS[part['type']]}"
        single = 'maxUsages="1"' if part["type"] == "taxonomy" else 'choice="single"'
        raise refuse(source, where, "must be one class", inner, f"ask with {single}, or drop the annotation")
    return label, asked[0]


def _innermost(part: dict[str, Any]) -> Any:
    """What was chosen; of a taxonomy a path in a list, which is one class: its steps from the top."""
    value = part.get("value")
    inner = value.get(KINDS[part["type"]]) if isinstance(value, dict) else None
    while isinstance(inner, list) and len(inner) == 1:
        inner = inner[0]
        if part["type"] == "taxonomy" and isinstance(inner, list) and all(isinstance(step, str) for step in inner):
            return " / ".join(inner)
    return inner


def write_tasks(handed: PushedRound, folder: Path) -> dict[str, str]:
    """Tasks to import by hand, and the labelling interface to paste; names in ``queue`` are what the tabs filter by."""
    names, control = tokens(handed.workers), own_control(handed)
    tasks = []
    for task in handed.queues:
        answer = handed.answers.get(task)
        entry: dict[str, Any] = {"data": task_data(handed, task, names)}
        if answer is not None:
            entry["predictions"] = [prediction(control, *answer)]
        tasks.append(entry)
    return {"tasks.json": json.dumps(tasks, indent=1, ensure_ascii=False) + "\n", "interface.xml": interface(handed)}


def interface(handed: PushedRound) -> str:
    """The labelling interface: what is shown of a task, and one choice among the classes."""
    kinds = {"image": "Image", "audio": "Audio", "video": "Video", "html": "HyperText"}
    shown = [
        f"  <{kinds.get(name, 'Text')} name={quoteattr(name)} value={quoteattr('$' + name)}/>"
        for name in handed.columns
    ]
    choices = [f"    <Choice value={quoteattr(name)}/>" for name in handed.classes]
    head = f'  <Choices name="label" toName={quoteattr(handed.columns[0])} choice="single" required="true">'
    return "\n".join(["<View>", *shown, head, *choices, "  </Choices>", "</View>", ""])


def push(handed: PushedRound, address: Address, dry_run: bool) -> Changes:
    """Project, tasks with their queues, answers as predictions, a tab for each worker; only what differs."""
    web, title = connect(address), title_of(address, handed.title)
    work = StudioPush(web, handed, title, find_project(web, title), dry_run)
    work.settle(interface(handed))
    work.hand_out()
    work.predict()
    work.open_tabs()
    number = "" if work.project is None else f" ({web.url}/projects/{work.project['id']}/data)"
    return Changes(tuple(work.changes), f"project {title!r}{number}", work.notes(), work.links)


def pull(address: Address, wishes: Wishes) -> Annotations:
    """Every annotation of the project, cancelled ones too."""
    web = connect(address)
    title = title_of(address, "")
    project = find_project(web, title)
    if project is None:
        raise InputError(f"there is no project {title!r} on {web.url}; push a round first, or name it with --project")
    source = f"project {title!r}"
    people = {user["id"]: user["email"] for user in accounts(web)}
    tasks = web.get(f"/api/projects/{project['id']}/export", exportType="JSON", download_all_tasks="true")
    check(tasks, EXPORT, source, ANSWER)
    return annotations_of(tasks, source, wishes, people)


BRIDGE = Bridge(
    name="label-studio",
    what="its JSON export (a file), or its server with --url",
    read=read_export,
    write=write_tasks,
    push=push,
    pull=pull,
    advice=(
        "in Label Studio: make a project with interface.xml, import tasks.json, and for each worker a tab with the "
        "filter 'queue contains |worker|'; with --url all of this is done for you",
    ),
)
