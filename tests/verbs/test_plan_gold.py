"""The verb plan-gold: what the theorems promise for an amount of gold, and what simulation says instead."""

from __future__ import annotations

from math import exp, log, sqrt

import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.verbs.plan_gold import plan_gold


def test_promises_are_those_of_the_theorems_by_hand():
    """Hammers .7 have evidence .16, spammers none: both qualities are .16. t by Lemma 2 over 1.3 m T pairs, Theorem 4's
    error (1 - 4t/.16)^2 of the exponent; as printed Theorem 5's gold has l1 = 1.
    """
    one = crowdopt.recipe("HS:40x120", seed=1)
    plan = plan_gold(one, golds=[10, 100_000], trials=0)
    assert plan.least_quality == pytest.approx(0.16) and plan.assigned_quality == pytest.approx(0.16)
    union = log(4 * 1.3 * 120 / 0.1)
    assert plan.asked == pytest.approx(8 * union / 0.16**2, abs=1) and plan.useful == 4 * plan.asked
    assert plan.preliminary == 36 and plan.least_gamma == pytest.approx(1 / (2 * log(10)))
    few, many = plan.rows
    assert few.learned_error == 1.0 and few.labels is None
    t = sqrt(union / 200_000)
    assert many.tolerance == pytest.approx(t)
    assert many.learned_error == pytest.approx(exp(log(0.1) * (1 - 4 * t / 0.16) ** 2))
    assert many.error == 1.0  # l2 alone is above 1
    assert plan.first_exponent == pytest.approx(-((6 * log(40)) ** 2) / 0.3 / 2 / log(10))
    assert plan.printed_error > 1 and plan.mended_error == 1.0


REFUSED = [
    ("at least 1", crowdopt.recipe("HS:20x60"), {"golds": [0]}),
    ("gamma", crowdopt.recipe("HS:20x60"), {"gamma": 2.0}),
    ("delta", crowdopt.recipe("HS:20x60"), {"delta": 0.6}),
    ("2 classes", crowdopt.AssignmentInstance([[0.9, 0.9]], [0], 1, 0.2, classes=3, rule="bhattacharyya"), {}),
    ("no plan", crowdopt.AssignmentInstance([[0.6, 0.6]], [0, 0], 1, 0.2, rule="hoeffding"), {}),
]


@pytest.mark.parametrize(("said", "instance", "given"), REFUSED)
def test_what_the_theorems_are_not_for_is_refused(said, instance, given):
    """Numbers out of range, more than two classes, and a crowd that promises nothing whatever the target."""
    with pytest.raises(InputError, match=said):
        plan_gold(instance, trials=0, **given)
