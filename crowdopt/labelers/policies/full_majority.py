"""The comparator that learns nothing: all labelers, every time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.crowd.labels import WORK
from crowdopt.labelers.policy import Fixed
from crowdopt.labelers.task_arrivals import Ask, TaskArrival


@dataclass
class FullMajority(Fixed):
    """The simple majority of all labelers."""

    name: ClassVar[str] = "full-majority"
    what: ClassVar[str] = "all labelers, one vote each"

    def chosen(self, arrival: TaskArrival) -> Ask:
        """All labelers."""
        return Ask(WORK, self.rest(arrival), np.arange(self.known.labelers))


POLICY = FullMajority
