"""Prices from all workers seen so far, solved anew every few arrivals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats
from crowdopt.core.solution import Solve
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Known
from crowdopt.online.covering import Here, PricedCovering
from crowdopt.online.task_prices import prices
from crowdopt.programs.market import Market

FEW = 4  # workers seen, up to which a median says more than a program
LAST = 10  # workers to come, at which every arrival is priced anew
SOLVES = 60  # in a run, about, unless given


@dataclass
class ReSolve(PricedCovering):
    """The k workers seen stand for the m - j to come: they are to cover ``k / (m - j)`` of what is still missing.

    No preliminary crowd. The price x solves that aggregated LP; tasks with ``q x >= c`` that are not yet covered are
    given, those that lack most first.
    """

    every: int = 0  # arrivals between two solves; 0: as many as make about 60 solves of a run
    margin: float = 0.0  # added to what is missing, as a share of it: caution against short tasks at the end
    # how much a task's last label brings beyond its need, in labels: whole labels cover more than the LP's shares do,
    # and that has to be bought too
    overshoot: float = 0.25
    # the most a price may be, in units of its median so far: where the workers to come cannot cover what is missing the
    # LP's price is without bound, and would buy next to nothing from all workers at full cost
    cap: float = 4.0

    name: ClassVar[str] = "re-solve"
    retargets: ClassVar[bool] = True
    what: ClassVar[str] = "prices from the LP of the workers seen, for what is still missing; no preliminary crowd"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.every < 0 or self.margin < 0:
            raise InputError(f"policy {self.name}: every and margin must be at least 0")

    def start(self, known: Known, solve: Solve) -> None:
        """No prices yet, and none before."""
        super().start(known, solve)
        self.history = np.zeros((0, self.tasks_in.size))

    def retarget(self, known: Known) -> None:
        """Kinds may be others: their prices are those of the tasks in them, until all are priced anew."""
        before = self.kind
        super().retarget(known)

        def moved(price: Floats) -> Floats:
            return np.bincount(self.kind, price[before], self.tasks_in.size) / self.tasks_in

        self.price = moved(self.price)
        self.history = np.array([moved(row) for row in self.history]).reshape(-1, self.tasks_in.size)

    def meet(self, here: Here) -> None:
        """Price anew when it is time."""
        arrival = here.arrival
        every = self.every or max(1, self.known.workers // SOLVES)
        seen, left = arrival.number + 1, self.known.workers - arrival.number
        if seen <= FEW:
            self.price = self._middling(seen)
        elif seen % every == 0 or left <= LAST:
            self.price = self._solved(seen, left)
            self.history = np.vstack([self.history, self.price])
            self.price = np.minimum(self.price, self.cap * np.median(self.history, axis=0))

    def prices(self) -> Floats:
        """The median of all so far: the last ones are about what is left, these about the whole."""
        typical = np.median(self.history, axis=0) if self.history.size else self.price
        return np.asarray(typical[self.kind])

    def _columns(self, seen: int) -> NDArray[np.int64]:
        return self.seen.first + np.arange(seen)

    def _middling(self, seen: int) -> Floats:
        """The price at which a middling worker is just worth it."""
        columns = self._columns(seen)
        evidence = self.worth(self.seen.accuracy(columns))
        rate = self.seen.cost[:, columns] / np.maximum(evidence, 1e-12)
        return np.median(rate, axis=1)[self.kind_type]

    def _solved(self, seen: int, left: int) -> Floats:
        columns = self._columns(seen)
        evidence = self.worth(self.seen.accuracy(columns))[self.kind_type]
        cost = self.seen.cost[:, columns][self.kind_type]
        lack = np.bincount(self.kind, np.maximum(self.need - self.covered, 0.0), self.tasks_in.size)
        still = np.bincount(self.kind[self.open], minlength=self.tasks_in.size)
        wanted: Floats = lack + self.overshoot * self._typical(evidence, cost) * still
        market = Market(
            evidence,
            cost,
            self.seen.capacity[columns],
            self.tasks_in,
            wanted / self.tasks_in * (1 + self.margin) * seen / left,
        )
        return prices(market, self.solve).price

    def _typical(self, evidence: Floats, cost: Floats) -> Floats:
        """Mean evidence of the labels that are worth the last price, per kind."""
        bought = evidence * self.price[:, None] >= cost
        total = np.where(bought, evidence, 0.0).sum(axis=1)
        return total / np.maximum(bought.sum(axis=1), 1)


POLICY = ReSolve
