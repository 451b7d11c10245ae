"""LS_OL's loop, shared by its variants: explore while testers or their labels are too few, else ask the best set.

The testers: tasks that all labelers label, again and again, and what they say about the labelers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.crowd.labels import REPEAT, TESTER, WORK
from crowdopt.errors import InputError
from crowdopt.labelers import theorems
from crowdopt.labelers.arrivals import Ask, KnownLabelers, TaskArrival
from crowdopt.labelers.asking import BaseLabelerPolicy, Chance, picked
from crowdopt.labelers.sets import best_set
from crowdopt.labelers.theorems import warnings

ROOM = 64  # testers that there is room for at first; doubled when they are more


class Testers:
    """E(t) with N_k(t), the majority label of every round, and who agrees with y*_k, by cell of contexts."""

    def __init__(self, cells: int, labelers: int, classes: int) -> None:
        self.count, self.classes = 0, classes
        self.task, self.cell = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.int64)
        self.context = np.zeros(ROOM)
        self.first = np.full((ROOM, labelers), -1, np.int64)
        self.tally = np.zeros((ROOM, classes))
        self.star, self.rounds = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.int64)
        self.ready = np.zeros(ROOM, np.int64)
        self.agree, self.seen = np.zeros((cells, labelers)), np.zeros((cells, labelers))
        self.per_cell = np.zeros(cells, np.int64)

    COLUMNS = ("task", "cell", "context", "first", "tally", "star", "rounds", "ready")

    def add(self, task: int, cell: int, context: float, labels: Ints, vote: int, ready: int) -> None:
        """A new tester: first labels (labelers,), -1 for none, their majority, the step of the first repeat."""
        if self.count == self.task.size:
            self._grow()
        k = self.count
        self.task[k], self.cell[k], self.context[k], self.ready[k] = task, cell, context, ready
        self.first[k], self.star[k], self.rounds[k] = labels, vote, 1
        self.tally[k, vote] = 1
        self.count += 1
        self.per_cell[cell] += 1
        self.agree[cell] += labels == vote
        self.seen[cell] += labels >= 0

    def repeat(self, place: int, vote: int, coin: float, ready: int) -> bool:
        """Count one more round; whether y*, the majority of the rounds (ties by the coin), has changed.

        place, vote: which tester, and the round's majority; coin: in [0, 1), for ties; ready: step from which it may be
        repeated again.
        """
        self.tally[place, vote] += 1
        self.rounds[place] += 1
        self.ready[place] = ready
        before = self.star[place]
        after = int(picked(self.tally[place : place + 1], 0.0, np.array([coin]))[0])
        if after == before:
            return False
        cell, first = self.cell[place], self.first[place]
        self.agree[cell] += (first == after).astype(np.int64) - (first == before)
        self.star[place] = after
        return True

    def under(self, most: float, cell: int) -> Ints:
        """Testers of a cell labelled at most so often."""
        if most < 1:  # one label is enough
            return np.zeros(0, np.int64)
        few = self.rounds[: self.count] <= most
        if self.per_cell.size > 1:
            few &= self.cell[: self.count] == cell
        return np.flatnonzero(few)

    def place_of(self, task: int) -> int:
        """The row of a tester's task."""
        return int(np.flatnonzero(self.task[: self.count] == task)[0])

    def accuracy(self) -> Floats:
        """``p'_i``: share of testers on which i's first label equals y*, (cells, labelers); 1/2 before the first."""
        return np.where(self.seen > 0, self.agree / np.maximum(self.seen, 1), 0.5)

    def sorted_into(self, cell: Ints, cells: int) -> None:
        """Sort the testers into new cells and count the tallies anew."""
        here, labelers = self.count, self.first.shape[1]
        self.cell[:here] = cell
        self.agree, self.seen = np.zeros((cells, labelers)), np.zeros((cells, labelers))
        np.add.at(self.agree, cell, self.first[:here] == self.star[:here, None])
        np.add.at(self.seen, cell, self.first[:here] >= 0)
        self.per_cell = np.bincount(cell, minlength=cells)

    def _grow(self) -> None:
        for name in self.COLUMNS:
            old = getattr(self, name)
            more = np.full((max(old.shape[0], ROOM), *old.shape[1:]), -1 if name == "first" else 0, old.dtype)
            setattr(self, name, np.concatenate([old, more]))


CONSTANTS = ("direct", "printed", "tight")


@dataclass
class Exploring(BaseLabelerPolicy):
    """Options and state that every variant of LS_OL has."""

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

    begins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.constants not in CONSTANTS:
            raise InputError(f"policy {self.name}: option constants is one of {', '.join(CONSTANTS)}")
        numbers = {key: getattr(self, key) for key in ("g1", "g2", "epsilon", "a_min", "alpha", "eta", "delay")}
        for key, value in numbers.items():
            if not 0 <= value < np.inf:
                raise InputError(f"policy {self.name}: option {key.replace('_', '-')} must be at least 0, not {value}")

    def start(self, known: KnownLabelers) -> None:
        """Work out D1(t) and D2(t) up to the horizon."""
        self.known = known
        self.used = self._constants(known)
        self.d1 = theorems.steps(self.used[0], known.horizon, self.eta)
        self.d2 = theorems.steps(self.used[1], known.horizon, self.eta)
        if not known.repeats:
            self.d2 = np.zeros_like(self.d2)  # one round a tester
        self.testers = Testers(self.cells(), known.labelers, known.classes)
        self._kept: dict[int, Ask] = {}

    def weighted_constant(self) -> float | None:
        """C of Theorem 5, where votes are weighted."""
        return None

    def cells(self) -> int:
        """Parts of the contexts that are learnt apart."""
        return 1

    def cell(self, arrival: TaskArrival) -> int:
        """The part that a task belongs to."""
        return 0

    @property
    def asked(self) -> Ints:
        """The labelers who label testers, ascending."""
        return np.arange(self.known.labelers)

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

    def tester_weight(self, cell: int) -> Floats | None:
        """What each labeler's vote on a tester weighs; None: one, as printed."""
        return None

    def count_disagreement(self, labels: Ints, vote: int, now: int) -> None:
        """For variants that watch who differs from the majority."""

    def chosen(self, arrival: TaskArrival) -> Ask:
        """The best set by the estimates of now."""
        return self._work(self.cell(arrival), np.array([arrival.number]))

    def best(self, cell: int) -> Ask:
        """Argmax of the estimated utility over the top-m sets."""
        members, _ = best_set(self.testers.accuracy()[cell, self.asked], self.known.classes)
        return Ask(WORK, np.zeros(0, np.int64), self.asked[members])

    def skills(self) -> Floats:
        """Estimated chances of a right label, ``p'``, (cells, labelers)."""
        return self.testers.accuracy()

    def beforehand(self) -> int:
        """Steps that it will explore before T, known before any label is seen."""
        return int(theorems.explorations(self.d1, self.d2).sum())

    def notes(self) -> list[str]:
        """How long it explores, by which constants, and what the labels say about trusting the majority."""
        first = self.testers.first[: self.testers.count]
        return [*self._length(), *warnings(first, self.known.classes, self.known.names)]

    def see(self, arrival: TaskArrival) -> None:
        """A task is here."""

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
            known.labelers, epsilon, a_min, self.constants, self.alpha, self.weighted_constant()
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
