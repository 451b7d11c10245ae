"""A fixed budget in place of an error target: as many right answers as it buys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.crowd.labels import REFUSED
from crowdopt.crowd.rules import BHATTACHARYYA
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Decision, Known
from crowdopt.online.covering import HERE, Doubting, Ids

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
    state: ClassVar[tuple[str, ...]] = ("log_likelihood", "doubt", "left")
    of_one_arrival: ClassVar[tuple[str, ...] | None] = (*HERE, "price")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.each < 0 or self.money < 0:
            raise InputError(f"policy {self.name}: each and money must be at least 0")

    def start(self, known: Known, solve: Solve) -> None:
        """Every class is equally likely, nothing is spent."""
        super().start(known, solve)
        self.doubt = np.where(known.need > 0, (known.classes - 1) / 2, 0.0)
        self.left = np.array([self.money or self.each * float((known.need > 0).sum())])

    def decide(self, arrival: Arrival, rng: np.random.Generator) -> Decision | None:
        """No worker is asked anything once gold is more than the rest pays."""
        price = arrival.cost if self.money else np.ones(self.known.types)
        new = self._number != (arrival.preliminary, arrival.number)
        if new and self.left[0] < max(self.gold * float(price.sum()), CHEAP):
            return None
        return super().decide(arrival, rng)

    def meet(self, arrival: Arrival) -> None:
        """How much the worker may do: all they can where the budget needs it, a share if they are just good enough."""
        price = arrival.cost if self.money else np.ones(self.known.types)
        self.left -= float(price @ self._gold_asked(arrival))
        self.price = price[self.kind_type]
        self._left = int(np.floor(self._share(arrival) * arrival.capacity + 0.5)) if self.left[0] > 0 else 0

    def value(self) -> Floats:
        """``psi (1 - rho) / c`` per task; below 0 where a task is done."""
        brings = 1 - np.exp(-self.evidence / 2)
        gain = self.doubt * brings[self.kind] / np.maximum(self.price, CHEAP)[self.kind]
        return np.where((self.doubt > self._level()) & (brings > 0)[self.kind], gain, -1.0)

    def learn(self, labels: Ints) -> None:
        """Multiply each task's posterior by its label's likelihood, and pay for the labels that came."""
        if self._met:
            got = labels != REFUSED
            tasks = self._given[got]
            self.left = self.left - float(self.price[self.kind[tasks]].sum())
            self._update(tasks, labels[got])
        super().learn(labels)

    def answers(self) -> str:
        """Answers are the policy's own (:meth:`decided`)."""
        return "own"

    def decided(self) -> Ints:
        """The likeliest class, -1 where nothing is known."""
        best: Ints = self.log_likelihood.argmax(axis=1)
        return np.where(np.ptp(self.log_likelihood, axis=1) > 0, best, -1)

    def claims(self) -> Floats:
        """Posterior error of each task: the chance of all other classes."""
        return 1 - self.posterior(np.arange(self.known.n_tasks)).max(axis=1)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _worth(self, accuracy: Floats) -> Floats:
        return BHATTACHARYYA.evidence(accuracy, self.known.classes)

    def _update(self, tasks: Ids, labels: Ints) -> None:
        self.heed(tasks, labels)
        if self.adaptive:
            root = np.sqrt(self.posterior(tasks))
            self.doubt[tasks] = (root.sum(axis=1) ** 2 - 1) / 2
        else:
            self.doubt[tasks] *= np.exp(-self.by_type[self.known.task_type[tasks]] / 2)

    def _gold_asked(self, arrival: Arrival) -> Ints:
        return self.seen.asked[:, self.seen.column(arrival.number, False)]

    def _rates(self, columns: Ints) -> Floats:
        """What a worker takes off a doubt of 1 for a unit of the budget, on the tasks they are best at: (workers,)."""
        brings = 1 - np.exp(-self._worth(self.seen.accuracy(columns)) / 2)
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

    def _level(self) -> float:
        """The doubt to which what is left can press every task above it, by labels like those of the worker here."""
        brings = float(self.evidence.max(initial=0.0)) / 2
        labels = float(self.left[0]) / float(np.maximum(self.price, CHEAP).min())
        doubt = np.sort(np.log(self.doubt[self.doubt > 0]))[::-1]
        if brings <= 0 or doubt.size == 0:
            return 0.0
        count = np.arange(1, doubt.size + 1)
        level = (np.cumsum(doubt) - labels * brings) / count  # if the first so many tasks are pressed
        return float(np.exp(level[np.flatnonzero(doubt > level)[-1]]))

    def _pick(self, arrival: Arrival, rng: np.random.Generator) -> Ids:
        tasks = super()._pick(arrival, rng)
        paid = self.price[self.kind[tasks]]
        if paid.sum() <= self.left[0]:
            return tasks
        order = np.argsort(-self.value()[tasks], kind="stable")
        able: Any = tasks[order][np.cumsum(paid[order]) <= self.left[0]]
        return np.asarray(able)


POLICY = Budget
