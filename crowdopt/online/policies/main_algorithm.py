"""The Main Algorithm: sampled prices, skills from gold.

Prices from a preliminary crowd: the sampled LP.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Floats
from crowdopt.core.solution import Solve
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Known
from crowdopt.online.covering import AsPrinted, Here
from crowdopt.online.task_prices import REMEDIES, prices
from crowdopt.online.theorems import theorem_5
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

    def meet(self, here: Here) -> None:
        """With the first worker of the stream the preliminary crowd is complete, and prices are set for good."""
        if here.arrival.preliminary or not np.isnan(self.price[0]):
            return
        sent = self.seen.first
        every = np.arange(sent)
        market = Market(
            self.worth(self.seen.accuracy(every))[self.kind_type],
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


TARGETS = ("given", "theorem-3")
MOST_GOLD = 1_000_000  # gold tasks per worker and type that no campaign asks


@dataclass
class MainAlgorithm(SampledLP):
    """Each worker, preliminary ones too, does s gold tasks per type; prices and values are by the evidence of p-hat.

    That is ``(2 p-hat - 1)^2``, as printed, by the rule hoeffding alone; by another one a note says which.

    Ho et al. 2013, Algorithm 2 and Section 5.2. Every gold label is counted and paid. As printed there is neither
    stopping nor repair and ties are random (the perturbation of q-hat); the options change that.
    """

    gold: int = 20  # s
    # what the LP covers: ``given``, the campaign's own epsilon as in the paper's experiments, or ``theorem-3``, the
    # loosened ``epsilon' = epsilon^(1 - 4t/qmin)`` of the theorems
    target_by: str = "given"
    least_quality: float = 0.0  # qmin, which the theorems take as known
    delta: float = 0.1  # probability with which they may fail
    guaranteed: bool = False  # whether to take s from Theorem 5 in place of ``gold``, and the target of Theorem 3

    name: ClassVar[str] = "main-algorithm"
    what: ClassVar[str] = "sampled-lp with skills from gold (Ho et al. 2013, Algorithm 2)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gold < 1:
            raise InputError(
                f"policy {self.name} learns skills from gold, at least 1 task; told skills are sampled-lp's"
            )
        if self.target_by not in TARGETS:
            raise InputError(f"policy {self.name}: option target-by is one of {', '.join(TARGETS)}")
        if not 0 < self.delta < 1 or not 0 <= self.least_quality <= 1:
            raise InputError(f"policy {self.name}: delta must lie in (0, 1) and least-quality in [0, 1]")
        if (self.guaranteed or self.target_by != "given") and self.least_quality == 0:
            raise InputError(
                f"policy {self.name}: the theorems need least-quality, a lower bound on evidence per label"
            )
        self.loss = 0.0

    @property
    def without_gold(self) -> str:  # type: ignore[override]
        """The same with skills told."""
        return "sampled-lp"

    def start(self, known: Known, solve: Solve) -> None:
        """Work out s and epsilon' where the theorems are to set them."""
        super().start(known, solve)
        if not self.guaranteed and self.target_by == "given":
            return
        if known.rule != "hoeffding":
            raise InputError(f"policy {self.name}: the theorems are for rule hoeffding, not {known.rule}")
        plan = theorem_5(
            known.n_tasks,
            known.workers,
            known.types,
            float(known.epsilon.min()),
            self.delta,
            self.least_quality,
            self.gamma,
            gold=None if self.guaranteed else self.gold,
        )
        if plan.gold > MOST_GOLD:
            raise InputError(f"policy {self.name}: Theorem 5 asks for {plan.gold} gold tasks per worker and type")
        self.gold, self.loss = plan.gold, min(1.0, plan.losses[0])

    def target(self) -> Floats:
        """The loosened need of each kind of task, ``C' = (1 - 4t/qmin) C``."""
        return self.kind_need * (1 - self.loss)

    def notes(self) -> list[str]:
        """What the sampled LP gave up, and whether gold is out of proportion to the work."""
        sentences = super().notes()
        gold = int(self.seen.asked.sum())
        room = int(self.seen.capacity[self.seen.first :].sum())
        if gold > room:
            sentences.append(f"{gold} gold labels are more than the {room} labels that all workers together could give")
        if self.loss >= 1:
            sentences.append(
                f"{self.gold} gold tasks are too few for Theorem 3: 4t reaches qmin, so nothing is covered"
            )
        return sentences


POLICY = (SampledLP, MainAlgorithm)
