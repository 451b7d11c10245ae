"""The paper's algorithm with vetting (Liu & Liu 2015, Section 3.5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Ints
from crowdopt.core.resumable import Arrays
from crowdopt.errors import InputError
from crowdopt.labelers.exploring import Exploring
from crowdopt.labelers.task_arrivals import KnownLabelers

FEWEST = 3  # a majority of fewer says nothing about any of them


@dataclass
class LsOlVetting(Exploring):
    """LS_OL that drops who differs most from the majority, once ``exp(-N gap^2 / 2)`` is below a threshold.

    N labels of testers by the present labelers, of which the worst differed from the majority in a share that is
    ``gap`` above the next worst's. Counting starts anew when a labeler has been dropped.
    """

    threshold: float = 0.1  # chance of a wrong rank that is accepted
    most: int = 1  # most labelers to drop

    name: ClassVar[str] = "ls-ol-vetting"
    what: ClassVar[str] = "the same, dropping who disagrees with the majority most (Section 3.5.3)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.threshold < 1 or self.most < 0:
            raise InputError(f"policy {self.name}: threshold must lie between 0 and 1, and most must be at least 0")

    def start(self, known: KnownLabelers) -> None:
        """Begin with all labelers."""
        self.active = np.ones(known.labelers, bool)
        self.differed, self.votes = np.zeros(known.labelers, np.int64), np.zeros(1, np.int64)
        self.dropped: list[tuple[int, int]] = []
        super().start(known)

    @property
    def asked(self) -> Ints:
        """The labelers who were not dropped, ascending."""
        return np.flatnonzero(self.active)

    def count_disagreement(self, labels: Ints, vote: int) -> None:
        """Another vote; drop the worst if their rank is sure enough."""
        present = self.asked
        self.differed[present] += (labels >= 0) & (labels != vote)
        self.votes += 1
        if len(self.dropped) >= self.most or present.size <= FEWEST - 1:
            return
        order = present[np.argsort(-self.differed[present], kind="stable")]
        gap = (self.differed[order[0]] - self.differed[order[1]]) / self.votes[0]
        if gap > 0 and np.exp(-self.votes[0] * gap**2 / 2) < self.threshold:
            self.active[order[0]] = False
            self.dropped.append((int(order[0]), self._now))
            self.differed[:] = 0
            self.votes[:] = 0
            self._kept.clear()

    def notes(self) -> list[str]:
        """Who was dropped, and when."""
        return [
            *super().notes(),
            *(f"{self.known.names[who]} was dropped at step {when}" for who, when in self.dropped),
        ]

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Counts, and who is left."""
        own = {"active": self.active.copy(), "differed": self.differed.copy(), "votes": self.votes.copy()}
        return {**super().snapshot(), **own, "dropped": np.array(self.dropped, np.int64).reshape(-1, 2)}

    def restore(self, arrays: Arrays) -> None:
        """Take the tallies and who is left from a snapshot."""
        super().restore(arrays)
        self.active, self.differed = np.array(arrays["active"]), np.array(arrays["differed"])
        self.votes = np.array(arrays["votes"])
        self.dropped = [(int(who), int(when)) for who, when in arrays["dropped"]]


POLICY = LsOlVetting
