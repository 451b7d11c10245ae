"""A comparator without any judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdopt.online.covering import Covering


@dataclass
class Random(Covering):
    """Any tasks that are not yet covered, at random, for any worker."""

    ties: str = "random"

    name: ClassVar[str] = "random"
    retargets: ClassVar[bool] = True
    what: ClassVar[str] = "any uncovered tasks, for any worker"


POLICY = Random
