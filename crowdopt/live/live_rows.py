"""What a campaign that runs shows of itself, row by row."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Lease:
    """What a worker was asked: one label of one task.

    Parameters
    ----------
    id : int
        Number of the event that leased it; what a label is told for.
    worker, task : str
    until : float
        Seconds since 1970; a label that comes later is kept and paid, and flagged as late.
    """

    id: int
    worker: str
    task: str
    until: float


@dataclass(frozen=True, slots=True)
class ToldLabel:
    """What became of a label that was told.

    Parameters
    ----------
    lease : int
    label : str
        The label that counts: of a lease that was told twice, the first.
    late : bool
        Whether the lease was over when the label came.
    repeated : bool
        Whether the lease had a label already: nothing has changed.
    """

    lease: int
    label: str
    late: bool = False
    repeated: bool = False
