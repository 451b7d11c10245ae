"""Labels and audit planned together, the ratio of errors, shared chances, the words of an option."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from crowdopt.answers.audit.audited import METHODS, AuditTerms
from crowdopt.answers.audit.concluding import conclude
from crowdopt.answers.audit.drawing import draw
from crowdopt.answers.audit.exact_bound import checks_needed, most_left
from crowdopt.answers.audit.shared_chance import spendable
from crowdopt.answers.audit.tariff import Tariff, tariff
from crowdopt.answers.audit.together import realised, together
from crowdopt.api.audit import looks_to_certify
from crowdopt.errors import InputError


def test_the_cheapest_sum_is_the_cheapest():
    """Labels by a curve, looks by the exact bound: no target that was given costs less than the best one found."""
    epsilon = np.geomspace(0.01, 0.4, 12)
    labels, terms = 500 * np.log(1 / epsilon), Tariff(price=3, ratio=1.2)
    plan = together(epsilon, labels, 600, 0.1, terms)
    sums = [cost + 3 * checks_needed(600, 0.1, 1.2 * e, 0.05) for e, cost in zip(epsilon, labels, strict=True)]
    assert plan.total[plan.best] <= min(sums) + 1e-9
    assert plan.total.tolist() == (plan.labels + 3 * plan.looks).tolist()
    assert (np.diff(plan.looks) >= 0).mean() > 0.9, "more errors, more looks, but for the saw of a discrete tail"
    assert plan.experts_alone == 1800


def test_the_ratio_of_errors_and_its_interval():
    """Wrong over expected; Garwood's interval, exact for no event: from 0 to -ln(.025) over the expectation."""
    claims = np.full(400, 0.05)
    seen = realised(claims, np.arange(400) < 30)
    assert seen.ratio == pytest.approx(1.5) and seen.low < 1.5 < seen.high and seen.enough
    none = realised(claims, np.zeros(400, bool))
    assert none.low == 0 and none.high == pytest.approx(-np.log(0.025) / 20) and not none.enough


def test_chances_are_shared():
    """Whatever the shares, all deltas together are at most what the confidence leaves."""
    spent: list[float] = []
    for share in (0.5, 0.5, 0.9, 1.0):
        spent.append(spendable(0.95, spent, share))
    assert sum(spent) == pytest.approx(0.05)
    with pytest.raises(InputError, match="have spent all"):
        spendable(0.95, spent)


def test_the_words_of_an_option():
    """Defaults, and one sentence for what is none."""
    assert tariff("") == Tariff() and tariff("price=2, confidence=.9") == Tariff(price=2, confidence=0.9)
    for text, message in {
        "prize=2": "unknown word",
        "price=x": "needs a number",
        "price=-1": "at least 0",
        "confidence=1": "strictly between",
        "checks=.5": "whole number",
        "ratio=0": "above 0",
        "price=nan": "finite",
    }.items():
        with pytest.raises(InputError, match=message):
            tariff(text)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("answers", "target"), [(12, 0.2), (40, 0.1)])
def test_with_fewer_looks_than_are_named_no_audit_certifies(method, answers, target):
    """Not even if all that were looked at are right, whatever is claimed; with all of them `exact` does."""
    least = looks_to_certify(answers, target).least
    claims = None if method != "assisted" else np.linspace(1e-9, 0.2, answers)
    for checks in range(1, least + 1):
        audit = draw(answers, AuditTerms(method, target, 0.05, 3), claims, checks)
        sure = conclude(audit, np.zeros(checks, bool)).wrong_at_most <= target * answers
        assert not sure or checks == least
        assert sure or checks < least or method != "exact"


@pytest.mark.parametrize(("answers", "target"), [(39, 0.1), (250, 0.1)])
def test_the_looks_that_are_named_suffice_where_half_of_the_target_is_wrong(answers, target):
    """By the law of the draw, for any placement, for that many wrong ones and for fewer: nine times in ten."""
    looks = looks_to_certify(answers, target).if_half
    left = int(target * answers)
    for wrong in range(round(answers * target / 2) + 1):
        seen = np.arange(min(wrong, looks) + 1)
        kept = [most_left(answers, looks, int(k), 0.05) <= left for k in seen]
        assert hypergeom.pmf(seen, answers, wrong, looks)[kept].sum() >= 0.9
