"""The paper's algorithm where skills depend on the task (Liu & Liu 2015, Section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Ints
from crowdopt.core.resumable import Arrays
from crowdopt.errors import InputError
from crowdopt.labelers.exploring import Exploring
from crowdopt.labelers.task_arrivals import KnownLabelers, TaskArrival


@dataclass
class LsOlContext(Exploring):
    """LS_OL for each kind of task apart; contexts in [0, 1] are cut into intervals, more and more of them.

    The paper leaves v(t) open. Here it is the largest power of two up to t^z, so that intervals are halved and testers
    stay in theirs, and each has D1 = g1 ln t testers: of all intervals O(t^z ln t), as Section 5 wants it. Section 5
    lets D2 grow like that too. Here it stays g2 ln t: with so many labels a tester's majority is wrong with a chance
    that falls as in Section 3, and a repeat earns a guess. Exploration is O(t^z ln^2 t), in place of O(t^2z ln^2 t).
    """

    z: float = 0.25  # between 0 and 1; for contexts in [0, 1] only

    name: ClassVar[str] = "ls-ol-context"
    what: ClassVar[str] = "the same for each kind of task, or for finer and finer intervals of a context (Section 5)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.z < 1:
            raise InputError(f"policy {self.name}: z must lie between 0 and 1, not {self.z}")

    def start(self, known: KnownLabelers) -> None:
        """One cell for each kind, or one interval."""
        self.intervals = 1
        super().start(known)

    def cells(self) -> int:
        """The number of kinds, W, or of intervals, v(t)."""
        return self.known.kinds or self.intervals

    def cell(self, arrival: TaskArrival) -> int:
        """The task's kind, or the interval that its context lies in."""
        return int(arrival.context) if self.known.kinds else int(self._interval(np.array([arrival.context]))[0])

    def see(self, arrival: TaskArrival) -> None:
        """Halve the intervals when it is time."""
        if not self.known.kinds and arrival.number > 0:
            wanted = 1 << int(np.floor(self.z * np.log2(arrival.number) + 1e-9))
            if wanted > self.intervals:
                self.intervals = wanted
                held = self.testers.context[: self.testers.count]
                self.testers.sorted_into(self._interval(held), wanted)
                self._kept.clear()
        super().see(arrival)

    def notes(self) -> list[str]:
        """Where it leaves Section 5: of intervals alone."""
        if self.known.kinds:
            return super().notes()
        paper = "each interval has its own D1, so that all testers grow as t^z ln t; Section 5 has D2 grow so too"
        return [*super().notes(), f"{paper}, here it does not, for repeats cost a guess each"]

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The testers' tallies and the number of intervals."""
        return {**super().snapshot(), "intervals": np.array([self.intervals])}

    def restore(self, arrays: Arrays) -> None:
        """Take the tallies and the number of intervals from a snapshot."""
        super().restore(arrays)
        self.intervals = int(arrays["intervals"][0])

    def _interval(self, contexts: NDArray[Any]) -> Ints:
        return np.clip((contexts * self.intervals).astype(np.int64), 0, self.intervals - 1)


POLICY = LsOlContext
