"""The exact bound of an audit whose size is fixed beforehand: hypergeometric, for any placement of the errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from crowdopt.arrays import Floats

ROUNDING = 1e-7  # relative; a tail this close to delta counts as above it: log-factorials of 1e6 round at 1e-9
POWER = 0.9  # with which the number of checks that is proposed certifies the target
FAR = 20.0  # standard deviations, at least, beyond which terms of a tail add less than 1e-80


def most_left(answers: int, checked: int, wrong: int, delta: float) -> int:
    """``R = min { r : P(Hyp(n, k + r + 1, a) <= k) <= delta }``: at most R wrong answers are left.

    n answers, W of them wrong, fixed before the draw; a are drawn without replacement, k of them are wrong and are
    corrected. The claim is false only if ``K <= k*``, where k* is the largest count that accepts an r below ``W - K``;
    ``P_W(K <= k*) <= P_{k* + r + 1}(K <= k*) <= delta``, because Hyp grows stochastically in W.

    answers, checked, wrong: n, a, k; delta: chance of a false claim, over the draw alone.
    """
    return _first(0, answers - checked, lambda left: _accepts(answers, checked, wrong, left, delta))


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first from low to high for which something holds, which then holds from there on; else high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _accepts(answers: int, checked: int, wrong: int, left: int, delta: float) -> bool:
    return at_most(wrong, answers, wrong + left + 1, checked) <= delta * (1 - ROUNDING)


def at_most(count: int, answers: int, wrong: int, checked: int) -> float:
    """``P(Hyp(n, W, a) <= k)``: the chance that at most k of the a checked ones are wrong, W of n being so."""
    first = max(0, checked - (answers - wrong))
    last = min(count, wrong, checked)
    if last < first:
        return 0.0
    first = max(first, int(min(last, checked * wrong / answers) - FAR * 0.5 * checked**0.5 - 1))  # from the mean
    k = np.arange(first, last + 1)
    logs = _choose(wrong, k) + _choose(answers - wrong, checked - k) - _choose(answers, np.array(checked))
    return float(min(1.0, np.exp(logs).sum()))


def _choose(of: int, k: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Floats:
    return gammaln(of + 1) - gammaln(k + 1) - gammaln(of - k + 1)


def checks_needed(answers: int, target: float, error: float, delta: float) -> int:
    """Checks that certify the target nine times in ten where a share ``error`` of the answers is wrong.

    By bisection; the power is a saw in the number of checks, so a smaller number may do by luck.

    target, error: shares of wrong answers: to be certified, and in truth; delta: chance of a false claim, at most.
    """
    wrong, left = round(error * answers), int(target * answers + ROUNDING)

    def certify(checks: int) -> bool:
        seen = _first(0, checks, lambda count: at_most(count, answers, wrong, checks) >= POWER)
        return left >= answers - checks or _accepts(answers, checks, seen, left, delta)

    return _first(1, answers, certify)
