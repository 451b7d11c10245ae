"""Messages from other services: each is kept first, and acted on after it was acknowledged."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.bridge import Wishes
from crowdopt.io.bridges.label_studio import annotations_of
from crowdopt.live.running import LiveTurn
from crowdopt.live.stores import event as kinds

WEBHOOK, STUDIO, PROLIFIC = "webhook", "label-studio", "prolific"
GIVEN = ("label.created", "label.updated")  # types of messages that bring a label
RESPONSES = ("response.created", "response.updated")  # the same, as Argilla sends them
ANNOTATED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
GONE = ("RETURNED", "TIMED-OUT", "REJECTED", "SCREENED OUT")  # states in which a participant answers no more


@dataclass(frozen=True)
class GivenLabel:
    """A label that was given elsewhere."""

    worker: str
    task: str
    label: str


@dataclass(frozen=True)
class Departure:
    """A worker who answers no more: their task is for others."""

    worker: str


Meaning: TypeAlias = GivenLabel | Departure | None


def handle(turn: LiveTurn) -> None:
    """Act on every message that waits; one that cannot be acted on yet goes on waiting."""
    for number, text in list(turn.state.inbox.items()):
        message = json.loads(text)
        try:
            acted, why = _acted(turn, MEANINGS[message["source"]](message["body"])), ""
        except InputError as error:  # the manager sees why among the events
            acted, why = True, str(error).encode("ascii", "backslashreplace").decode()
        if acted:
            turn.note(kinds.HANDLED, lease=number, value=why)


def _acted(turn: LiveTurn, meaning: Meaning) -> bool:
    if isinstance(meaning, GivenLabel):
        return turn.brought(meaning.worker, meaning.task, meaning.label)
    if meaning is not None and meaning.worker in turn.state.enrolled and turn.state.course.holds(meaning.worker):
        turn.note(kinds.EXPIRED, worker=meaning.worker, value=kinds.AGAIN)
    return True


def of_webhook(body: Any) -> Meaning:
    """A message of Standard Webhooks: ``label.created`` with worker, task and label; or a response of Argilla's."""
    kind, data = _at(body, "type"), _at(body, "data")
    if kind in GIVEN:
        return GivenLabel(*(_text(data, name) for name in ("worker", "task", "label")))
    if kind in RESPONSES and _at(data, "status") == "submitted":
        values = _at(data, "values")
        said = [_at(value, "value") for value in values.values()] if isinstance(values, dict) else []
        texts = [value for value in said if isinstance(value, str)]
        if len(texts) != 1:
            raise InputError(f"a response answers {len(texts)} questions that have classes; ask one such question")
        return GivenLabel(_text(_at(data, "user"), "username"), _text(_at(data, "record"), "external_id"), texts[0])
    return None


def of_label_studio(body: Any) -> Meaning:
    """A webhook of Label Studio: an annotation that was created or changed."""
    if _at(body, "action") not in ANNOTATED:
        return None
    task, annotation = _at(body, "task"), _at(body, "annotation")
    if not (isinstance(task, dict) and isinstance(annotation, dict) and isinstance(task.get("data"), dict)):
        raise InputError("the webhook has no task and annotation; switch on 'send payload' in Label Studio")
    given = {"id": task.get("id", ""), "data": task["data"], "annotations": [{"result": [], **annotation}]}
    row = annotations_of([given], "webhook", Wishes()).rows[0]
    return GivenLabel(row.worker, row.task, row.label) if row.counts else None


def of_prolific(body: Any) -> Meaning:
    """A hook of Prolific: a participant who gave their place back, or ran out of time."""
    gone = _at(body, "event_type") == "submission.status.change" and _at(body, "status") in GONE
    return Departure(_text(body, "participant_id")) if gone else None


MEANINGS: dict[str, Callable[[Any], Meaning]] = {
    WEBHOOK: of_webhook,
    STUDIO: of_label_studio,
    PROLIFIC: of_prolific,
}


def _at(table: Any, name: str) -> Any:
    return table.get(name) if isinstance(table, dict) else None


def _text(table: Any, name: str) -> str:
    value = _at(table, name)
    if not isinstance(value, str) or not value:
        raise InputError(f"the message needs the text {name}")
    return value
