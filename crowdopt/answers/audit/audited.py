"""What an audit is: the draw, which is decided first, and what came of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdopt.arrays import Bools, Floats, Ints

METHODS = ("assisted", "sequential", "exact")
"""Best first; ``assisted`` needs a claimed error for each answer."""


@dataclass(frozen=True, eq=False)
class Strata:
    """Groups of answers, surest first.

    Parameters
    ----------
    size : (groups,) int
        Answers in each; sorted by claimed error, equal ones in their order, the answers are cut into these sizes.
    claim : (groups,) float
        Mean claimed error.
    rate : (groups,) float
        Relative chance of each answer of the group to be drawn next.
    """

    size: Ints
    claim: Floats
    rate: Floats


@dataclass(frozen=True, eq=False)
class ErrorVersions:
    """What may be wrong, in several versions: ``weight`` (versions,), ``error`` (versions, groups)."""

    weight: Floats
    error: Floats


@dataclass(frozen=True, eq=False)
class AuditTerms:
    """What an audit is to show, and what it may rest on.

    Parameters
    ----------
    method : str
        ``assisted``, ``sequential`` or ``exact``.
    target : float
        Share of wrong answers that is hoped for.
    delta : float
        Chance of a false claim that this audit may spend.
    seed : int
        Of the draw.
    least_sure : int
        So many answers of the largest claimed error go to the expert before the draw; they leave the population.
    expert_error : float
        Share of all tasks on which the expert errs, at most; the claim widens by it.
    """

    method: str = "assisted"
    target: float = 0.05
    delta: float = 0.05
    seed: int = 0
    least_sure: int = 0
    expert_error: float = 0.0


@dataclass(frozen=True, eq=False)
class Draw:
    """Which answers the expert looks at, in which order: decided before any of them is seen.

    Parameters
    ----------
    terms : AuditTerms
    strata : Strata
        Groups of the answers that are drawn from.
    certain : (k,) int
        The least sure answers, which are looked at whatever the draw.
    order : (answers - k,) int
        All others, in the order of the draw.
    stratum : (answers - k,) int
        Group of each, in that order.
    versions : ErrorVersions
        What is predicted to be wrong, before any check.
    numbers : (k,) int
        Numbers of wrong answers among those drawn from that are tested.
    checks : int
        How many are to be looked at for now, the certain ones included.
    assumed : float
        Share of wrong answers that this number was chosen for.
    """

    terms: AuditTerms
    strata: Strata
    certain: Ints
    order: Ints
    stratum: Ints
    versions: ErrorVersions
    numbers: Ints
    checks: int
    assumed: float

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
    """What an audit shows.

    Parameters
    ----------
    draw : Draw
    wrong : (k,) bool
        Of the first k answers in the order of the draw.
    certain_checked, certain_wrong : int
        Of the least sure ones.
    others_checked, others_wrong : int
        Answers that the expert corrected though they were neither drawn nor least sure.
    left : (k,) int
        Most wrong answers left among those drawn from, after each check; for a fixed number of checks only the last.
    wrong_at_most : int
        Most wrong answers left in all, once those found are corrected.
    """

    draw: Draw
    wrong: Bools
    certain_checked: int
    certain_wrong: int
    others_checked: int
    others_wrong: int
    left: Ints
    wrong_at_most: int

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
