"""Policies that need little: comparators that look at one thing, and the Primal Approximation Algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats, Ints
from crowdopt.core.solution import Solve
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Known
from crowdopt.online.covering import AsPrinted, Covering, Doubting, Here, Ids


@dataclass
class Random(Covering):
    """Any tasks that are not yet covered, at random, for any worker."""

    ties: str = "random"

    name: ClassVar[str] = "random"
    retargets: ClassVar[bool] = True
    what: ClassVar[str] = "any uncovered tasks, for any worker"


@dataclass
class Greedy(Covering):
    """Each worker who knows anything gets as many uncovered tasks as they take, what they do best per cost first."""

    least: float = 1e-3  # evidence per cost below which a label is not bought

    name: ClassVar[str] = "greedy"
    retargets: ClassVar[bool] = True
    what: ClassVar[str] = "uncovered tasks by the worker's own skill, no price"

    def value(self, here: Here) -> Floats:
        """Evidence per unit of cost, by kind of task."""
        rate = here.evidence / np.maximum(here.cost, 1e-12)
        return np.where(rate > self.least, rate, -1.0)


@dataclass
class LeastCovered(Covering):
    """The tasks that lack most, for any worker."""

    name: ClassVar[str] = "least-covered"
    retargets: ClassVar[bool] = True
    what: ClassVar[str] = "the tasks that lack most, for any worker"


@dataclass
class Entropy(Doubting):
    """Tasks by expected gain of information, ``H(post) - E H(post | label)``; done at ``max post >= 1 - eps``.

    Posteriors are by the one-coin model. What it knows of answers no covering policy knows; it buys what tells most,
    whatever that costs later.
    """

    name: ClassVar[str] = "entropy"
    what: ClassVar[str] = "tasks by expected gain of information, until their posterior is sure enough"

    def value(self, here: Here) -> Floats:
        """Expected gain per cost, in nats, per task."""
        every = np.arange(self.known.n_tasks)
        right, before = self.right(here, every), self.posterior(every)
        wrong = (1 - right) / (self.known.classes - 1)
        chance = wrong[:, None] + (right - wrong)[:, None] * before  # of each label
        told = -(right * np.log(right) + (1 - right) * np.log(wrong))  # entropy of a label whose truth is known
        gain = -(chance * np.log(chance)).sum(axis=1) - told
        return np.where(gain > 1e-9, gain / np.maximum(here.cost[self.kind], 1e-12), -1.0)

    def came(self, here: Here, tasks: Ids, labels: Ints) -> None:
        """A task is open until its posterior is sure enough."""
        super().came(here, tasks, labels)
        sure = self.posterior(np.arange(self.known.n_tasks)).max(axis=1) >= 1 - self.known.epsilon
        self.open = ~sure & (self.need > 0)


@dataclass
class PrimalApproximation(AsPrinted):
    """Tasks with ``q x - c >= 0``, highest first, at most M_j of them (Ho et al. 2013, Algorithm 1), for given x.

    As printed it neither stops at a covered task nor repairs a short one, and breaks ties at random; ``stop``,
    ``repair`` and ``ties=least-covered`` change that. The prices are those of the offline LP unless others are given:
    this policy is clairvoyant, a yardstick for those that are not.
    """

    name: ClassVar[str] = "primal-approximation"
    what: ClassVar[str] = "given prices: tasks whose evidence is worth its cost (Ho et al. 2013, Algorithm 1)"

    def start(self, known: Known, solve: Solve) -> None:
        """Take the prices."""
        if known.prices is None:
            raise InputError(f"policy {self.name} needs prices; there are none, because the offline LP has no solution")
        super().start(known, solve)
        self.price = known.prices[np.unique(self.kind, return_index=True)[1]]

    def kind_columns(self, known: Known) -> list[NDArray[Any]]:
        """Tasks of one kind also share their price."""
        return [*super().kind_columns(known), np.zeros(0) if known.prices is None else known.prices]

    def prices(self) -> Floats:
        """The given prices, (tasks,)."""
        return self.price[self.kind]


POLICY = (Random, Greedy, LeastCovered, Entropy, PrimalApproximation)
