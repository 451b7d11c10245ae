"""Langfuse's scores: those of evaluators, each a worker by its name, and of people, each by their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from crowdopt.documents import TEXT, Keys, Maybe
from crowdopt.io.bridges.annotations import Annotation, Annotations, one_question, verdict, with_gold
from crowdopt.io.bridges.pushed import Bridge, Wishes
from crowdopt.io.foreign_json import read_rows, refuse, scalar

REMEDY = "give scores as the API has them (GET /api/public/v2/scores, or v3), or as the export of scores to JSON does"
OPEN = Keys(open=True)
SCORE = Keys(
    required={"name": TEXT},
    optional={"metadata": Maybe(OPEN), "subject": Maybe(OPEN)},
    open=True,
)
PERSON = "ANNOTATION"
NOT_A_CLASS = ("TEXT", "CORRECTION")
SUBJECTS = ("observationId", "traceId", "sessionId", "datasetRunId")  # the nearest thing that a score is of


def read_scores(path: Path, wishes: Wishes) -> Annotations:
    """The scores of a file: JSON of the API or of an export, or JSON lines.

    With ``field`` only scores of that name are read. ``key`` names a key of a score's metadata that holds the task's
    id; otherwise it is the observation's or trace's. Free texts are refused, for a label is one class.
    """
    every = read_rows(path, SCORE, REMEDY, _inside)
    scores = [(place, one) for place, one in every if wishes.field in (None, one["name"].strip())]
    answers = [one for _, one in scores if _is_person(one) and one.get("dataType") not in NOT_A_CLASS]
    one_question(((_worker(one), one["name"].strip()) for one in answers), path.name)
    return with_gold((_vote(one, place, path.name, wishes.key) for place, one in scores), path.name)


def _inside(found: Any) -> tuple[str, Any]:
    return ("data", found["data"]) if isinstance(found, dict) and "data" in found else ("", found)


def _is_person(score: dict[str, Any]) -> bool:
    return score.get("source") == PERSON


def _source(score: dict[str, Any]) -> str:
    """What gave a score, in the tool's word; nothing of people who are known by their own names."""
    return "" if _is_person(score) and scalar(score.get("authorUserId")) else scalar(score.get("source")) or ""


def _worker(score: dict[str, Any]) -> str:
    return (scalar(score.get("authorUserId")) if _is_person(score) else None) or score["name"].strip()


def _vote(score: dict[str, Any], place: str, source: str, key: str | None) -> Annotation:
    task = _task(score, key)
    if not task:
        raise refuse(source, place, f"must have the {key or 'trace'} that it is of", task, REMEDY)
    when = scalar(score.get("timestamp")) or ""
    kind = score.get("dataType")
    why = f"a text ({kind}), and no class" if kind in NOT_A_CLASS else ""
    return replace(verdict(task, _worker(score), _value(score), place, when=when, why=why), model=_source(score))


def _task(score: dict[str, Any], key: str | None) -> str | None:
    if key is not None:
        return scalar((score.get("metadata") or {}).get(key))
    subject = score.get("subject") or {}
    return next((text for one in (subject.get("id"), *map(score.get, SUBJECTS)) if (text := scalar(one))), None)


def _value(score: dict[str, Any]) -> Any:
    """The category's name; true or false where the score is one, which older versions keep as 1 and 0."""
    value, kind = score.get("value"), score.get("dataType")
    if kind == "BOOLEAN" and value in (0, 1):
        return bool(value)
    text = score.get("stringValue")
    return text if kind == "CATEGORICAL" and text is not None else value


BRIDGE = Bridge(name="langfuse", what="scores: JSON of its API, or an export", read=read_scores)
