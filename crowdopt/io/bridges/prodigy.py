"""Prodigy: a stream of tasks with a router that hands each to its workers, and what ``prodigy db-out`` gives back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crowdopt.documents import Keys
from crowdopt.errors import InputError
from crowdopt.io.bridges import prodigy_router
from crowdopt.io.bridges.annotations import Annotation, Annotations, with_gold
from crowdopt.io.bridges.pushed import Bridge, PushedRound, Wishes
from crowdopt.io.foreign_json import read_lines, refuse, scalar, seconds

REMEDY = "give what `prodigy db-out DATASET` printed"
LINE = Keys(open=True)
SESSION = ("_annotator_id", "_session_id")
MARKED = ("spans", "audio_spans", "relations", "user_input")  # answers that are no class


def read_dataset(path: Path, wishes: Wishes) -> Annotations:
    """The annotations of a dataset: choices, or yes and no where a question was accepted or rejected.

    What is ignored is cancelled, and so is a choice that is rejected: that discards the item. ``field`` is the label of
    the questions to read.
    """
    return with_gold(_rows(path, wishes), path.name)


def _rows(path: Path, wishes: Wishes) -> Iterator[Annotation]:
    for place, line in read_lines(path, LINE, REMEDY):
        if wishes.field not in (None, line.get("label")):
            continue
        task = _task(line, wishes.key)
        if not task:
            remedy = f"{REMEDY}, or name its key: --key _task_hash"
            raise refuse(path.name, place, "must have the id of its task", line.get("meta"), remedy)
        session = next((scalar(line[key]) for key in SESSION if line.get(key) is not None), None)
        if not session:
            raise InputError(f"{path.name}, {place}: has no _session_id; annotate with ?session=NAME in the address")
        label = _label(line, path.name, place)
        moment = seconds(line.get("_timestamp"))
        yield Annotation(
            task=task,
            worker=_name(session, line),
            label=label,
            seconds=seconds(line.get("seconds")),
            when="" if moment is None else f"{moment:017.3f}",
            cancelled=not label,
            gold=line.get("gold") is True,
            place=place,
            shown=json.dumps([line.get("_input_hash"), line.get("label")]),
        )


def _task(line: dict[str, Any], key: str | None) -> str | None:
    meta = line.get("meta")
    inner = meta if isinstance(meta, dict) else {}
    value = (line.get(key) or inner.get(key)) if key else (line.get("task_id") or inner.get("task"))
    return scalar(value) if value is not None else None


def _name(session: str, line: dict[str, Any]) -> str:
    dataset = line.get("_dataset")
    if isinstance(dataset, str) and session.startswith(f"{dataset}-"):
        return session[len(dataset) + 1 :]
    return session.partition("-")[2] or session


def _label(line: dict[str, Any], source: str, place: str) -> str:
    """What was chosen, or yes or no where nothing is to be chosen (as in ``textcat.teach``)."""
    chosen, answer = line.get("accept"), line.get("answer", "accept")
    if chosen is None and line.get("options") is None and line.get("_view_id") != "choice":
        marked = [name for name in MARKED if line.get("label") is None and name in line]
        if marked:
            raise InputError(f"{source}, {place}: holds {marked[0]} and no choice; a label here is one class")
        return {"accept": "yes", "reject": "no"}.get(answer, "") if "answer" in line else ""
    options = chosen if isinstance(chosen, list) else [chosen]
    if answer != "accept" or not options or options == [None]:
        return ""
    label = scalar(options[0])
    if len(options) > 1 or not label:
        raise refuse(source, place, "must accept one option", chosen, "ask with choice_style single")
    return label


def write_stream(handed: PushedRound, folder: Path) -> dict[str, str]:
    """``tasks.jsonl``, ``plan.json`` with each task's workers, and the module ``router.py`` that reads it."""
    options = [{"id": name, "text": name} for name in handed.classes]
    lines = [
        {**handed.content[task], "task_id": task, "options": options, "meta": {"task": task}} for task in handed.queues
    ]
    return {
        "plan.json": json.dumps(handed.queues, indent=1, ensure_ascii=False) + "\n",
        "router.py": Path(prodigy_router.__file__).read_text(encoding="utf-8"),
        "tasks.jsonl": "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines),
    }


BRIDGE = Bridge(
    name="prodigy",
    what="what `prodigy db-out` printed",
    read=read_dataset,
    write=write_stream,
    advice=(
        "return 'task_router': router.task_router from your recipe, name the sessions in PRODIGY_ALLOWED_SESSIONS "
        "(DATASET-WORKER), and stream tasks.jsonl",
    ),
)
