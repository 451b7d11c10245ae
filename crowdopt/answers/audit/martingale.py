"""The bound of an audit that may stop at any time: a test martingale for each number of wrong answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.answers.audit.audited import Draw
from crowdopt.answers.audit.hiding import least_pressure, share_wrong
from crowdopt.answers.audit.prediction import predictions
from crowdopt.arrays import Bools, Floats, Ints

EVERY = 400  # up to so many answers each number of wrong ones is a hypothesis of its own
FINE, COARSE = 100, 200  # beyond: so many around the target, and so many over the whole range
BLOCK = 32  # checks at a time; between blocks refuted numbers are dropped
LEAST = 1e-300  # keeps a logarithm finite


def most_left_path(draw: Draw, wrong: Bools) -> Ints:
    """Most wrong answers that are left after each check, valid at all of them together, (checks,) int.

    For "at least w of the n answers are wrong", before a check ``m = w - K`` wrong ones are supposed to be left. With
    predictions r and the hiding place theta, ``sum_i theta_i = m``, the factor of a check is ``r / theta`` if the
    answer is wrong and ``(1 - r) / (1 - theta)`` if it is right. Answer i is drawn with chance pi_i, and theta is such
    that the two differ by ``lambda / pi_i``: so the factor's mean is ``1 + lambda (m - W_left) <= 1`` wherever the
    wrong ones are, and by Ville's inequality the product ever reaches 1/delta with chance at most delta (Waudby-Smith &
    Ramdas 2020; Stark 2023, ALPHA). After a check w is refuted if its product ever was that large; the claim is the
    largest number that is not, less what was found.

    draw: groups, order, predictions, and the numbers of wrong answers that are tested, ascending from 0: each stands
    for all up to the next one; wrong (checks,): whether each of the first answers in the order of the draw was wrong;
    -> (checks,).
    """
    numbers, answers = draw.numbers, draw.order.size
    found: Ints = np.cumsum(wrong)
    upto = np.append(numbers[1:] - 1, answers)  # the last number that a hypothesis stands for
    most = np.where(_refuted(draw, wrong), 0, upto[:, None]).max(axis=0)
    return np.clip(most - found, 0, answers - np.arange(1, wrong.size + 1))


def hypotheses(answers: int, target: float) -> Ints:
    """Numbers of wrong answers tested, ascending from 0, dense above the target; each stands for all up to the next."""
    if answers <= EVERY:
        return np.arange(answers + 1)
    first = int(target * answers) + 1
    fine = first + np.arange(FINE) * max(1, first // FINE)
    coarse = np.round(np.geomspace(1, answers, COARSE)).astype(np.int64)
    numbers = np.unique(np.concatenate([[0], fine, coarse]))
    return numbers[numbers <= answers]


def _refuted(draw: Draw, wrong: Bools) -> Bools:
    """Whether each number is refuted after each check, (numbers, checks); a number once refuted stays so."""
    strata, numbers, stratum = draw.strata, draw.numbers, draw.stratum[: wrong.size]
    predicted, bar = predictions(draw.versions, stratum, wrong), -np.log(draw.terms.delta)
    checks, groups = wrong.size, strata.size.size
    taken = np.zeros((checks, groups))
    taken[np.arange(checks), stratum] = 1
    sizes = strata.size - np.cumsum(taken, axis=0) + taken  # before each check
    checked = Checked(sizes, strata.rate, predicted, stratum, wrong)
    found: Ints = np.cumsum(wrong) - wrong
    refuted = np.zeros((numbers.size, checks), bool)
    product, open_ = np.zeros(numbers.size), np.arange(numbers.size)
    # block by block: numbers that are refuted drop out, and later blocks cost only what is still open
    for start in range(0, checks, BLOCK):
        block = np.arange(start, min(start + BLOCK, checks))
        null = (numbers[open_, None] - found[block]).astype(np.float64)
        path = product[open_, None] + np.cumsum(log_factors(checked, block, null), axis=1)
        # more wrong answers than are left at all is refuted without a product
        over = (path >= bar) | (null > sizes[block].sum(axis=1))
        over = np.logical_or.accumulate(over, axis=1)
        refuted[open_, start : start + BLOCK] = over
        product[open_] = path[:, -1]
        refuted[open_[over[:, -1]], start + BLOCK :] = True
        open_ = open_[~over[:, -1]]
    return refuted


class Checked(NamedTuple):
    """What is known before each check, and what it showed."""

    sizes: Floats  # (checks, groups): answers left in each group before the check, its own included
    rate: Floats  # (groups,): relative chance of each answer of the group to be drawn next
    predicted: Floats  # (checks, groups): share of wrong answers that is predicted for each group before the check
    stratum: Ints  # (checks,): the group that was drawn from
    wrong: Bools  # (checks,): whether the answer was wrong


def log_factors(checked: Checked, block: Ints, null: Floats) -> Floats:
    """Logarithm of the factor of each check of the block for each number, (numbers, checks of the block).

    It is 0 where no more are supposed to be left than are predicted. Where the hidden shares add up to a little more or
    less than m, the factor is divided by what its mean then is: ``1 + lambda (sum_i theta_i - m)``.

    null (numbers, checks of the block): wrong answers that are supposed to be left before each.
    """
    expected = (checked.sizes * checked.predicted)[block].sum(axis=1)
    rows, places = np.nonzero((null > expected) & (null <= checked.sizes[block].sum(axis=1)))
    t, supposed = block[places], null[rows, places]
    sizes, predicted = checked.sizes[t], checked.predicted[t]
    pressure = least_pressure(sizes, checked.rate, predicted, supposed)
    theta = share_wrong(pressure[:, None] / checked.rate, predicted)
    unit = pressure / (sizes @ checked.rate)  # lambda
    mean = 1 + unit * ((sizes * theta).sum(axis=1) - supposed)
    own, each = checked.stratum[t], np.arange(t.size)
    hidden = theta[each, own]
    factor = np.where(checked.wrong[t], predicted[each, own] / hidden, 1 + hidden * pressure / checked.rate[own])
    factors = np.zeros(null.shape)
    factors[rows, places] = np.log(factor) - np.log(np.maximum(mean, LEAST))
    return factors
