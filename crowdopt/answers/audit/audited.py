"""What an audit is: the draw, which is decided first, and what came of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdopt.arrays import Bools, Floats, Ints

METHODS = ("assisted", "sequential", "exact")
"""Best first; ``assisted`` needs a claimed error for each answer."""


@dataclass(frozen=True, eq=False)
class Strata:
    """Groups of answers, surest first."""

    # answers in each; sorted by claimed error, equal ones in their order, the answers are cut into these sizes
    size: Ints  # (groups,)
    claim: Floats  # (groups,): mean claimed error
    rate: Floats  # (groups,): relative chance of each answer of the group to be drawn next


@dataclass(frozen=True, eq=False)
class ErrorVersions:
    """What may be wrong, in several versions: ``weight`` (versions,), ``error`` (versions, groups)."""

    weight: Floats
    error: Floats


@dataclass(frozen=True, eq=False)
class AuditTerms:
    """What an audit is to show, and what it may rest on."""

    method: str = "assisted"  # ``assisted``, ``sequential`` or ``exact``
    target: float = 0.05  # share of wrong answers that is hoped for
    delta: float = 0.05  # chance of a false claim that this audit may spend
    seed: int = 0
    # so many answers of the largest claimed error go to the expert before the draw; they leave the population
    least_sure: int = 0
    expert_error: float = 0.0  # share of all tasks on which the expert errs, at most; the claim widens by it


@dataclass(frozen=True, eq=False)
class Draw:
    """Which answers the expert looks at, in which order: decided before any of them is seen."""

    terms: AuditTerms
    strata: Strata  # groups of the answers that are drawn from
    certain: Ints  # (k,): the least sure answers, which are looked at whatever the draw
    order: Ints  # (answers - k,): all others, in the order of the draw
    stratum: Ints  # (answers - k,): group of each, in that order
    versions: ErrorVersions  # what is predicted to be wrong, before any check
    numbers: Ints  # (k,): numbers of wrong answers among those drawn from that are tested
    checks: int  # how many are to be looked at for now, the certain ones included
    assumed: float  # share of wrong answers that this number was chosen for

    @property
    def answers(self) -> int:
        """How many answers there are in all."""
        return self.certain.size + self.order.size

    @property
    def fixed(self) -> bool:
        """Whether the number of checks was fixed beforehand, so that all of them must be made."""
        return self.terms.method == "exact"


@dataclass(frozen=True, eq=False)
class Audited:
    """What an audit shows."""

    draw: Draw
    wrong: Bools  # (k,): of the first k answers in the order of the draw
    # of the least sure ones
    certain_checked: int
    certain_wrong: int
    # answers that the expert corrected though they were neither drawn nor least sure
    others_checked: int
    others_wrong: int
    # most wrong answers left among those drawn from, after each check; for a fixed number of checks only the last
    left: Ints  # (k,)
    wrong_at_most: int  # most wrong answers left in all, once those found are corrected

    @property
    def checked(self) -> int:
        """Answers that the expert looked at."""
        return int(self.wrong.size) + self.certain_checked + self.others_checked

    @property
    def corrected(self) -> int:
        """Wrong answers that the expert looked at."""
        return int(self.wrong.sum()) + self.certain_wrong + self.others_wrong

    @property
    def certified(self) -> bool:
        """Whether the target is reached."""
        return self.wrong_at_most <= self.draw.terms.target * self.draw.answers + 1e-9

    @property
    def sentence(self) -> str:
        """The claim in words."""
        terms, n = self.draw.terms, self.draw.answers
        percent = math.floor(1e10 * (1 - terms.delta) + 1e-4) / 1e8  # never rounded up
        sure = f"with {percent:.10g} % confidence"
        expert = f", if the expert errs on at most {100 * terms.expert_error:.12g} % of the tasks"
        return (
            f"{sure} at most {self.wrong_at_most} of the {n} answers are wrong, whatever the workers did "
            f"({self.checked} checked, {self.corrected} corrected){expert if terms.expert_error else ''}"
        )
