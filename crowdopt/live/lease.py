"""A task in a worker's hands, until it is told or its time is over."""

from __future__ import annotations

from dataclasses import dataclass


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
