"""Which thresholds have too few wrong answers below: a test martingale for each, in a fixed sequence."""

from __future__ import annotations

import numpy as np

from crowdopt.answers.audit.escalated import EscalationDraw
from crowdopt.answers.audit.martingale import Checked, log_factors
from crowdopt.answers.audit.prediction import predictions
from crowdopt.arrays import Bools, Floats, Ints

NEVER = np.iinfo(np.int64).max  # checks after which a threshold passes that does not pass


def certified_groups(draw: EscalationDraw, wrong: Bools) -> Ints:
    """How many of the surest groups may stand after each check, valid at all of them together, (checks,).

    Threshold g passes when "more than L of the answers in the first g groups are wrong" is refuted at 1/delta by its
    martingale, and every threshold below it has passed. Wrong answers below a threshold only grow with it, so there
    is a first g whose statement is true; no threshold from there on passes before that one is refuted, which its own
    martingale does with chance delta at most. So no split of delta, whatever the number of thresholds, and whenever
    one stops. The first groups that hold L answers or fewer stand without a look.

    wrong (checks,): whether each of the first answers in the order of the draw was wrong; -> (checks,).
    """
    passed = np.full(draw.strata.size.size, NEVER)
    after = 0
    for g in range(passed.size):
        after = max(after, _passed(draw, wrong, g + 1))
        if after == NEVER:
            break  # none above passes either
        passed[g] = after
    return (passed[:, None] <= np.arange(1, wrong.size + 1)).sum(axis=0)


def log_products(draw: EscalationDraw, wrong: Bools, groups: int) -> tuple[Floats, Ints]:
    """The logarithm of a threshold's martingale after each check below it, and the numbers of these checks."""
    seen = draw.stratum[: wrong.size]
    below: Ints = np.flatnonzero(seen < groups)
    own, found = seen[below], wrong[below]
    taken = np.zeros((below.size, groups))
    taken[np.arange(below.size), own] = 1
    sizes = draw.strata.size[:groups] - np.cumsum(taken, axis=0) + taken  # before each check
    predicted = predictions(draw.versions, seen, wrong)[below, :groups]
    checked = Checked(sizes, draw.strata.rate[:groups], predicted, own, found)
    before: Ints = np.cumsum(found) - found
    null = draw.terms.allowed + 1 - before
    factors = log_factors(checked, np.arange(below.size), null[None, :].astype(np.float64))[0]
    impossible = null > sizes.sum(axis=1)  # more wrong answers than are left at all
    return np.cumsum(np.where(impossible, np.inf, factors)), below


def _passed(draw: EscalationDraw, wrong: Bools, groups: int) -> int:
    if draw.strata.size[:groups].sum() <= draw.terms.allowed:
        return 0
    product, below = log_products(draw, wrong, groups)
    reached = np.flatnonzero(product >= -np.log(draw.terms.delta))
    return int(below[reached[0]]) + 1 if reached.size else NEVER
