"""The Main Algorithm: sampled prices, skills from gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdopt.arrays import Floats
from crowdopt.core.solution import Solve
from crowdopt.errors import InputError
from crowdopt.online.arrivals import Known
from crowdopt.online.policies.sampled_lp import SampledLP
from crowdopt.online.theorems import theorem_5

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
    def without_gold(self) -> str:
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


POLICY = MainAlgorithm
