"""Tasks by kind: what all tasks of a kind share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.instance import AssignmentInstance


@dataclass(frozen=True, eq=False)
class KindsOfTasks:
    """Tasks of a kind are alike in type, target, prior and in who may label them."""

    instance: AssignmentInstance
    kind: Ints  # (tasks,)
    first: Ints  # (kinds,): one task of each kind

    @property
    def of_type(self) -> Ints:
        """Type of each kind, (kinds,)."""
        return self.instance.task_type[self.first]

    @property
    def epsilon(self) -> Floats:
        """Target of each kind, (kinds,)."""
        return self.instance.epsilon[self.first]

    @property
    def tasks_in(self) -> Ints:
        """Tasks of each kind, (kinds,)."""
        return np.bincount(self.kind, minlength=self.first.size)
