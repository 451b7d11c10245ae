"""What an exact search over classes knows at any moment."""

from __future__ import annotations

from dataclasses import dataclass, field

from crowdopt.arrays import Ints
from crowdopt.assign.standing import Solvers, Standing
from crowdopt.crowd.classes import Classes


@dataclass(kw_only=True)
class Search(Standing):
    """A standing over ``classes``; ``sets`` cover a task of a class each: labels of the last plan aimed at."""

    classes: Classes
    sets: list[tuple[int, Ints]] = field(default_factory=list)


__all__ = ["Search", "Solvers"]
