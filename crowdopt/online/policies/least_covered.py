"""A comparator that looks at tasks only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.online.covering import Covering


@dataclass
class LeastCovered(Covering):
    """The tasks that lack most, for any worker."""

    name: ClassVar[str] = "least-covered"
    retargets: ClassVar[bool] = True
    what: ClassVar[str] = "the tasks that lack most, for any worker"

    def value(self) -> Floats:
        """Zero for every kind of task, so that ties decide."""
        return np.zeros(self.tasks_in.size)


POLICY = LeastCovered
