"""Labels and audit planned together: which error to plan for, how many answers to check, what it costs in all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from crowdopt.answers.audit.exact_bound import checks_needed
from crowdopt.answers.audit.tariff import Tariff
from crowdopt.arrays import Bools, Floats, Ints

GRID = 60  # error targets that are tried, beside those given
ENOUGH = 10  # wrong answers from which on the ratio of realised to claimed errors is taken from known ones


@dataclass(frozen=True, eq=False)
class Together:
    """Costs by the error that labels are planned for."""

    epsilon: Floats  # (k,): error targets of the labels, ascending
    labels: Floats  # (k,): what labels cost at least
    looks: Ints  # (k,): answers that an expert checks: they certify the target nine times in ten
    total: Floats  # (k,): labels and looks
    tariff: Tariff
    target: float  # share of wrong answers that is certified
    answers: int

    @property
    def best(self) -> int:
        """Place of the cheapest."""
        return int(np.argmin(self.total))

    @property
    def experts_alone(self) -> float:
        """What it costs to have an expert answer every task."""
        return self.tariff.price * self.answers


def together(epsilon: Floats, labels: Floats, answers: int, target: float, tariff: Tariff) -> Together:
    """``cost(e') + price * looks(e')``, looks by the exact bound where the true error is ``ratio * e'``.

    epsilon, labels (k,): error targets, ascending, and what labels for them cost; in between the cost is taken as
    linear in ln(epsilon), as it is between the pieces of the linear program's curve; answers: how many there will be;
    target: share of wrong answers to certify.
    """
    grid = np.union1d(epsilon, np.geomspace(epsilon[0], epsilon[-1], GRID))
    labels, epsilon = np.interp(np.log(grid), np.log(epsilon), labels), grid
    errors = np.minimum(1.0, tariff.ratio * epsilon)
    looks = np.array([checks_needed(answers, target, float(error), tariff.delta) for error in errors], np.int64)
    return Together(epsilon, labels, looks, labels + tariff.price * looks, tariff, target, answers)


@dataclass(frozen=True)
class Realised:
    """Realised over claimed error on tasks of known answers, with a 95 % interval for independent errors."""

    ratio: float
    low: float
    high: float
    tasks: int
    enough: bool


def realised(claims: Floats, wrong: Bools) -> Realised:
    """Wrong answers over the expected number of them; the interval is Garwood's for a Poisson count.

    claims (tasks,): claimed probability that each answer is wrong; wrong (tasks,): whether it is; -> ``enough`` from 10
    wrong answers on.
    """
    expected, count = max(float(claims.sum()), 1e-12), int(wrong.sum())
    low = float(gammaincinv(count, 0.025)) if count else 0.0
    ends = (count / expected, low / expected, float(gammaincinv(count + 1, 0.975)) / expected)
    return Realised(*ends, wrong.size, count >= ENOUGH)
