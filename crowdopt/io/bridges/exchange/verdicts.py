"""What a judge's log says of one item: a class, nothing, or something that is no class."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import Any

from crowdopt.documents import shown
from crowdopt.errors import InputError
from crowdopt.io.bridges.exchange.annotations import Annotation
from crowdopt.io.bridges.exchange.token_usage import Usage
from crowdopt.io.tables.foreign_json import scalar

PASSED, FAILED = "pass", "fail"


def is_silent(value: Any) -> bool:
    """Whether a value stands for no answer: null, NaN, a text of blanks."""
    return (
        value is None or (isinstance(value, float) and isnan(value)) or (isinstance(value, str) and not value.strip())
    )


def verdict(
    task: str, worker: str, value: Any, place: str, *, spent: Usage | None = None, when: str = "", why: str = ""
) -> Annotation:
    """A judge's vote: the value as a class, an abstention where it is silent, refused where it is no single value.

    why: why the vote cannot count whatever its value is, where that is known.
    """
    label = "" if is_silent(value) else scalar(value)
    refused = why or (f"{shown(value)} is no single value" if label is None else "")
    return Annotation(
        task=task,
        worker=worker,
        label=label or "",
        when=when,
        cancelled=not label and not refused,
        place=place,
        refused=refused,
        usage=spent,
    )


def passed(value: Any) -> Any:
    """The words for true and false; anything else as it is."""
    return (PASSED if value else FAILED) if isinstance(value, bool) else value


def one_question(asked: Iterable[tuple[str, str]], source: str) -> None:
    """Refuse people who answered several questions where none is chosen. asked: (person, question) of each answer."""
    first: dict[str, str] = {}
    for person, question in asked:
        if first.setdefault(person, question) != question:
            raise InputError(
                f"{source}: {person} answered {first[person]!r} and {question!r}; choose one of them with --field"
            )
