"""The bound of an audit once more, by other means: tails from a library, hiding places by bisection."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints

ROUNDING = 1e-6  # of a logarithm, and of a tail
HALVINGS = 50
LEAST, MOST = -28.0, np.log(1e4)  # logarithm of the pressure; at the most, all that is left is supposed to be wrong


def exact_holds(answers: int, checked: int, wrong: int, left: int, delta: float) -> bool:
    """Whether ``P(Hyp(n, k + R + 1, a) <= k) <= delta``: more than R wrong ones would have shown.

    answers, checked, wrong: n answers, of which a were drawn and looked at, k of them wrong; left: R, the claim: so
    many are left at most.
    """
    from scipy.stats import hypergeom

    more = wrong + left + 1
    return more > answers - checked + wrong or bool(
        hypergeom.cdf(wrong, answers, more, checked) <= delta * (1 + ROUNDING)
    )


def martingale_holds(said: dict[str, Any], stratum: Ints, wrong: Bools, left: Ints) -> bool:
    """Whether each number of wrong answers above a claim is refuted by its test martingale when the claim is made.

    said: ``draw.json``, held against its table: groups, predictions, numbers, delta; stratum, wrong (checks,) int,
    bool: group of each answer looked at, in the order of the draw, and whether it was wrong; left (checks,): the claim
    after each check: so many are left at most.
    """
    size, rate = (np.array([group[name] for group in said["groups"]], float) for name in ("size", "rate"))
    rate /= rate @ size / size.sum()  # the draw and the bound know ratios of rates only
    numbers, total = np.array(said["numbers"]), int(size.sum())
    upto = np.append(numbers[1:] - 1, total)  # the last number that each one stands for
    seen = np.zeros((wrong.size + 1, size.size))
    seen[1:] = np.cumsum(np.eye(size.size)[stratum], axis=0)
    open_, found = size - seen[:-1], np.cumsum(wrong)
    predicted = predicted_shares(said["predicted"], stratum, wrong)
    says = left < total - np.arange(1, wrong.size + 1)  # that all are wrong that are left needs no proof
    for number, last in zip(numbers.tolist(), upto.tolist(), strict=True):
        excluded = np.flatnonzero(says & (left + found < last))
        if not excluded.size:
            continue
        k = int(excluded[0]) + 1  # checks after which the number must be refuted
        if number - found[k - 1] > total - k:
            continue  # more than there are
        null = number - (found - wrong)[:k]
        if (
            largest_log_product(null, open_[:k], rate, predicted[:k], stratum[:k], wrong[:k])
            < -np.log(said["delta"]) - ROUNDING
        ):
            return False
    return True


def predicted_shares(versions: dict[str, Any], stratum: Ints, wrong: Bools) -> Floats:
    """Bayes' rule, check by check.

    versions: ``predicted`` of the draw; stratum, wrong (checks,): as below; -> (checks, groups).
    """
    belief, error = np.array(versions["weight"], float), np.array(versions["error"], float)
    belief = belief / belief.sum()
    rows = []
    for group, is_wrong in zip(stratum.tolist(), wrong.tolist(), strict=True):
        rows.append(belief @ error)
        belief = belief * (error[:, group] if is_wrong else 1 - error[:, group])
        belief = belief / belief.sum()
    return np.array(rows).reshape(-1, error.shape[1])


def largest_log_product(
    null: Ints, sizes: Floats, rate: Floats, predicted: Floats, stratum: Ints, wrong: Bools
) -> float:
    """Largest logarithm of the product that is ever reached.

    null (checks,): wrong answers that are supposed to be left before each; sizes, predicted (checks, groups): answers
    left, and shares predicted; rate (groups,); stratum, wrong (checks,): group of each, and whether it was wrong.
    """
    # If at least m wrong ones are left, a factor's mean is ``1 + lambda (sum_i theta_i - m)`` at most; it is divided
    # by that, so that any pressure is valid and bisection only finds one that is good.
    low, high = np.full(null.size, LEAST), np.full(null.size, MOST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        hidden = (sizes * _hidden(np.exp(middle)[:, None] / rate, predicted)).sum(axis=1)
        low, high = np.where(hidden >= null, low, middle), np.where(hidden >= null, middle, high)
    pressure = np.exp(low)[:, None] / rate  # h = lambda / pi
    theta, own = _hidden(pressure, predicted), (np.arange(null.size), stratum)
    mean = 1 + np.exp(low) / (sizes @ rate) * ((sizes * theta).sum(axis=1) - null)
    right = np.log1p((pressure * theta)[own])  # (1 - r) / (1 - theta) = 1 + h theta
    factor = np.where(wrong, np.log((predicted / theta)[own]), right) - np.log(np.maximum(mean, 1e-300))
    return float(np.cumsum(np.where((sizes * predicted).sum(axis=1) < null, factor, 0.0)).max(initial=-np.inf))


def _hidden(pressure: Floats, predicted: Floats) -> Floats:
    """The share theta with ``theta - r = h theta (1 - theta)``."""
    half = (pressure - 1) / (2 * pressure)
    root = np.sqrt(half * half + predicted / pressure)
    return np.where(half > 0, half + root, predicted / pressure / np.maximum(root - half, 1e-300))
