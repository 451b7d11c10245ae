"""What happened, one row of the history; the state of a campaign follows from these rows and its folder alone."""

from __future__ import annotations

from dataclasses import dataclass

BEGAN = "began"  # value: the settings
ENROLLED = "enrolled"  # a worker came for the first time
DECIDED = "decided"  # what the policy asks of a worker, or who is asked about a task; value: what exactly
LEASED = "leased"  # a task was handed to a worker; value: until when
TOLD = "told"  # value: the label
CORRECTED = "corrected"  # a worker takes a label back for another one, which is the value
BROUGHT = "brought"  # a label that was given elsewhere and was not asked for; value: the label
SKIPPED = "skipped"  # a worker gave a task back
EXPIRED = "expired"  # a worker's time is over: their leases and what else was meant for them are free again
AGAIN = "again"  # value of that: the worker may have what they were never handed; older histories have none
ARRIVED = "arrived"  # a task came; value: its type
DRAWN = "drawn"  # answers that an expert is to look at; value: the price of a look, and which tasks
REMOVED = "removed"  # a worker is to be asked no more
DOORS_SHUT = "doors-shut"  # no worker will come who has not come yet
PAUSED, RESUMED = "paused", "resumed"
RETARGETED = "retargeted"  # value: the chance of a wrong answer that every task may have from now on

EXPERT = ""  # the worker of a lease that the expert has: no worker has that name


@dataclass(frozen=True, slots=True)
class Event:
    """One row of a history."""

    number: int  # from 1, without gaps
    at: float  # seconds since 1970, never before the event before
    kind: str
    worker: str = ""
    task: str = ""
    lease: int = 0  # number of the event that leased the task
    value: str = ""
