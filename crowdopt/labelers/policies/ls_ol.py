"""The paper's algorithm (Liu & Liu 2015): as printed, with weighted votes, by context, and with vetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import REPEAT, TESTER, WORK
from crowdopt.crowd.rules import log_odds
from crowdopt.errors import InputError, refuse_unless
from crowdopt.labelers import theorems
from crowdopt.labelers.arrivals import Ask, KnownLabelers, TaskArrival
from crowdopt.labelers.asking import BaseLabelerPolicy, Chance
from crowdopt.labelers.sets import best_set, bought_set
from crowdopt.labelers.testers import Testers
from crowdopt.labelers.theorems import warnings

CONSTANTS = ("direct", "printed", "tight")
LEAST_C = 2.0  # C = max 1 / min(p, 1 - p) is never below it
WARM = 10  # testers before which estimates weigh nothing
FEWEST = 3  # a majority of fewer says nothing about any of them
OF_VARIANTS = {
    "weighted": ("tolerance", "price", "c", "weigh_testers"),
    "contexts": ("z",),
    "vetting": ("threshold", "most"),
}


@dataclass
class LsOl(BaseLabelerPolicy):
    """While testers or their labels are too few: a new tester, or an old one again; else the top-m set that seems best.

    A labeler's skill is the share of testers on which their first label is the majority of all rounds.

    *Weighted* (Section 4): each vote weighs ``ln(p' / (1 - p'))``; with such weights no labeler harms, so all are
    asked, with a price only those who are worth it.

    *Contexts* (Section 5): each kind of task is learnt apart; contexts in [0, 1] are cut into intervals, more and more
    of them. The paper leaves v(t) open. Here it is the largest power of two up to t^z, so that intervals are halved and
    testers stay in theirs, and each has D1 = g1 ln t testers: of all intervals O(t^z ln t), as Section 5 wants it.
    Section 5 lets D2 grow like that too. Here it stays g2 ln t: with so many labels a tester's majority is wrong with a
    chance that falls as in Section 3, and a repeat earns a guess. Exploration is O(t^z ln^2 t), in place of
    O(t^2z ln^2 t).

    *Vetting* (Section 3.5.3): who differs most from the majority is dropped, once ``exp(-N gap^2 / 2)`` is below a
    threshold: N labels of testers by the present labelers, of which the worst differed from the majority in a share
    that is ``gap`` above the next worst's. Counting starts anew when a labeler has been dropped.
    """

    # ``direct``: D1 = g1 ln t, D2 = g2 ln t. ``printed``, ``tight``: from epsilon, alpha and a_min
    constants: str = "direct"
    g1: float = 20.0
    g2: float = 0.1
    # of the printed and the tight constant; 0: as the theorems presume them known, from the true skills
    epsilon: float = 0.0
    a_min: float = 0.0
    alpha: float = 0.0  # as a share of its limit
    eta: float = 0.0  # above 0, epsilon is unknown: epsilon_t = 1 / ln^eta t, and ln^(1 + 2 eta) t stands for ln t
    # most steps between two labels of a tester; each waits for 1 to so many, and meanwhile work goes on. 0: none
    delay: int = 0
    weighted: bool = False
    tolerance: float = 0.0  # sums of weights this close count as equal sets, and a coin decides
    price: float = 0.0  # accuracy that a unit of money is worth; 0: labels are free
    c: float = LEAST_C  # C of the revised constant of Theorem 5; used with printed or tight constants
    # whether testers are voted on by the same weights, once there are ten of them: a better a_min, says Section 4
    weigh_testers: bool = False
    contexts: bool = False
    z: float = 0.25  # between 0 and 1; for contexts in [0, 1] only
    vetting: bool = False
    threshold: float = 0.1  # chance of a wrong rank that is accepted
    most: int = 1  # most labelers to drop

    name: ClassVar[str] = "ls-ol"
    what: ClassVar[str] = "testers labelled by all until skills are known, then the best majority (Liu & Liu 2015)"
    begins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.constants not in CONSTANTS:
            raise InputError(f"policy {self.name}: option constants is one of {', '.join(CONSTANTS)}")
        numbers = {key: getattr(self, key) for key in ("g1", "g2", "epsilon", "a_min", "alpha", "eta", "delay")}
        for key, value in numbers.items():
            if not 0 <= value < np.inf:
                raise InputError(f"policy {self.name}: option {key.replace('_', '-')} must be at least 0, not {value}")
        tests = {
            f"tolerance and price must be at least 0, and c at least {LEAST_C:g}": (
                self.tolerance >= 0 and self.price >= 0 and self.c >= LEAST_C
            ),
            f"z must lie between 0 and 1, not {self.z}": 0 < self.z < 1,
            "threshold must lie between 0 and 1, and most must be at least 0": 0 < self.threshold < 1 <= self.most + 1,
        }
        for variant, options in OF_VARIANTS.items():
            for key in options:
                kept = getattr(self, variant) or getattr(self, key) == getattr(LsOl, key)
                tests[f"option {key.replace('_', '-')} needs {variant}=yes"] = kept
        refuse_unless({f"policy {self.name}: {says}": holds for says, holds in tests.items()})

    def start(self, known: KnownLabelers) -> None:
        """Work out D1(t) and D2(t) up to the horizon."""
        self.known = known
        self.used = self._constants(known)
        self.d1 = theorems.steps(self.used[0], known.horizon, self.eta)
        self.d2 = theorems.steps(self.used[1], known.horizon, self.eta)
        if not known.repeats:
            self.d2 = np.zeros_like(self.d2)  # one round a tester
        self.intervals = 1
        self.active = np.ones(known.labelers, bool)
        self.differed, self.votes = np.zeros(known.labelers, np.int64), 0
        self.dropped: list[tuple[int, int]] = []
        cells = known.kinds or self.intervals if self.contexts else 1  # W, or v(t): parts that are learnt apart
        self.testers = Testers(cells, known.labelers, known.classes)
        self._kept: dict[int, Ask] = {}

    def cell(self, arrival: TaskArrival) -> int:
        """The part that a task belongs to: its kind, or the interval that its context lies in."""
        if not self.contexts:
            return 0
        return int(arrival.context) if self.known.kinds else int(self._interval(np.array([arrival.context]))[0])

    @property
    def asked(self) -> Ints:
        """The labelers who label testers, ascending: all who were not dropped."""
        return np.flatnonzero(self.active)

    def decide(self, arrival: TaskArrival, chance: Chance) -> Ask:
        """Explore if testers or labels are too few for this hour, else exploit until they will be."""
        self.see(arrival)
        t, cell = arrival.number, self.cell(arrival)
        here = np.array([t])
        few = self.testers.under(self.d2[t], cell)
        if few.size:
            due = few[self.testers.ready[few] <= t] if self.delay else few
            if due.size:
                place = due[self._one_of(due.size, chance)]
                return Ask(REPEAT, self.testers.task[place, None], self.asked, self.tester_weight(cell))
        elif self.testers.per_cell[cell] <= self.d1[t]:
            return Ask(TESTER, here, self.asked, self.tester_weight(cell))
        steps = 1 if few.size or self.testers.per_cell.size > 1 else self._steps(t)
        return self._work(cell, np.arange(t, t + steps))

    def learn(self, arrival: TaskArrival, ask: Ask, labels: Ints, votes: Ints, chance: Chance) -> None:
        """Testers' labels; those of work say nothing about the truth and are not used."""
        if ask.kind == WORK:
            return
        now = arrival.number
        later = now + 1 + int(chance().integers(0, self.delay)) if self.delay else 0
        task, vote = int(ask.tasks[0]), int(votes[0])
        first = np.full(self.known.labelers, -1, np.int64)
        first[ask.workers] = labels[0]
        if ask.kind == TESTER:
            self.testers.add(task, self.cell(arrival), float(arrival.context), first, vote, later)
            changed = True
        else:
            changed = self.testers.repeat(self.testers.place_of(task), vote, float(chance().random()), later)
        self.count_disagreement(first[self.asked], vote, now)
        if changed:
            self._kept.clear()

    def weight(self, cell: int) -> Floats:
        """``ln(p' / (1 - p')) + ln(L - 1)`` of all, (labelers,), p' within [.5/N, 1 - .5/N] by N testers."""
        half = 0.5 / np.maximum(self.testers.seen[cell], 1)
        return log_odds(self.testers.accuracy()[cell], self.known.classes, half)

    def tester_weight(self, cell: int) -> Floats | None:
        """What each vote of those asked about a tester weighs; None: one, as printed."""
        if not (self.weighted and self.weigh_testers) or self.testers.per_cell[cell] < WARM:
            return None
        return self.weight(cell)[self.asked]

    def count_disagreement(self, labels: Ints, vote: int, now: int) -> None:
        """Another vote; drop the worst if their rank is sure enough."""
        if not self.vetting:
            return
        present = self.asked
        self.differed[present] += (labels >= 0) & (labels != vote)
        self.votes += 1
        if len(self.dropped) >= self.most or present.size <= FEWEST - 1:
            return
        order = present[np.argsort(-self.differed[present], kind="stable")]
        gap = (self.differed[order[0]] - self.differed[order[1]]) / self.votes
        if gap > 0 and np.exp(-self.votes * gap**2 / 2) < self.threshold:
            self.active[order[0]] = False
            self.dropped.append((int(order[0]), now))
            self.differed[:], self.votes = 0, 0
            self._kept.clear()

    def chosen(self, arrival: TaskArrival) -> Ask:
        """The best set by the estimates of now."""
        return self._work(self.cell(arrival), np.array([arrival.number]))

    def best(self, cell: int) -> Ask:
        """Argmax of the estimated utility over the top-m sets; with weights all, or those worth their price."""
        asked, none = self.asked, np.zeros(0, np.int64)
        if not self.weighted:
            members, _ = best_set(self.testers.accuracy()[cell, asked], self.known.classes)
            return Ask(WORK, none, asked[members])
        weight, cost = self.weight(cell)[asked], self.known.cost[asked]
        members = bought_set(1 / (1 + np.exp(-weight)), cost, self.price, "weighted", self.known.classes)
        return Ask(WORK, none, asked[members], weight[members], self.tolerance)

    def skills(self) -> Floats:
        """Estimated chances of a right label, ``p'``, (cells, labelers)."""
        return self.testers.accuracy()

    def beforehand(self) -> int:
        """Steps that it will explore before T, known before any label is seen."""
        return int(theorems.explorations(self.d1, self.d2).sum())

    def notes(self) -> list[str]:
        """How long it explores, by which constants, and what the labels say about trusting the majority."""
        first = self.testers.first[: self.testers.count]
        said = [*self._length(), *warnings(first, self.known.classes, self.known.names)]
        if self.contexts and not self.known.kinds:
            paper = "each interval has its own D1, so that all testers grow as t^z ln t; Section 5 has D2 grow so too"
            said.append(f"{paper}, here it does not, for repeats cost a guess each")
        return said + [f"{self.known.names[who]} was dropped at step {when}" for who, when in self.dropped]

    def see(self, arrival: TaskArrival) -> None:
        """A task is here: halve the intervals when it is time."""
        if not self.contexts or self.known.kinds or arrival.number <= 0:
            return
        wanted = 1 << int(np.floor(self.z * np.log2(arrival.number) + 1e-9))
        if wanted > self.intervals:
            self.intervals = wanted
            held = self.testers.context[: self.testers.count]
            self.testers.sorted_into(self._interval(held), wanted)
            self._kept.clear()

    def _interval(self, contexts: NDArray[Any]) -> Ints:
        return np.clip((contexts * self.intervals).astype(np.int64), 0, self.intervals - 1)

    def _work(self, cell: int, tasks: Ints) -> Ask:
        if cell not in self._kept:
            self._kept[cell] = self.best(cell)
        ask = self._kept[cell]
        return Ask(WORK, tasks, ask.workers, ask.weight, ask.tolerance)

    def _steps(self, t: int) -> int:
        rounds = self.testers.rounds[: self.testers.count]
        first = int(np.searchsorted(self.d1, self.testers.count))
        again = int(np.searchsorted(self.d2, rounds.min())) if rounds.size else t + 1
        return max(1, min(first, again, self.known.horizon + 1) - t)

    def _one_of(self, count: int, chance: Chance) -> int:
        return int(chance().integers(count)) if count > 1 else 0

    def _constants(self, known: KnownLabelers) -> tuple[float, float]:
        if self.constants == "direct":
            return self.g1, self.g2
        epsilon, a_min = self.epsilon or known.epsilon, self.a_min or known.a_min
        if np.isnan([epsilon, a_min]).any():
            raise InputError(
                f"policy {self.name}: with several kinds of task give epsilon and a-min for the {self.constants} "
                "constants; they are presumed known for one kind only"
            )
        constants = theorems.constants(
            known.labelers, epsilon, a_min, self.constants, self.alpha, self.c if self.weighted else None
        )
        return constants.g1, constants.g2

    def _length(self) -> list[str]:
        g1, g2 = self.used
        sentence = f"explores {'at most ' * bool(self.delay)}{self.beforehand()} of {self.known.horizon} steps"
        if self.testers.per_cell.size > 1:
            sentence = f"explores each {'kind of task' if self.known.kinds else 'interval'} apart"
        lines = [f"{sentence}, known beforehand: D1 = {g1:.4g} ln t testers, more than {g2:.4g} ln t labels each"]
        if self.constants != "direct":
            wanted = theorems.lemma_1(float(self.d1[-1]), float(self.d2[-1]))
            lines.append(
                f"the {self.constants} constants ask for {self.d1[-1]:.3g} testers before T, {wanted:.3g} steps of "
                "exploration; epsilon and a_min were taken from the true skills unless given"
            )
        if not self.known.repeats:
            lines.append("a table holds one answer of each pair: testers are labelled once, D2 is not used")
        return lines


@dataclass
class LsOlWeighted(LsOl):
    """``ls-ol:weighted``."""

    weighted: bool = True

    name: ClassVar[str] = "ls-ol-weighted"
    what: ClassVar[str] = "the same, votes weighted by estimated log-odds (Section 4)"


@dataclass
class LsOlContext(LsOl):
    """``ls-ol:contexts``."""

    contexts: bool = True

    name: ClassVar[str] = "ls-ol-context"
    what: ClassVar[str] = "the same for each kind of task, or for finer and finer intervals of a context (Section 5)"


@dataclass
class LsOlVetting(LsOl):
    """``ls-ol:vetting``."""

    vetting: bool = True

    name: ClassVar[str] = "ls-ol-vetting"
    what: ClassVar[str] = "the same, dropping who disagrees with the majority most (Section 3.5.3)"


POLICY = (LsOl, LsOlWeighted, LsOlContext, LsOlVetting)
