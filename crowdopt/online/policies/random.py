"""A comparator without any judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.online.covering import Covering


@dataclass
class Random(Covering):
    """Any tasks that are not yet covered, at random, for any worker."""

    ties: str = "random"

    name: ClassVar[str] = "random"
    retargets: ClassVar[bool] = True
    what: ClassVar[str] = "any uncovered tasks, for any worker"

    def value(self) -> Floats:
        """Zero for every kind of task, so that ties decide."""
        return np.zeros(self.tasks_in.size)


POLICY = Random
