"""Prices by multiplicative weights: up with time, down with coverage.

Prices by dual mirror descent with the Euclidean distance: the additive sister of multiplicative weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Known
from crowdopt.online.covering import Covering, Here, Ids


@dataclass
class MultiplicativeWeights(Covering):
    """``x_i <- x_i exp(eta sqrt(m) (1/m - a_ij y_ij / C_i))``, from 1 over the mean evidence per cost seen so far.

    Each task has a price of its own; a task that falls behind the clock becomes dear, one that is ahead cheap.
    """

    eta: float = 0.75  # step size, in units of sqrt(m)

    name: ClassVar[str] = "multiplicative-weights"
    what: ClassVar[str] = "a price per task that grows with time and falls with coverage; no program is solved"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.eta <= 0:
            raise InputError(f"policy {self.name}: eta must be positive")

    def start(self, known: Known, solve: Solve) -> None:
        """Begin with no task ahead or behind."""
        super().start(known, solve)
        self.lead, self.base = np.zeros(known.n_tasks), np.ones(known.types)
        self.step = self.eta * np.sqrt(known.workers)

    def meet(self, here: Here) -> None:
        """One more worker's time has come: every task is behind by 1/m, and the going rate is known better."""
        arrival = here.arrival
        if arrival.number:
            self.lead = self.grown(-1.0 / self.known.workers)
        columns = self.seen.first + np.arange(arrival.number + 1)
        evidence = self.worth(self.seen.accuracy(columns)).mean(axis=1)
        cost = self.seen.cost[:, columns].mean(axis=1)
        self.base = np.where(evidence > 0, cost / np.maximum(evidence, 1e-12), 0.0)

    def value(self, here: Here) -> Floats:
        """``q x - c`` of a label, by task."""
        return here.evidence[self.kind] * self.prices() - here.cost[self.kind]

    def prices(self) -> Floats:
        """The going rate times each task's factor."""
        return self.base[self.known.task_type] * self.factor()

    def factor(self) -> Floats:
        """How much dearer than the going rate."""
        return np.exp(-self.step * self.lead)

    def grown(self, step: Floats | float) -> Floats:
        """The lead after a step, in shares of the need."""
        return self.lead + step

    def came(self, here: Here, tasks: Ids, labels: Ints) -> None:
        """Tasks that got a label are ahead by what it brought."""
        super().came(here, tasks, labels)
        brought = np.zeros(self.known.n_tasks)
        need = np.maximum(self.need[tasks], 1e-12)
        brought[tasks] = here.by_type[self.known.task_type[tasks]] / need
        self.lead = self.grown(brought)


@dataclass
class MirrorDescent(MultiplicativeWeights):
    """``x_i <- max(0, x_i + x_0 eta sqrt(m) (1/m - a_ij y_ij / C_i))``: a subgradient step on the dual per arrival.

    ``lead`` is how far the price is below the going rate, in steps; it never exceeds the rate itself, which is the
    projection on x >= 0.
    """

    eta: float = 1.0

    name: ClassVar[str] = "mirror-descent"
    what: ClassVar[str] = "a price per task by subgradient steps on the dual; no program is solved"

    def factor(self) -> Floats:
        """Each task's factor, ``1 - step lead``: linear in the lead."""
        return 1.0 - self.step * self.lead

    def grown(self, step: Floats | float) -> Floats:
        """The lead after a step, projected so that no price is negative."""
        return np.minimum(self.lead + step, 1.0 / self.step)


POLICY = (MultiplicativeWeights, MirrorDescent)
