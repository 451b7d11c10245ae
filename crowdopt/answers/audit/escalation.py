"""An audit with many thresholds and one number: which answers may stand, and which go up a tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from crowdopt.answers.audit.draws import LEAST, Draw, claimed, cut, drawn_order, rates_of
from crowdopt.answers.audit.martingale import Strata, hidden, log_martingale, predictions
from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.errors import refuse_unless

THRESHOLDS = 24  # beside the one below which answers stand without a look
FEWEST = 10  # looks at a time, at least
NO_LOOKS = np.zeros(0, np.int64), np.zeros(0, np.bool_)
SLOWEST = 1e-9  # growth of a logarithm by one look: below, a threshold is out of reach


@dataclass(frozen=True)
class EscalationTerms:
    """What the answers that stand on all tiers are to show, what lower tiers have used of it, what looks cost."""

    first: int  # answers of the first tier
    target: float = 0.05  # share of them that may be wrong in the end
    expert_error: float = 0.0  # share of them on which the expert errs, at most
    confidence: float = 0.95  # of all tiers' claims together
    tiers: int = 1  # tiers that are still to be certified, this one included
    below: Sequence[dict[str, Any]] = ()  # of each lower tier: commitment, up_sha256, wrong, delta
    allowed: int = field(init=False)  # wrong answers that this tier may leave: an even part of what is left
    delta: float = field(init=False)  # chance of a false claim that it may spend: an even part of what is left
    seed: int = 0
    expert_price: float = 1.0  # of one look by the expert
    next_price: float = 1.0  # of one answer that goes up, whatever it takes up there

    def __post_init__(self) -> None:
        most = int(self.target * self.first + 1e-9) - int(self.expert_error * self.first + 1e-9)
        most -= sum(tier["wrong"] for tier in self.below)
        chance = 1 - self.confidence - sum(tier["delta"] for tier in self.below)
        object.__setattr__(self, "allowed", max(0, most) // self.tiers)
        object.__setattr__(self, "delta", round(chance / self.tiers, 14))
        refuse_unless({"the tiers below have spent all of the chance that the confidence leaves": self.delta > 0})


class Planned(NamedTuple):
    """What an escalation is expected to come to, by claims and what was seen so far."""

    groups: int  # how many of the surest groups would stand
    stand: int  # answers in them, those looked at included
    checks: int  # looks by the expert, in all
    up: int  # answers that go up without a look
    cost: float  # of looks and of answers that go up


@dataclass(frozen=True, eq=False)
class EscalationDraw(Draw):
    """The draw of an escalation: a threshold lies after each group."""

    terms: EscalationTerms
    planned: Planned  # what looks are expected to lead to


@dataclass(frozen=True, eq=False)
class Escalated:
    """What an escalation shows: the answers of the first ``groups`` groups stand, all others go up."""

    draw: EscalationDraw
    wrong: Bools  # (k,): of the first k answers in the order of the draw, whether it was wrong
    certified: Ints  # (k,): how many of the surest groups may stand after each check
    planned: Planned  # the cheapest way on
    groups: int  # how many may stand now
    stand: int  # answers that stand, those looked at and corrected among them
    corrected: int  # wrong answers that were drawn and corrected, among those that stand
    left: int  # most wrong answers among those that stand, once those found are corrected
    finished: bool  # whether no further look is expected to save money

    @property
    def sentence(self) -> str:
        """The claim in words."""
        n, checked = self.draw.answers, self.wrong.size
        return (
            f"{claimed(self.draw.terms.delta, self.left, self.stand)} that stand are wrong, whatever the workers did "
            f"({checked} checked); the other {n - self.stand} of {n} go up a tier"
        )


def draw_escalation(claims: Floats, terms: EscalationTerms) -> EscalationDraw:
    """Sort by claimed error, cut into groups, and draw each next answer in proportion to its group's rate.

    Rates are those that refute quickest at the threshold that claims make the cheapest; answers above it are looked
    at as often as its last group where going up costs as much as a look, and the less often the less it costs.

    claims (answers,): claimed probability that each is wrong.
    """
    n, most = claims.size, terms.allowed
    by_claim = np.argsort(claims, kind="stable")
    mass = np.cumsum(np.sqrt(np.maximum(claims[by_claim], LEAST)))
    height = mass / mass[-1] + np.arange(1, n + 1) / n  # groups alike in number and in claims
    cuts = np.searchsorted(height, 2 * np.arange(1, THRESHOLDS) / THRESHOLDS)
    strata = cut(claims[by_claim], [min(most, n), *cuts], (most + 1) / (n + 1))
    groups = cheapest(strata, terms, *NO_LOOKS).groups
    size = strata.size[:groups]
    if size.sum() > most:
        rate = rates_of(size, strata.claim[:groups], (most + 1) / size.sum())
        above = np.full(strata.size.size - groups, rate[-1] * min(1.0, terms.next_price / terms.expert_price))
        strata = strata._replace(rate=np.concatenate([rate, above]))
    order = drawn_order(strata, by_claim, n, terms.seed)
    planned = cheapest(strata, terms, *NO_LOOKS)
    return EscalationDraw(strata, by_claim[:0], *order, next_looks(n, 0, planned), terms, planned)


def escalate(draw: EscalationDraw, wrong: Bools) -> Escalated:
    """What the first looks, (k,) in the order of the draw, show, and what is the cheapest way on."""
    terms, stratum = draw.terms, draw.stratum[: wrong.size]
    certified = certified_groups(draw.strata, terms, stratum, wrong)[1:]
    groups = int(certified[-1])
    stand, corrected = int(draw.strata.size[:groups].sum()), int(wrong[stratum < groups].sum())
    left = min(max(0, terms.allowed - corrected), stand - int((stratum < groups).sum()))
    planned = cheapest(draw.strata, terms, stratum, wrong)
    return Escalated(draw, wrong, certified, planned, groups, stand, corrected, left, planned.groups <= groups)


def next_looks(answers: int, seen: int, planned: Planned) -> int:
    """Looks to list: half of what the plan still asks for, as what they show may change it, and 10 at least."""
    return min(answers, seen + max(FEWEST, (planned.checks - seen + 1) // 2))


def certified_groups(strata: Strata, terms: EscalationTerms, stratum: Ints, wrong: Bools) -> Ints:
    """How many of the surest groups may stand before any check and after each, valid at all of them, (checks + 1,).

    Threshold g passes when "more than L of the answers in the first g groups are wrong" is refuted at 1/delta by its
    martingale, and every threshold below it has passed. Wrong answers below a threshold only grow with it, so there
    is a first g whose statement is true; no threshold from there on passes before that one is refuted, which its own
    martingale does with chance delta at most. So no split of delta, whatever the number of thresholds, and whenever
    one stops. The first groups that hold L answers or fewer stand without a look.

    stratum, wrong (checks,): group of each checked answer, in the order of the draw, and whether it was wrong.
    """
    passed = [0] * int((np.cumsum(strata.size) <= terms.allowed).sum())
    for groups in range(len(passed) + 1, strata.size.size + 1):
        path = log_martingale(strata, stratum, wrong, groups, np.array([terms.allowed + 1]), np.inf)[0]
        reached = np.flatnonzero(path >= -np.log(terms.delta))
        if not reached.size:
            break  # none above passes either
        passed.append(int(reached[0]))
    return np.searchsorted(np.maximum.accumulate(passed), np.arange(wrong.size + 1), side="right")


def cheapest(strata: Strata, terms: EscalationTerms, stratum: Ints, wrong: Bools) -> Planned:
    """The threshold at which looks and answers that go up are expected to cost least, from where the draw stands."""
    size, certified = strata.size, int(certified_groups(strata, terms, stratum, wrong)[-1])
    left = size - np.bincount(stratum, minlength=size.size)
    to_pass = [float(wrong.size)]  # looks until each threshold passes; what is certified costs no more
    for groups in range(certified + 1, size.size + 1):
        more = _more_looks(strata, terms, stratum, wrong, groups)
        if more == np.inf:
            break  # no threshold passes before those below it
        to_pass.append(max(to_pass[-1], wrong.size + more))
    looks, thresholds = np.array(to_pass), certified + np.arange(len(to_pass))
    # answers above each threshold that are not looked at: later looks fall in groups in proportion to rates
    share = left * strata.rate / max(float((left * strata.rate).sum()), SLOWEST)
    unseen = np.maximum(left - (looks - wrong.size)[:, None] * share, 0.0)
    up = np.where(np.arange(size.size) >= thresholds[:, None], unseen, 0.0).sum(axis=1)
    cost = terms.expert_price * looks + terms.next_price * up
    best = int(np.argmin(cost))
    groups = int(thresholds[best])
    return Planned(groups, int(size[:groups].sum()), int(np.ceil(looks[best])), int(up[best]), float(cost[best]))


def _more_looks(strata: Strata, terms: EscalationTerms, stratum: Ints, wrong: Bools, groups: int) -> float:
    """Looks until a threshold is expected to pass, those above it included; inf where it is not expected to.

    A look below it adds ``sum_s pi_s KL(r_s | theta_s)`` on average to the logarithm of its martingale, theta being
    where the wrong answers would be hardest to find.
    """
    left = (strata.size - np.bincount(stratum, minlength=strata.size.size)).astype(np.float64)
    inside, rate = left[:groups], strata.rate[:groups]
    predicted = predictions(strata, stratum, wrong)[-1, :groups]
    null = terms.allowed + 1.0 - float(wrong[stratum < groups].sum())
    if null <= float(inside @ predicted) or not inside.sum():
        return np.inf
    if null > inside.sum():
        return 0.0
    theta = np.minimum(hidden(inside[None], rate, predicted[None], np.array([null]))[1][0], 1 - 1e-12)
    divergence = predicted * np.log(predicted / theta) + (1 - predicted) * np.log((1 - predicted) / (1 - theta))
    weight = inside * rate
    growth = float(weight @ divergence) / float(weight.sum())
    if not growth > SLOWEST:
        return np.inf
    path = log_martingale(strata, stratum, wrong, groups, np.array([terms.allowed + 1]), np.inf)[0]
    needed = max(0.0, (float(-np.log(terms.delta)) - float(path[-1])) / growth)
    # of the looks a part falls below the threshold
    return np.inf if needed > inside.sum() else needed / (float(weight.sum()) / float(left @ strata.rate))
