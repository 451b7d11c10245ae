"""The bound of a fixed number of checks: exact for every number of wrong answers, and as tight as it can be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from crowdopt.answers.audit.exact_bound import allowed_wrong, checks_needed, most_left
from crowdopt.errors import InputError


@pytest.mark.parametrize("answers", [1, 7, 40])
@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_no_number_of_wrong_answers_makes_a_claim_false_too_often(answers, delta):
    """Every W, every number of checks, every outcome, weighed with its probability: the theorem, by enumeration."""
    for checked in range(1, answers + 1):
        left = np.array([most_left(answers, checked, k, delta) for k in range(checked + 1)])
        for wrong in range(answers + 1):
            k = np.arange(checked + 1)
            false = hypergeom.pmf(k, answers, wrong, checked)[wrong - k > left].sum()
            assert false <= delta + 1e-12, (checked, wrong)


def test_a_smaller_claim_would_be_false_too_often():
    """The bound is the least that passes: with one less, what was seen is likelier than delta."""
    for checked, k in ((5, 0), (10, 1), (19, 4)):
        left = most_left(50, checked, k, 0.05)
        assert hypergeom.cdf(k, 50, k + left + 1, checked) <= 0.05
        assert left == 0 or hypergeom.cdf(k, 50, k + left, checked) > 0.05


def test_the_most_that_may_be_wrong_is_the_last_count_that_passes():
    """By bisection and by trying all."""
    for answers, checked, left in ((60, 20, 6), (60, 20, 3), (100, 50, 10), (40, 40, 0), (300, 29, 30)):
        passing = [k for k in range(checked + 1) if most_left(answers, checked, k, 0.05) <= left]
        assert allowed_wrong(answers, checked, left, 0.05) == max(passing, default=-1)
        assert passing == list(range(len(passing))), "what passes is a beginning"


def test_checks_needed_at_a_thousand_answers():
    """The numbers of the specification: target, true error, checks at delta .05 and power .9."""
    assert checks_needed(1000, 0.1, 0.05, 0.05) == 155
    assert checks_needed(1000, 0.1, 0.064, 0.05) == 213
    assert checks_needed(1000, 0.1, 0.086, 0.05) == 299
    assert checks_needed(10_000, 0.05, 0.025, 0.05) == 441
    assert checks_needed(1000, 0.1, 0.0, 0.05) == 28


def test_checking_everything_leaves_nothing():
    """The expert has seen all of it."""
    assert most_left(12, 12, 5, 0.05) == 0
    with pytest.raises(InputError, match="are impossible"):
        most_left(12, 13, 0, 0.05)
