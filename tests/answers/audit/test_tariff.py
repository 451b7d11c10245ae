"""The exact bound and how many looks it takes; what audits share; the words of an option."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from crowdopt.answers.audit.bound import most_left
from crowdopt.answers.audit.draws import METHODS, AuditTerms, conclude, draw
from crowdopt.answers.audit.tariff import Tiers, spendable, tiers
from crowdopt.errors import InputError
from crowdopt.verbs.audit import looks_to_certify


@pytest.mark.parametrize("answers", [1, 7, 40])
@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_no_number_of_wrong_answers_makes_a_claim_false_too_often(answers, delta):
    """Every W, every number of checks, every outcome, weighed with its probability: the theorem, by enumeration.

    And one less would not do: with it, what was seen is likelier than delta (a tie counts as likelier).
    """
    for checked in range(1, answers + 1):
        k = np.arange(checked + 1)
        left = np.array([most_left(answers, checked, count, delta) for count in k.tolist()])
        for wrong in range(answers + 1):
            false = hypergeom.pmf(k, answers, wrong, checked)[wrong - k > left].sum()
            assert false <= delta + 1e-12, (checked, wrong)
        assert (hypergeom.cdf(k, answers, k + left, checked) > delta * (1 - 1e-6))[left > 0].all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("answers", "target"), [(12, 0.2), (40, 0.1)])
def test_with_fewer_looks_than_are_named_no_audit_certifies(method, answers, target):
    """Not even if all that were looked at are right, whatever is claimed; with all of them `exact` does."""
    least = looks_to_certify(answers, target)
    claims = None if method != "assisted" else np.linspace(1e-9, 0.2, answers)
    for checks in range(1, least + 1):
        audit = draw(answers, AuditTerms(method, target, 0.05, 3), claims, checks)
        sure = conclude(audit, np.zeros(checks, bool)).certified
        assert not sure or checks == least
        assert sure or checks < least or method != "exact"


def test_chances_are_shared():
    """Whatever the shares, all deltas together are at most what the confidence leaves."""
    spent = list[float]()
    for share in (0.5, 0.5, 0.9, 1.0):
        spent.append(spendable(0.95, spent, share))
    assert sum(spent) == pytest.approx(0.05)
    with pytest.raises(InputError, match="have spent all"):
        spendable(0.95, spent)


def test_the_words_of_an_option():
    """Defaults, and one sentence for what is none."""
    assert tiers("") == Tiers() and tiers("expert=40") == Tiers(40, 40) and tiers("next=3,tiers=2") == Tiers(1, 3, 2)
    for text, message in (
        ("price=x", "unknown word"),
        ("expert=0", "price expert must lie above 0"),
        ("tiers=.5", "whole number"),
    ):
        with pytest.raises(InputError, match=message):
            tiers(text)
