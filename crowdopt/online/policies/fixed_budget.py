"""A fixed budget in place of an error target: as many right answers as it buys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.rules import BHATTACHARYYA
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Known, Verdict
from crowdopt.online.checked_claims import CheckedAnswers
from crowdopt.online.covering import Doubting, Here, Ids

CHEAP = 1e-12  # prices below this count as this much


@dataclass
class Budget(Doubting):
    """The best workers do the most doubtful tasks, until the budget is spent.

    A task's doubt is ``psi = sum over pairs of classes of sqrt(pi_k pi_l)``, no less than half its posterior error; a
    label of a worker with affinity ``rho = exp(-a/2)`` takes it to ``rho psi`` in expectation (Bhattacharyya). So each
    step of greedy gives the worker who is here the tasks of largest ``psi (1 - rho) / c``. Who is taken on, and for how
    much, follows from the workers seen so far: those to come are like them, and the best of all of them are to spend
    what is left. Tasks whose doubt lies below the level to which the rest of the budget can press all others are done.
    """

    stop: bool = False
    each: float = 5.0  # labels per task, on average, gold included
    money: float = 0.0  # the budget in money in place of labels; 0: ``each`` counts
    # whether answers are looked at. If not, tasks go by the evidence they have: the best plan that could be written
    # down beforehand
    adaptive: bool = True

    name: ClassVar[str] = "budget"
    what: ClassVar[str] = "a fixed number of labels, or sum of money: the best workers do the most doubtful tasks"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.each < 0 or self.money < 0:
            raise InputError(f"policy {self.name}: each and money must be at least 0")

    def start(self, known: Known, solve: Solve) -> None:
        """Every class is equally likely, nothing is spent."""
        super().start(known, solve)
        self.doubt = np.where(known.need > 0, (known.classes - 1) / 2, 0.0)
        self.left = np.array([self.money or self.each * float((known.need > 0).sum())])

    def visit(self, arrival: Arrival) -> Here:
        """No worker is asked anything once gold is more than the rest pays."""
        price = arrival.cost if self.money else np.ones(self.known.types)
        if self.left[0] < max(self.gold * float(price.sum()), CHEAP):
            return Here(self, arrival, 0, np.zeros(self.known.types, np.int64), met=True)
        return super().visit(arrival)

    def meet(self, here: Here) -> None:
        """How much the worker may do: all they can where the budget needs it, a share if they are just good enough."""
        arrival = here.arrival
        price = arrival.cost if self.money else np.ones(self.known.types)
        self.left -= float(price @ self.seen.asked[:, here.column])
        here.left = int(np.floor(self._share(arrival) * arrival.capacity + 0.5)) if self.left[0] > 0 else 0

    def value(self, here: Here) -> Floats:
        """``psi (1 - rho) / c`` per task; below 0 where a task is done."""
        brings = 1 - np.exp(-here.evidence / 2)
        gain = self.doubt * brings[self.kind] / np.maximum(self._price(here), CHEAP)[self.kind]
        return np.where((self.doubt > self._level(here)) & (brings > 0)[self.kind], gain, -1.0)

    def came(self, here: Here, tasks: Ids, labels: Ints) -> None:
        """Pay for the labels that came; what they tell lifts doubt."""
        self.left = self.left - float(self._price(here)[self.kind[tasks]].sum())
        super().came(here, tasks, labels)
        if self.adaptive:
            root = np.sqrt(self.posterior(tasks))
            self.doubt[tasks] = (root.sum(axis=1) ** 2 - 1) / 2
        else:
            self.doubt[tasks] *= np.exp(-here.by_type[self.known.task_type[tasks]] / 2)

    def answers(self, looks: CheckedAnswers | None = None) -> Verdict:
        """The likeliest class, -1 where nothing is known, and the chance of all other classes."""
        best: Ints = self.log_likelihood.argmax(axis=1)
        decided = np.where(np.ptp(self.log_likelihood, axis=1) > 0, best, -1)
        claims = 1 - self.posterior(np.arange(self.known.n_tasks)).max(axis=1)
        return replace(super().answers(), how="own", decided=decided, claims=claims)

    def worth(self, accuracy: Floats) -> Floats:
        """By the affinity of a label's laws."""
        return BHATTACHARYYA.evidence(accuracy, self.known.classes)

    def pick(self, here: Here, rng: np.random.Generator) -> Ids:
        """As many of the best as are paid by what is left."""
        tasks = super().pick(here, rng)
        paid = self._price(here)[self.kind[tasks]]
        if paid.sum() <= self.left[0]:
            return tasks
        order = np.argsort(-self.value(here)[tasks], kind="stable")
        able: Any = tasks[order][np.cumsum(paid[order]) <= self.left[0]]
        return np.asarray(able)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _price(self, here: Here) -> Floats:
        """What a label takes off the budget, by kind of task."""
        return here.cost if self.money else np.ones(self.kind_type.size)

    def _rates(self, columns: Ints) -> Floats:
        """What a worker takes off a doubt of 1 for a unit of the budget, on the tasks they are best at: (workers,)."""
        brings = 1 - np.exp(-self.worth(self.seen.accuracy(columns)) / 2)
        price = self.seen.cost[:, columns] if self.money else 1.0
        return (brings / np.maximum(price, CHEAP)).max(axis=0)

    def _share(self, arrival: Arrival) -> float:
        """The share of capacity that workers like this one are needed for, if all better ones do all they can."""
        seen = self.seen.first + np.arange(arrival.number + 1)
        rate = np.round(self._rates(seen), 9)
        spends = self.seen.capacity[seen] * (self.seen.cost[:, seen].mean(axis=0) if self.money else 1.0)
        to_come = self.known.workers - arrival.number
        mine = rate == rate[-1]
        better = to_come * float(spends[rate > rate[-1]].sum()) / seen.size
        alike = to_come * float(spends[mine].sum()) / seen.size
        return float(np.clip((float(self.left[0]) - better) / max(alike, CHEAP), 0.0, 1.0))

    def _level(self, here: Here) -> float:
        """The doubt to which what is left can press every task above it, by labels like those of the worker here."""
        brings = float(here.evidence.max(initial=0.0)) / 2
        labels = float(self.left[0]) / float(np.maximum(self._price(here), CHEAP).min())
        doubt = np.sort(np.log(self.doubt[self.doubt > 0]))[::-1]
        if brings <= 0 or doubt.size == 0:
            return 0.0
        count = np.arange(1, doubt.size + 1)
        level = (np.cumsum(doubt) - labels * brings) / count  # if the first so many tasks are pressed
        return float(np.exp(level[np.flatnonzero(doubt > level)[-1]]))


POLICY = Budget
