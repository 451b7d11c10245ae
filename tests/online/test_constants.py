"""Every constant of Ho, Jabbari & Vaughan's Theorems 2, 4 and 5, against values worked out by hand.

Where a theorem has logarithms, epsilon and delta are powers of e, so that every logarithm is a whole number.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt

import pytest

from crowdopt.errors import InputError
from crowdopt.online import theorems


def test_theorem_4_by_hand():
    """Epsilon = e^-8, t = 1/40: (1 - (1/10)/(1/5)) (1 - (1/10)/(1/4)) = 1/2 * 3/5, so the error is e^-2.4."""
    assert theorems.error_after(exp(-8), 1 / 40, 1 / 5, 1 / 4) == pytest.approx(exp(-2.4), rel=1e-12)
    assert theorems.error_after(exp(-8), 1 / 40, 1 / 5, 1 / 20) == 1.0  # 4t is above q_i
    assert theorems.error_after(exp(-8), 1 / 40, 1 / 20, 1 / 4) == 1.0  # 4t is above qmin
    assert theorems.error_after(exp(-8), 1 / 40, 1 / 20, 1 / 20) == 1.0  # above both: two negative factors


def test_theorem_2_by_hand():
    """Epsilon = e^-450, C = 900; gamma = 1/4, sqrt(gamma C) = 15; ln(2/delta) = 2; n = 10, m = 30, qmin = 1/2:
    1 + 10/(1/2 * 10 * 900) + 35 * 2 / (1/2 * 15) = 1 + 1/450 + 28/3; the error is e^(-450 (1 - 12/15)) = e^-90.
    """
    promised = theorems.theorem_2(10, 30, exp(-450), 2 * exp(-2), 0.25, 0.5)
    assert promised.labels_ratio == pytest.approx(1 + 1 / 450 + 28 / 3, rel=1e-12)
    assert log(promised.error) == pytest.approx(-90, rel=1e-12)
    assert promised.least_gamma == pytest.approx(1 / 900, rel=1e-12)
    assert promised.printed_error == inf  # e^4950 / 15


def test_theorem_2_promises_nothing_below_its_gamma():
    """Gamma must reach 1/C: C = 4 and gamma = 1/5 do not, 1/4 does."""
    below, at = (theorems.theorem_2(10, 5, exp(-2), 2 * exp(-2), gamma, 0.5) for gamma in (0.2, 0.25 + 1e-9))
    assert below.labels_ratio == inf and below.error == 1.0
    assert at.labels_ratio < inf


def test_theorem_5_by_hand():
    """4 T (1 + gamma) m / delta = e^8 for T = 2, gamma = 1, m = 50, delta = 800 e^-8; s = 400 gives t = 1/10. With
    qbar = 1, l1 = 2/5; epsilon = e^-500, C = 1000, C' = 600; n = 20.
    """
    delta = 800 * exp(-8)
    four = log(4 / delta)  # 8 - ln 200
    one = theorems.theorem_5(20, 50, 2, exp(-500), delta, 1.0, 1.0, gold=400, quality=0.5, assigned_quality=0.25)
    assert one.tolerance == pytest.approx(0.1, rel=1e-12)
    assert one.gold_labels == 100 * 400 * 2
    assert log(one.epsilon) == pytest.approx(-300, rel=1e-12)
    l1, l2, l3 = one.losses
    assert (l1, l3) == pytest.approx((0.4, 0.8), rel=1e-12)
    assert l2 == pytest.approx(6 * four / sqrt(600), rel=1e-12)
    assert one.labels_ratio == pytest.approx(1 + 20 / (0.25 * 20 * 600) + 35 * four / (0.25 * sqrt(600)), rel=1e-12)
    assert log(one.error) == pytest.approx(-500 * 0.6 * (1 - l2) * 0.2, rel=1e-9)
    asked = theorems.theorem_5(20, 50, 2, exp(-500), delta, 0.5, 1.0)
    assert asked.gold in (256, 257)  # 8 * 8 / (1/4), rounded up


def test_a_mean_is_no_least_value():
    """Theorem 5 divides by q-hat_min, the least over assigned pairs, not by qbar_min, a mean: at epsilon = 1e-60,
    100,000 gold tasks and means of .5 it is 17.0 where the least is .5 too, and 161 where it is .05.
    """
    given = {"gold": 100_000, "quality": 0.5}
    for least, ratio in ((0.5, 17.0), (0.05, 161), (None, inf)):  # promised only to those who know it
        found = theorems.theorem_5(1000, 300, 1, 1e-60, 0.1, 0.5, 1.0, assigned_quality=least, **given)
        assert found.labels_ratio == pytest.approx(ratio, rel=0.0029)


def test_theorem_5_promises_nothing_below_its_gamma():
    """Gamma must reach 1/C: epsilon = e^-250, C = 500, so 1/600 is too small a share and 1/400 is not."""
    given = {"gold": 10**9, "quality": 1.0, "assigned_quality": 1.0}
    below, above = (theorems.theorem_5(10, 600, 1, exp(-250), 0.4, 1.0, gamma, **given) for gamma in (1 / 600, 1 / 400))
    assert below.labels_ratio == inf and below.error == 1.0
    assert above.labels_ratio < inf
    assert above.least_gamma == pytest.approx(1 / 500, rel=1e-12)


@pytest.mark.parametrize("wrong", [{"epsilon": 0.5}, {"delta": 0.5}, {"gamma": 1.5}, {"least_quality": 0.0}])
def test_what_the_theorem_is_not_stated_for_is_refused(wrong):
    given = {"epsilon": 0.1, "delta": 0.1, "gamma": 0.3, "least_quality": 0.2, **wrong}
    with pytest.raises(InputError, match="must lie in"):
        theorems.theorem_5(10, 10, 1, **given)
