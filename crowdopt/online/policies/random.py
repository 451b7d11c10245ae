"""A comparator without any judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdopt.online.covering import Covering

Floats: TypeAlias = NDArray[np.float64]


@dataclass
class Random(Covering):
    """Any tasks that are not yet covered, at random, whoever comes."""

    ties: str = "random"

    name: ClassVar[str] = "random"
    what: ClassVar[str] = "any uncovered tasks, whoever comes"

    def value(self) -> Floats:
        """All alike."""
        return np.zeros(self.tasks_in.size)


POLICY = Random
