"""A test martingale for each number of wrong answers: what looks in the order of a draw refute, at any time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints

CELLS = 12_800  # numbers x checks at a time; between blocks numbers that have reached the bar are dropped
STEPS = 60  # of Newton, kept between bounds; what error is left is divided out, so that it costs power and not truth
SHARES_AGREE = 1e-10  # of the answers left: the hidden shares add up to the number supposed
SMALLEST, LARGEST = (
    1e-12,
    1e4,
)  # pressure is kept between: next to nothing is hidden, or next to all, and rounding is far


class Strata(NamedTuple):
    """Groups of answers, surest first, and what may be wrong in them, in several versions."""

    # answers in each; sorted by claimed error, equal ones in their order, the answers are cut into these sizes
    size: Ints  # (groups,)
    claim: Floats  # (groups,): mean claimed error
    rate: Floats  # (groups,): relative chance of each answer of the group to be drawn next
    weight: Floats  # (versions,): belief in each version, before any check
    error: Floats  # (versions, groups): share of wrong answers


def log_martingale(strata: Strata, stratum: Ints, wrong: Bools, groups: int, numbers: Ints, bar: float) -> Floats:
    """Logarithm of the product for "at least w answers of the first groups are wrong", (numbers, checks + 1).

    Before a check ``m = w - K`` wrong ones are supposed to be left. With predictions r and the hiding place theta,
    ``sum_i theta_i = m``, the factor of a check is ``r / theta`` if the answer is wrong and ``(1 - r) / (1 - theta)``
    if it is right. Answer i is drawn with chance pi_i, and theta is such that the two differ by ``lambda / pi_i``: so
    the factor's mean is ``1 + lambda (m - W_left) <= 1`` wherever the wrong ones are, and by Ville's inequality the
    product ever reaches 1/delta with chance at most delta (Waudby-Smith & Ramdas 2020; Stark 2023, ALPHA). The draw's
    part inside the first groups is such a draw from these: checks above them leave the product as it is.

    stratum, wrong (checks,): group of each checked answer, in the order of the draw, and whether it was wrong; numbers
    (numbers,): w; bar: once a logarithm has reached it, later ones of its number may be infinite; -> before any check,
    and after each.
    """
    inside = stratum < groups
    below: Ints = np.flatnonzero(inside)
    own, found, rate = stratum[below], wrong[below], strata.rate[:groups]
    taken = np.eye(groups)[own]
    sizes = strata.size[:groups] - np.cumsum(taken, axis=0) + taken  # before each check
    predicted = predictions(strata, stratum, wrong)[below, :groups]
    null = numbers[:, None] - (np.cumsum(found) - found).astype(np.float64)
    path = np.full((numbers.size, below.size), np.inf)
    last, open_ = np.zeros(numbers.size), np.arange(numbers.size)
    block = max(1, CELLS // numbers.size)
    for start in range(0, below.size, block):  # later blocks cost only what is still open
        at = slice(start, start + block)
        factors = _log_factors(rate, sizes[at], predicted[at], own[at], found[at], null[open_, at])
        path[open_, at] = step = last[:, None] + np.cumsum(factors, axis=1)
        still = (step < bar).all(axis=1)
        open_, last = open_[still], step[still, -1]
    return np.pad(path, ((0, 0), (1, 0)))[:, np.append(0, np.cumsum(inside))]


def _log_factors(rate: Floats, sizes: Floats, predicted: Floats, own: Ints, wrong: Bools, null: Floats) -> Floats:
    """Of each check for each number, (numbers, checks): 0 where no more are supposed to be left than are predicted."""
    factors = np.where(null > sizes.sum(axis=1), np.inf, 0.0)  # more wrong answers than are left at all
    rows, checks = np.nonzero((null > (sizes * predicted).sum(axis=1)) & (factors == 0))
    sizes, predicted, own, supposed = sizes[checks], predicted[checks], own[checks], null[rows, checks]
    pressure, theta = hidden(sizes, rate, predicted, supposed)
    # where the shares add up to a little more or less than m, the factor is divided by what its mean then is
    mean = 1 + pressure / (sizes @ rate) * ((sizes * theta).sum(axis=1) - supposed)
    each = np.arange(own.size)
    share = theta[each, own]
    factor = np.where(wrong[checks], predicted[each, own] / share, 1 + share * pressure / rate[own])
    factors[rows, checks] = np.log(factor) - np.log(np.maximum(mean, 1e-300))
    return factors


def predictions(strata: Strata, stratum: Ints, wrong: Bools) -> Floats:
    """Predicted share of wrong answers of each group before each check, and after the last, (checks + 1, groups).

    After a check the weight of a version is multiplied by the chance that it gave to what was seen. Any prediction from
    the past is valid: a poor one costs checks.
    """
    chance = np.where(wrong[:, None], strata.error[:, stratum].T, 1 - strata.error[:, stratum].T)
    log_weight = np.cumsum(np.log(np.vstack([strata.weight, chance])), axis=0)
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True) @ strata.error


def hidden(sizes: Floats, rate: Floats, predicted: Floats, null: Floats) -> tuple[Floats, Floats]:
    """Where so many wrong answers are hardest to find: the pressure mu, and the share theta in each group.

    ``min sum_s pi_s KL(r_s | theta_s)  s.t.  sum_s N_s theta_s >= m``, with ``pi_s`` in proportion to the rates, has
    its optimum where ``rate_s KL'(r_s | theta_s) = mu`` for all groups.

    sizes, predicted (cells, groups): answers not yet checked, and the predicted share of wrong ones; rate (groups,):
    relative chance of each answer to be drawn; null (cells,): wrong answers that are supposed to be there, more than
    are predicted and at most all; -> (cells,), (cells, groups).
    """
    total = np.maximum(sizes.sum(axis=1), 1.0)
    share = np.clip(null / total, SMALLEST, 1 - 1e-11)
    mean = np.clip((sizes * predicted).sum(axis=1) / total, SMALLEST, 1 - 1e-9)
    # start: the pressure that would suffice if all groups were one of mean share and typical rate
    height = np.log(
        np.clip((sizes * rate).sum(axis=1) / total * (share - mean) / (share * (1 - share)), SMALLEST, LARGEST)
    )
    # Newton in ln mu, for mu spans decades; a step that leaves the bracket is replaced by its middle
    below, above = np.full(height.shape, np.log(SMALLEST)), np.full(height.shape, np.log(LARGEST))
    for _ in range(STEPS):
        mu = np.exp(height)
        pressure = mu[:, None] / rate
        # theta with (theta - r) / (theta (1 - theta)) = h, the pressure: the root of h theta^2 + (1 - h) theta - r = 0,
        # written so that nothing cancels
        middle = 1 - pressure
        root = np.sqrt(middle * middle + 4 * pressure * predicted)
        low, high = (
            2 * predicted / np.maximum(middle + root, SMALLEST),
            (root - middle) / np.maximum(2 * pressure, SMALLEST),
        )
        theta = np.clip(np.where(middle >= 0, low, high), predicted, 1.0)
        short = null - (sizes * theta).sum(axis=1)
        below, above = np.where(short > 0, height, below), np.where(short > 0, above, height)
        far = (np.abs(short) > SHARES_AGREE * total) & (above - below > SHARES_AGREE)
        if not far.any():
            break
        # d theta / d h = theta (1 - theta) / (2 h theta + 1 - h), from the quadratic
        slope = theta * (1 - theta) * pressure / np.maximum(2 * pressure * theta + 1 - pressure, SMALLEST)
        to = height + short / np.maximum((sizes * slope).sum(axis=1), SMALLEST)
        height = np.where(far, np.where((below < to) & (to < above), to, (below + above) / 2), height)
    return mu, theta
