"""What a campaign that runs shows of itself, row by row."""

from __future__ import annotations

from typing import NamedTuple


class AnswerRow(NamedTuple):
    """The answer to a task; empty: there is none yet. claim: chance that it is wrong, as believed; None: not known.

    looked: whether an expert told it.
    """

    task: str
    answer: str
    claim: float | None
    labels: int
    looked: bool = False


class LookRow(NamedTuple):
    """An answer that an expert looks at; status: waiting, out, told, or passed, where the expert could not tell."""

    task: str
    status: str
    answer: str  # that the labels had led to
    label: str  # that the expert told; empty: none yet
    paid: float


class WorkerRow(NamedTuple):
    """A worker who came; skill: chance of a right label by type, as believed; None: not known."""

    worker: str
    labels: int
    paid: float
    out: int
    status: str  # here, away, done, removed
    skill: list[float] | None
    skill_range: list[tuple[float, float]] | None = None  # by type, what holds the skill with a chance of .9
