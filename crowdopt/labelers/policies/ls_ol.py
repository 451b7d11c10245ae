"""The paper's algorithm (Liu & Liu 2015): as printed, with weighted votes, by context, and with vetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import WORK
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError
from crowdopt.labelers.arrivals import Ask, KnownLabelers, TaskArrival
from crowdopt.labelers.exploring import Exploring
from crowdopt.labelers.sets import bought_set


@dataclass
class LsOl(Exploring):
    """While testers or their labels are too few: a new tester, or an old one again; else the top-m set that seems best.

    A labeler's skill is the share of testers on which their first label is the majority of all rounds.
    """

    name: ClassVar[str] = "ls-ol"
    what: ClassVar[str] = "testers labelled by all until skills are known, then the best majority (Liu & Liu 2015)"


LEAST_C = 2.0  # C = max 1 / min(p, 1 - p) is never below it
WARM = 10  # testers before which estimates weigh nothing


@dataclass
class LsOlWeighted(Exploring):
    """LS_OL whose exploitation weighs each vote by ``ln(p' / (1 - p'))``.

    With such weights no labeler harms, so all are asked; with a price only those who are worth it.
    """

    tolerance: float = 0.0  # sums of weights this close count as equal sets, and a coin decides
    price: float = 0.0  # accuracy that a unit of money is worth; 0: labels are free
    c: float = LEAST_C  # C of the revised constant; used with printed or tight constants
    # whether testers are voted on by the same weights, once there are ten of them: a better a_min, says Section 4
    weigh_testers: bool = False

    name: ClassVar[str] = "ls-ol-weighted"
    what: ClassVar[str] = "the same, votes weighted by estimated log-odds (Section 4)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tolerance < 0 or self.price < 0 or self.c < LEAST_C:
            raise InputError(f"policy {self.name}: tolerance and price must be at least 0, and c at least {LEAST_C:g}")

    def weighted_constant(self) -> float:
        """The constant C of Theorem 5, an option."""
        return self.c

    def weight(self, cell: int) -> Floats:
        """``ln(p' / (1 - p')) + ln(L - 1)`` of all, (labelers,), p' within [.5/N, 1 - .5/N] by N testers."""
        half = 0.5 / np.maximum(self.testers.seen[cell], 1)
        return log_odds(self.testers.accuracy()[cell], self.known.classes, half)

    def tester_weight(self, cell: int) -> Floats | None:
        """Log-odds of those asked, where testers' votes are to be weighted; None: one each."""
        if not self.weigh_testers or self.testers.per_cell[cell] < WARM:
            return None
        return self.weight(cell)[self.asked]

    def best(self, cell: int) -> Ask:
        """All, or those worth their price."""
        weight = self.weight(cell)
        members = bought_set(1 / (1 + np.exp(-weight)), self.known.cost, self.price, "weighted", self.known.classes)
        return Ask(WORK, np.zeros(0, np.int64), members, weight[members], self.tolerance)


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

    def notes(self) -> list[str]:
        """Where it leaves Section 5: of intervals alone."""
        if self.known.kinds:
            return super().notes()
        paper = "each interval has its own D1, so that all testers grow as t^z ln t; Section 5 has D2 grow so too"
        return [*super().notes(), f"{paper}, here it does not, for repeats cost a guess each"]

    def _interval(self, contexts: NDArray[Any]) -> Ints:
        return np.clip((contexts * self.intervals).astype(np.int64), 0, self.intervals - 1)


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

    def count_disagreement(self, labels: Ints, vote: int, now: int) -> None:
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
            self.dropped.append((int(order[0]), now))
            self.differed[:] = 0
            self.votes[:] = 0
            self._kept.clear()

    def notes(self) -> list[str]:
        """Who was dropped, and when."""
        return [
            *super().notes(),
            *(f"{self.known.names[who]} was dropped at step {when}" for who, when in self.dropped),
        ]


POLICY = (LsOl, LsOlWeighted, LsOlContext, LsOlVetting)
