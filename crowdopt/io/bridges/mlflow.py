"""MLflow's traces: the assessments of each, by judges, code and people; expectations are the truth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from crowdopt.documents import TEXT, Each, Keys, Maybe
from crowdopt.io.bridges.annotations import Annotation, Annotations, Usage, one_question, usage_of, verdict, with_gold
from crowdopt.io.bridges.pushed import Bridge, Wishes
from crowdopt.io.foreign_json import check, parsed, read_text, refuse, scalar

REMEDY = "write each trace's to_json() on a line, or mlflow.search_traces().to_json(FILE, orient='records')"
OPEN = Keys(open=True)
ASSESSMENT = Keys(
    required={"assessment_name": TEXT, "source": Keys(required={"source_type": TEXT}, open=True)},
    optional={"feedback": Maybe(OPEN), "expectation": Maybe(OPEN), "metadata": Maybe(OPEN)},
    open=True,
)
INFO = Keys(
    required={"trace_id": TEXT},
    optional={"assessments": Maybe(Each(ASSESSMENT)), "trace_metadata": Maybe(OPEN), "tags": Maybe(OPEN)},
    open=True,
)
INPUTS, OUTPUTS = "mlflow.traceInputs", "mlflow.traceOutputs"  # keys of a trace's metadata: what was asked and said
JUDGED = ("InputTokens", "OutputTokens", "Cost")  # what the metadata of a judge's assessment counts
PERSON = "HUMAN"
Row = tuple[str, dict[str, Any], str, str]  # the task, an assessment, its place, what was judged


def read_traces(path: Path, wishes: Wishes) -> Annotations:
    """The assessments of a file of traces.

    A scorer is a worker by its name, and by its source where several give that name; a person is one by their own. With
    ``field`` only assessments of that name are read, and each source is a worker. ``key`` names an input, a tag or a
    key of the trace's metadata that holds the task's id. Feedback with an error abstains; what another assessment
    overrode is refused.
    """
    rows = list(_assessments(path, wishes.key))
    if wishes.field is None:
        people = (
            (_source(one), one["assessment_name"]) for _, one, _, _ in rows if _is_person(one) and one.get("feedback")
        )
        one_question(people, path.name)
    asked = {one["assessment_name"] for _, one, _, _ in rows if one.get("feedback")}
    votes = (
        replace(_vote(task, one, place, _worker(one, wishes.field), asked), shown=shown, model=_model(one))
        for task, one, place, shown in rows
        if wishes.field in (None, one["assessment_name"])
    )
    return with_gold(votes, path.name)


def _assessments(path: Path, key: str | None) -> Iterator[Row]:
    for place, info in _infos(path):
        check(info, INFO, f"{path.name}, {place}", REMEDY)
        task = _task(info, key)
        if not task:
            raise refuse(path.name, place, f"must have {key!r} among its inputs, tags or metadata", task, REMEDY)
        metadata = info.get("trace_metadata") or {}
        shown = json.dumps([metadata.get(INPUTS), metadata.get(OUTPUTS)])
        for k, one in enumerate(info.get("assessments") or ()):
            yield task, one, f"{place}.assessments[{k}]", shown


def _infos(path: Path) -> Iterator[tuple[str, Any]]:
    """What each trace says of itself: traces on lines, in a list, or the rows of a frame of them."""
    text = read_text(path)
    if path.suffix == ".jsonl":
        lines = ((f"line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        found = [(place, parsed(line, f"{path.name}, {place}", REMEDY)) for place, line in lines]
    else:
        whole = parsed(text, path.name, REMEDY)
        found = [(f"[{k}]", one) for k, one in enumerate(whole if isinstance(whole, list) else [whole])]
    for place, trace in found:
        inner = trace.get("trace") if isinstance(trace, dict) else None
        trace = parsed(inner, f"{path.name}, {place}.trace") if isinstance(inner, str) else trace
        yield place, trace.get("info", trace) if isinstance(trace, dict) else trace


def _task(info: dict[str, Any], key: str | None) -> str | None:
    if key is None:
        return scalar(info["trace_id"])
    metadata = info.get("trace_metadata") or {}
    try:
        inputs = json.loads(metadata.get(INPUTS) or "{}")
    except (TypeError, ValueError):  # long inputs are cut
        inputs = {}
    places = (inputs if isinstance(inputs, dict) else {}, info.get("tags") or {}, metadata)
    return next((text for place in places if (text := scalar(place.get(key)))), None)


def _is_person(one: dict[str, Any]) -> bool:
    return bool(one["source"]["source_type"] == PERSON)


def _source(one: dict[str, Any]) -> str:
    return scalar(one["source"].get("source_id")) or one["source"]["source_type"].lower()


def _model(one: dict[str, Any]) -> str:
    """What judged, where it is no person."""
    return "" if _is_person(one) or one.get("feedback") is None else _source(one)


def _worker(one: dict[str, Any], field: str | None) -> str:
    return _source(one) if field or _is_person(one) else one["assessment_name"].strip()


def _vote(task: str, one: dict[str, Any], place: str, worker: str, asked: set[str]) -> Annotation:
    """A feedback as a vote, an expectation as gold; asked: what any feedback answers."""
    name = one["assessment_name"].strip()
    when = scalar(one.get("last_update_time")) or ""
    why = "overridden by a later assessment" if one.get("valid") is False else ""
    if one.get("expectation") is not None:
        why = why or (
            "" if one["assessment_name"] in asked else f"an expectation of {name!r}, which no feedback answers"
        )
        known = verdict(
            task, f"{_source(one)} (expectation)", one["expectation"].get("value"), place, when=when, why=why
        )
        return replace(known, gold=True)
    why = why or ("" if one.get("feedback") is not None else "an issue, and no feedback")
    feedback = one.get("feedback") or {}
    value = None if feedback.get("error") else feedback.get("value")
    return verdict(task, worker, value, place, when=when, why=why, spent=_usage(one.get("metadata") or {}))


def _usage(metadata: dict[str, Any]) -> Usage | None:
    sent, returned, cost = (metadata.get(f"mlflow.assessment.judge{part}") for part in JUDGED)
    return usage_of(sent, returned, cost=cost)


BRIDGE = Bridge(name="mlflow", what="traces: JSON, or JSON lines", read=read_traces)
