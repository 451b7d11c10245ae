"""A comparator that looks at tasks only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.online.covering import Covering

Floats: TypeAlias = NDArray[np.float64]


@dataclass
class LeastCovered(Covering):
    """The tasks that lack most, whoever comes."""

    name: ClassVar[str] = "least-covered"
    what: ClassVar[str] = "the tasks that lack most, whoever comes"

    def value(self) -> Floats:
        """All alike: ties decide."""
        return np.zeros(self.tasks_in.size)


POLICY = LeastCovered
