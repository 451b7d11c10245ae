"""A comparator that looks at tasks only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdopt.online.covering import Covering


@dataclass
class LeastCovered(Covering):
    """The tasks that lack most, for any worker."""

    name: ClassVar[str] = "least-covered"
    retargets: ClassVar[bool] = True
    what: ClassVar[str] = "the tasks that lack most, for any worker"


POLICY = LeastCovered
