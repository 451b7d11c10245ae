"""The paper's algorithm as printed (Liu & Liu 2015, Figure 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdopt.labelers.exploring import Exploring


@dataclass
class LsOl(Exploring):
    """While testers or their labels are too few: a new tester, or an old one again; else the top-m set that seems best.

    A labeler's skill is the share of testers on which their first label is the majority of all rounds.
    """

    name: ClassVar[str] = "ls-ol"
    what: ClassVar[str] = "testers labelled by all until skills are known, then the best majority (Liu & Liu 2015)"


POLICY = LsOl
