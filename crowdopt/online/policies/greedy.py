"""A comparator that looks at skill only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.online.covering import Covering


@dataclass
class Greedy(Covering):
    """Each worker who knows anything gets as many uncovered tasks as they take, what they do best per cost first."""

    least: float = 1e-3  # evidence per cost below which a label is not bought

    name: ClassVar[str] = "greedy"
    retargets: ClassVar[bool] = True
    what: ClassVar[str] = "uncovered tasks by the worker's own skill, no price"

    def value(self) -> Floats:
        """Evidence per unit of cost, by kind of task."""
        rate = self.evidence / np.maximum(self.cost, 1e-12)
        return np.where(rate > self.least, rate, -1.0)


POLICY = Greedy
