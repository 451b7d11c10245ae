"""A rule of thumb while workers come: so many labels, so many that agree, or a lead, for each task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Entry, Known, Late
from crowdopt.online.covering import Covering, Here, Ids

USUAL = 3  # labels of a task, where nothing is said


@dataclass
class ByRule(Covering):
    """Labels for a task until it has ``overlap``, its first ``agree`` agree, or a class leads by ``lead``; at ``most``.

    What a label is worth is not looked at; the answer has the most votes.
    """

    overlap: int = 0
    agree: int = 0
    lead: int = 0
    most: int = 0
    aggregate: str = "majority"

    name: ClassVar[str] = "rule"
    amends: ClassVar[bool] = False
    what: ClassVar[str] = "a rule of thumb: overlap=3, agree=4:most=9 or lead=2:most=7"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.overlap = self.overlap or (0 if self.agree or self.lead or self.most else USUAL)
        given = [name for name in ("overlap", "agree", "lead") if getattr(self, name) > 0]
        if len(given) != 1 or min(self.overlap, self.agree, self.lead, self.most) < 0:
            raise InputError("policy rule: give one of overlap, agree and lead, such as rule:agree=4:most=9")
        if (given != ["overlap"]) != (self.most > 0) or (self.most and self.most < max(self.agree, self.lead)):
            raise InputError("policy rule: agree and lead take the most labels of a task too, no fewer: most=9")

    def worth(self, accuracy: Floats) -> Floats:
        """Every label counts one."""
        return np.ones_like(accuracy)

    def start(self, known: Known, solve: Solve) -> None:
        """No task has a label."""
        super().start(known, solve)
        self.votes = np.zeros((known.n_tasks, known.classes), np.int64)
        self.wanted = known.need > 0
        self._count(np.arange(known.n_tasks))

    def came(self, here: Here, tasks: Ids, labels: Ints) -> None:
        """Votes are counted."""
        np.add.at(self.votes, (tasks, labels), 1)
        self._count(tasks)

    def hear(self, entry: Entry) -> bool:
        """A late label is a vote."""
        if isinstance(entry, Late):
            self.votes[entry.task, entry.label] += 1
            self._count(np.array([entry.task]))
            return False
        return super().hear(entry)

    def _count(self, tasks: Ids) -> None:
        """How many labels each task has, and the fewest that it still needs."""
        votes = np.sort(self.votes[tasks], axis=1)
        had, top, second = votes.sum(axis=1), votes[:, -1], votes[:, -2]
        if self.overlap:
            more = np.maximum(0, self.overlap - had)
        elif self.agree:
            more = np.where(top == had, np.maximum(0, self.agree - had), np.maximum(0, self.most - had))
        else:
            more = np.clip(self.lead - (top - second), 0, np.maximum(0, self.most - had))
        self.covered[tasks], self.need = had, self.need.copy()
        self.need[tasks] = had + more
        self.open[tasks] = (more > 0) & self.wanted[tasks]


POLICY = ByRule
