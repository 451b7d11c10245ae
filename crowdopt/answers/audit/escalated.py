"""What an escalation is: which answers may stand, and which go up a tier, by answers that an expert looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdopt.answers.audit.audited import ErrorVersions, Strata
from crowdopt.arrays import Bools, Ints


@dataclass(frozen=True)
class EscalationTerms:
    """What an escalation is to show, what it may rest on, and what it is to save."""

    allowed: int = 0  # wrong answers that may be left among those that stand on this tier
    delta: float = 0.05  # chance of a false claim that this tier may spend
    seed: int = 0
    expert_price: float = 1.0  # of one look by the expert
    next_price: float = 1.0  # of one answer that goes up, whatever it takes up there


@dataclass(frozen=True)
class Planned:
    """What an escalation is expected to come to, by claims and what was seen so far."""

    groups: int  # how many of the surest groups would stand
    stand: int  # answers in them, those looked at included
    checks: int  # looks by the expert, in all
    up: int  # answers that go up without a look
    cost: float  # of looks and of answers that go up


@dataclass(frozen=True, eq=False)
class EscalationDraw:
    """Which answers the expert looks at, in which order, and where thresholds lie: decided before any of them is seen.

    Answers are sorted by claimed error and cut into groups; a threshold lies after each group. ``order`` draws each
    next answer in proportion to its group's rate, so the part of it inside the first groups is such a draw from these.
    """

    terms: EscalationTerms
    strata: Strata  # groups, surest first
    order: Ints  # (answers,): all answers, in the order of the draw
    stratum: Ints  # (answers,): group of each, in that order
    versions: ErrorVersions  # what is predicted to be wrong, before any check
    checks: int  # how many are to be looked at to begin with
    planned: Planned  # what that is expected to lead to

    @property
    def answers(self) -> int:
        """How many answers there are on this tier."""
        return self.order.size


@dataclass(frozen=True, eq=False)
class Escalated:
    """What an escalation shows: the answers of the first ``groups`` groups stand, all others go up."""

    draw: EscalationDraw
    wrong: Bools  # (k,): of the first k answers in the order of the draw, whether it was wrong
    certified: Ints  # (k,): how many groups may stand after each check
    planned: Planned  # the cheapest way on

    @property
    def groups(self) -> int:
        """How many of the surest groups may stand now."""
        return int(self.certified[-1])

    @property
    def stand(self) -> int:
        """Answers that stand, those looked at and corrected among them."""
        return int(self.draw.strata.size[: self.groups].sum())

    @property
    def corrected(self) -> int:
        """Wrong answers that were drawn and corrected, among those that stand."""
        return int(self.wrong[self.draw.stratum[: self.wrong.size] < self.groups].sum())

    @property
    def left(self) -> int:
        """Most wrong answers among those that stand, once those found are corrected."""
        looked = int((self.draw.stratum[: self.wrong.size] < self.groups).sum())
        return min(max(0, self.draw.terms.allowed - self.corrected), self.stand - looked)

    @property
    def finished(self) -> bool:
        """Whether no further look is expected to save money."""
        return self.planned.groups <= self.groups

    @property
    def sentence(self) -> str:
        """The claim in words."""
        n, terms = self.draw.answers, self.draw.terms
        percent = math.floor(1e10 * (1 - terms.delta) + 1e-4) / 1e8  # never rounded up
        return (
            f"with {percent:.10g} % confidence at most {self.left} of the {self.stand} answers that stand are wrong, "
            f"whatever the workers did ({self.wrong.size} checked); the other {n - self.stand} of {n} go up a tier"
        )
