"""Label Studio: its JSON export into annotations, a round into a file of tasks; by its API (label_studio_api)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from crowdopt.documents import Each, Keys, Value
from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.exchange.bridge import Address, Bridge, Changes, Wishes
from crowdopt.io.bridges.exchange.pushed_round import PushedRound
from crowdopt.io.bridges.label_studio_api import ANSWER, accounts, connect, find_project, title_of
from crowdopt.io.bridges.label_studio_push import StudioPush
from crowdopt.io.bridges.label_studio_tasks import own_control, prediction, task_data, tokens
from crowdopt.io.tables.foreign_json import ID, check, read_json, refuse, scalar, seconds

REMEDY = "export the project from Label Studio as JSON (neither JSON-MIN nor CSV)"
PLAIN = Keys(open=True)
ACCOUNT = Value(
    "an account: its number, or a table with its email",
    lambda value: value is None or type(value) in (int, str) or isinstance(value, dict),
)
ANNOTATION = Keys(required={"result": Each(PLAIN)}, optional={"completed_by": ACCOUNT}, open=True)
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
