"""What an audit or an escalation costs, as the words of an option say it; labels and audit planned together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv

from crowdopt.answers.audit.bound import checks_needed
from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.core.program import named_numbers
from crowdopt.errors import refuse_unless

GRID = 60  # error targets that are tried, beside those given
SPENT = 1e-12  # of the chance of a false claim; less than that left is nothing left
ENOUGH = 10  # wrong answers from which on the ratio of realised to claimed errors is taken from known ones


def spendable(confidence: float, earlier: Sequence[float] = (), share: float = 1.0) -> float:
    """Delta of the next audit: ``share`` of what earlier ones leave of ``1 - confidence``.

    The chance that any claim is false is at most the sum of all deltas, so with probability at least ``confidence`` all
    of them hold. A longer look at the same draw needs none of this: its claim holds at all times.

    confidence: of all claims together; earlier: deltas of the audits before; share: in (0, 1]; what is kept back is
    left for a later audit. Raises InputError if a number is out of range, or nothing is left.
    """
    left = round(1 - confidence - sum(earlier), 14)  # .05, not .050000000000000044
    tests = {
        f"the confidence must lie strictly between 0 and 1, not {confidence:g}": 0 < confidence < 1,
        f"the share of the chance of error must lie in (0, 1], not {share:g}": 0 < share <= 1,
        f"the earlier audits have spent all {1 - confidence:.3g} that a confidence of {confidence:g} leaves (one that "
        "--force replaces counts); go on with the earlier draw, whose claim holds at any time, or state a lower "
        "confidence": share * left > SPENT,
    }
    refuse_unless(tests)
    return share * left


@dataclass(frozen=True)
class Tariff:
    """An audit in terms of money."""

    price: float = 20.0  # of one look by the expert, in units of the labels' cost
    confidence: float = 0.95  # of the claim
    checks: float = 100.0  # answers looked at, where their number is given
    ratio: float = 1.5  # realised over claimed error; recorded label sets had 1.1 to 1.9

    def __post_init__(self) -> None:
        price, checks = self.price, self.checks
        tests = {
            f"an expert's price must be at least 0, not {price:g}": price >= 0,
            f"checks must be a whole number of at least 1, not {checks:g}": checks == max(1, int(checks)),
            f"the ratio of realised to claimed error must lie above 0, not {self.ratio:g}": self.ratio > 0,
        }
        refuse_unless(tests)
        spendable(self.confidence)


def tariff(text: str) -> Tariff:
    """A tariff as it is written: ``price=20,confidence=.95``, ``checks=100,price=20``, or nothing for the defaults."""
    return Tariff(**named_numbers(text, Tariff, "an audit", "price=20"))


@dataclass(frozen=True)
class Tiers:
    """Prices, and how many tiers there are before the expert."""

    expert: float = 1.0  # price of one look by the expert
    next: float = 1.0  # price of one answer that goes up; as the expert's unless given
    tiers: float = 1  # whose answers are held against the expert's, this one included

    def __post_init__(self) -> None:
        tests = {
            f"the price expert must lie above 0 and be finite, not {self.expert:g}": self.expert > 0,
            f"the price next must lie above 0 and be finite, not {self.next:g}": self.next > 0,
            f"tiers must be a whole number of at least 1, not {self.tiers:g}": self.tiers == max(1, int(self.tiers)),
        }
        refuse_unless(tests)


def tiers(text: str) -> Tiers:
    """Words as they are written: ``expert=40``, ``expert=40,next=3,tiers=2``, or nothing for the defaults."""
    given = named_numbers(text, Tiers, "an escalation", "expert=40")
    return Tiers(**{"next": given.get("expert", 1.0), **given})


class Together(NamedTuple):
    """Costs by the error that labels are planned for."""

    epsilon: Floats  # (k,): error targets of the labels, ascending
    labels: Floats  # (k,): what labels cost at least
    looks: Ints  # (k,): answers that an expert checks: they certify the target nine times in ten
    total: Floats  # (k,): labels and looks
    experts_alone: float  # what it costs to have an expert answer every task


def together(epsilon: Floats, labels: Floats, answers: int, target: float, tariff: Tariff) -> Together:
    """``cost(e') + price * looks(e')``, looks by the exact bound where the true error is ``ratio * e'``.

    epsilon, labels (k,): error targets, ascending, and what labels for them cost; in between the cost is taken as
    linear in ln(epsilon), as it is between the pieces of the linear program's curve; answers: how many there will be;
    target: share of wrong answers to certify.
    """
    grid = np.union1d(epsilon, np.geomspace(epsilon[0], epsilon[-1], GRID))
    cost = np.interp(np.log(grid), np.log(epsilon), labels)
    errors, delta = np.minimum(1.0, tariff.ratio * grid), spendable(tariff.confidence)
    looks = np.array([checks_needed(answers, target, float(error), delta) for error in errors], np.int64)
    total = cost + tariff.price * looks
    return Together(grid, cost, looks, total, tariff.price * answers)


class Realised(NamedTuple):
    """Realised over claimed error on tasks of known answers, with a 95 % interval for independent errors."""

    ratio: float
    low: float
    high: float
    tasks: int
    enough: bool  # from 10 wrong answers on


def realised(claims: Floats, wrong: Bools) -> Realised:
    """Wrong answers over the expected number of them; the interval is Garwood's for a Poisson count.

    claims (tasks,): claimed probability that each answer is wrong; wrong (tasks,): whether it is.
    """
    expected, count = max(float(claims.sum()), 1e-12), int(wrong.sum())
    low = float(gammaincinv(count, 0.025)) if count else 0.0
    ends = (count / expected, low / expected, float(gammaincinv(count + 1, 0.975)) / expected)
    return Realised(*ends, wrong.size, count >= ENOUGH)
