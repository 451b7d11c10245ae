"""Prices from a preliminary crowd: the sampled LP."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats
from crowdopt.core.solution import Solve
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Arrival, Known
from crowdopt.online.covering import AsPrinted
from crowdopt.online.task_prices import REMEDIES, prices
from crowdopt.programs.market import Market


@dataclass
class SampledLP(AsPrinted):
    """x from the LP in which gamma m preliminary workers cover gamma C, then Algorithm 1 (Ho et al. 2013, 5.1)."""

    gamma: float = 0.3  # preliminary workers per worker to come
    # multiplies the need in the LP: 1 as printed, more against the shortfall that the printed algorithm leaves
    inflate: float = 1.0
    # what to do if the preliminary workers cannot cover their share: ``scale`` all needs to what they can (raise
    # epsilon), or ``drop`` tasks, as the paper advises
    infeasible: str = "scale"

    name: ClassVar[str] = "sampled-lp"
    what: ClassVar[str] = "prices from the LP of a preliminary crowd, skills told (Ho et al. 2013, Section 5.1)"
    state: ClassVar[tuple[str, ...]] = ("price", "share", "need", "dropped")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.gamma <= 1 or self.inflate <= 0:
            raise InputError(f"policy {self.name}: gamma must lie in (0, 1] and inflate be positive")
        if self.infeasible not in REMEDIES:
            raise InputError(f"policy {self.name}: option infeasible is one of {', '.join(REMEDIES)}")

    def preliminary(self, workers: int) -> int:
        """How many preliminary workers, ``gamma m``, at least one."""
        return max(1, ceil(self.gamma * workers - 1e-9))

    def start(self, known: Known, solve: Solve) -> None:
        """No prices yet."""
        super().start(known, solve)
        self.price, self.share = np.full(self.tasks_in.size, np.nan), np.ones(1)
        self.dropped = np.zeros(0, np.int64)

    def meet(self, arrival: Arrival) -> None:
        """With the first worker of the stream the preliminary crowd is complete, and prices are set for good."""
        if arrival.preliminary or not np.isnan(self.price[0]):
            return
        sent = self.seen.first
        every = np.arange(sent)
        market = Market(
            self._worth(self.seen.accuracy(every))[self.kind_type],
            self.seen.cost[:, every][self.kind_type],
            self.seen.capacity[every],
            self.tasks_in,
            self.target() * (sent / self.known.workers) * self.inflate,
        )
        priced = prices(market, self.solve, self.infeasible)
        self.price, self.share = priced.price, np.array([priced.share])
        if priced.kept is not None:
            self._drop(priced.kept)

    def target(self) -> Floats:
        """What the LP covers for each kind of task, before gamma."""
        return self.kind_need

    def prices(self) -> Floats | None:
        """The multipliers x of the sampled LP, (tasks,); None before they are known."""
        return None if np.isnan(self.price[0]) else np.asarray(self.price[self.kind])

    def notes(self) -> list[str]:
        """By which rule it goes; whether needs were scaled down, or tasks dropped."""
        sentences, lost = super().notes(), self.dropped.size
        if self.share[0] < 1:
            able = f"the preliminary workers can cover {self.share[0]:.1%} of their share"
            sentences.append(f"{able}; every need was scaled to that")
        elif lost:
            sentences.append(f"the preliminary workers cannot cover their share; {lost} tasks were dropped")
        return sentences

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Tasks that were not dropped."""
        return self.need > 0

    def _drop(self, share: Floats) -> None:
        """Leave out the last tasks of each kind, beyond the share that can be covered."""
        place = np.empty(self.kind.size, np.int64)
        order = np.argsort(self.kind, kind="stable")
        starts = np.cumsum(self.tasks_in) - self.tasks_in
        place[order] = np.arange(order.size) - starts[self.kind[order]]
        left_out = place >= np.floor(share * self.tasks_in + 1e-9)[self.kind]
        self.need, self.dropped = np.where(left_out, 0.0, self.need), np.flatnonzero(left_out)
        self.open &= ~left_out


POLICY = SampledLP
