"""The bound of an audit once more, by other means: tails from a library, hiding places by bisection."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints

ROUNDING = 1e-6  # of a logarithm, and of a tail
HALVINGS = 50
MOST = 1e4  # pressure; where all that is left is supposed to be wrong
FIRST = 64  # checks after which most numbers of wrong answers are refuted


def exact_holds(answers: int, checked: int, wrong: int, left: int, delta: float) -> bool:
    """Whether ``P(Hyp(n, k + R + 1, a) <= k) <= delta``: more than R wrong ones would have shown.

    Parameters
    ----------
    answers, checked, wrong : int
        n answers, of which a were drawn and looked at, k of them wrong.
    left : int
        R, the claim: so many are left at most.
    delta : float
        Chance that the claim is false, at most.

    Returns
    -------
    bool
    """
    from scipy.stats import hypergeom

    more = wrong + left + 1
    return more > answers - checked + wrong or bool(
        hypergeom.cdf(wrong, answers, more, checked) <= delta * (1 + ROUNDING)
    )


def martingale_holds(said: dict[str, Any], stratum: Ints, wrong: Bools, left: int) -> bool:
    """Whether each number of wrong answers above the claim is refuted by its test martingale.

    Parameters
    ----------
    said : dict
        ``draw.json``: groups, predictions, numbers, delta.
    stratum, wrong : (checks,) int, bool
        Group of each answer looked at, in the order of the draw, and whether it was wrong.
    left : int
        The claim: so many are left at most.

    Returns
    -------
    bool
    """
    size, rate = (np.array([group[name] for group in said["groups"]], float) for name in ("size", "rate"))
    numbers, total = np.array(said["numbers"]), size.sum()
    upto = np.append(numbers[1:] - 1, total)  # the last number that each one stands for
    claimed = left + int(wrong.sum())
    seen = np.zeros((wrong.size + 1, size.size))
    seen[1:] = np.cumsum(np.eye(size.size)[stratum], axis=0)
    open_, before = size - seen[:-1], np.concatenate([[0], np.cumsum(wrong)[:-1]])
    predicted = _predicted(said["predicted"], stratum, wrong)
    for number in numbers[upto > claimed].tolist():
        null = number - before
        if (null > open_.sum(axis=1)).any():
            continue
        if not any(
            _largest(null[:k], open_[:k], rate, predicted[:k], stratum[:k], wrong[:k])
            >= -np.log(said["delta"]) - ROUNDING
            for k in (min(FIRST, wrong.size), wrong.size)
        ):
            return False
    return True


def _predicted(versions: dict[str, Any], stratum: Ints, wrong: Bools) -> Floats:
    """Bayes' rule, check by check."""
    belief, error = np.array(versions["weight"], float), np.array(versions["error"], float)
    belief = belief / belief.sum()
    rows = []
    for group, is_wrong in zip(stratum.tolist(), wrong.tolist(), strict=True):
        rows.append(belief @ error)
        belief = belief * (error[:, group] if is_wrong else 1 - error[:, group])
        belief = belief / belief.sum()
    return np.array(rows).reshape(-1, error.shape[1])


def _largest(null: Floats, sizes: Floats, rate: Floats, predicted: Floats, stratum: Ints, wrong: Bools) -> float:
    """Largest logarithm of the product that is ever reached."""
    low, high = np.full(null.size, -28.0), np.full(null.size, np.log(MOST))  # of the logarithm of the pressure
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = (sizes * _hidden(np.exp(middle)[:, None] / rate, predicted)).sum(axis=1) >= null
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    theta = _hidden(np.exp(low)[:, None] / rate, predicted)[np.arange(null.size), stratum]
    r = predicted[np.arange(null.size), stratum]
    factor = np.where(wrong, np.log(r / theta), np.log1p(-r) - np.log1p(-np.minimum(theta, 1 - 1e-15)))
    needed = (sizes * predicted).sum(axis=1) < null
    return float(np.cumsum(np.where(needed, factor, 0.0)).max(initial=-np.inf))


def _hidden(pressure: Floats, predicted: Floats) -> Floats:
    """The share theta with ``theta - r = h theta (1 - theta)``."""
    half = (pressure - 1) / (2 * pressure)
    root = np.sqrt(half * half + predicted / pressure)
    theta: Floats = np.where(half > 0, half + root, predicted / pressure / np.maximum(root - half, 1e-300))
    return theta
