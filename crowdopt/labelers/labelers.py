"""Who can be asked when tasks arrive: how often each labeler is right on each kind of task, and what a label costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.checks import chances
from crowdopt.errors import InputError


@dataclass(frozen=True, eq=False)
class Labelers:
    """Who can be asked, and how often each is right."""

    accuracy: Floats  # (kinds, labelers): p of each kind of task; one row: it does not depend on the task
    cost: Floats  # (labelers,): c, what a label is paid
    classes: int = 2  # L; wrong labels fall evenly on the other classes
    # given, the context of a task is a number in [0, 1] and skills are linear between these, ascending
    at: Floats | None = None  # (kinds,)
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        p, c = chances("accuracy", self.accuracy), np.asarray(self.cost, dtype=np.float64)
        if p.ndim != 2 or p.size == 0 or not ((p >= 0) & (p <= 1)).all():
            raise InputError("accuracies must be a table (kinds, labelers) of numbers in [0, 1]")
        if c.shape != p.shape[1:] or not (np.isfinite(c) & (c >= 0)).all():
            raise InputError("each labeler needs a cost, a number of at least 0")
        if self.classes < 2:
            raise InputError(f"a label chooses among at least 2 classes, not {self.classes}")
        if self.at is not None and (self.at.size != len(p) or not (np.diff(self.at) > 0).all()):
            raise InputError("contexts at which skills are given must ascend, one for each row of accuracies")
        object.__setattr__(self, "accuracy", p)
        object.__setattr__(self, "cost", c)
        if not self.names:
            object.__setattr__(self, "names", tuple(map(str, range(c.size))))

    @property
    def count(self) -> int:
        """Labelers, M."""
        return self.cost.size

    @property
    def kinds(self) -> int:
        """Kinds of task, W; 0 where the context is a number."""
        return len(self.accuracy) if self.at is None else 0

    def skill(self, context: NDArray[Any]) -> Floats:
        """Chance of a right label in each context, (contexts, labelers)."""
        if self.at is None:
            return self.accuracy[np.asarray(context, dtype=np.int64)]
        return np.column_stack([np.interp(context, self.at, column) for column in self.accuracy.T])

    def ordered(self, order: Ints) -> Labelers:
        """The same labelers in another order."""
        names = tuple(self.names[k] for k in order.tolist())
        return replace(self, accuracy=self.accuracy[:, order], cost=self.cost[order], names=names)
