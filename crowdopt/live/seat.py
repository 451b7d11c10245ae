"""A worker's place in a campaign that runs: what they are asked now, and what came of it so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crowdopt.arrays import Ints
from crowdopt.online.arrivals import Arrival, Decision


@dataclass(eq=False)
class Seat:
    """A worker who has come, by the column of the instance that is theirs."""

    worker: str
    place: int
    number: int = -1  # of the arrival; -1: they were not met yet
    preliminary: bool = False
    arrival: Arrival | None = None
    rng: np.random.Generator | None = None
    own: dict[str, Any] = field(default_factory=dict)  # what the policy holds of them between their turns
    decision: Decision | None = None
    queue: list[int] = field(default_factory=list)  # places in ``asked`` that were not handed out yet
    asked: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # tasks of the decision, or gold tasks
    got: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # classes; REFUSED where none came
    out: dict[int, int] = field(default_factory=dict)  # lease -> place in ``asked``
    gold_done: list[Ints] = field(default_factory=list)  # gold tasks they had, by type
    over: bool = False  # nothing more will be asked of them
    refused_at: int = -1  # labels in the campaign when nothing was worth asking, though labels were out
    removed: bool = False
    repairs: list[int] = field(default_factory=list)  # places in the repair that wait for them

    @property
    def ready(self) -> bool:
        """Whether all that was asked is in."""
        return self.decision is not None and not self.queue and not self.out
