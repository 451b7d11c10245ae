"""Li & Liu 2015, what the code computes against fractions and values by hand."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, log, sqrt

import numpy as np
import pytest

from crowdopt.hire.candidates import SelectionInstance, gain_fractions, plug_in_fractions, score
from crowdopt.hire.ranking import interval_half_width, linear_vote_bound, prove, ranked, total_gain


def gain(correct: int, asked: int, classes: int, of=gain_fractions) -> Fraction:
    top, bottom = of(np.array([correct]), np.array([asked]), classes)
    return Fraction(int(top[0]), int(bottom[0]))


def test_equations_7_to_10_in_fractions():
    """L = 4, c = 3 of n = 5: w = 3/5, var = 3*2/(25*4) = 3/50, G = (7/5)^2 - 16 * 3/50 = 1."""
    assert gain(3, 5, 4) == 1 == total_gain(SelectionInstance([3], 5, 4), np.array([0]))
    assert gain(3, 5, 4, plug_in_fractions) == Fraction(49, 25)
    assert score([1.0, 2.0, 3.0, 6.0]) == 6.0


def test_both_ways_to_write_a_gain_agree():
    """Eq. (8) with (10), and factorial moments, for every tally of up to 7 questions; Lemma 2: G is unbiased."""
    for classes in (2, 3, 5):
        for n in range(2, 8):
            for c in range(n + 1):
                w, var = Fraction(c, n), Fraction(c * (n - c), n * n * (n - 1))
                assert gain(c, n, classes) == (classes * w - 1) ** 2 - classes**2 * var
            w = Fraction(2, 3)
            law = [comb(n, c) * w**c * (1 - w) ** (n - c) for c in range(n + 1)]
            mean = sum(chance * gain(c, n, classes) for c, chance in enumerate(law))
            assert mean == (classes * w - 1) ** 2


def test_theorem_1_by_hand():
    """F = 6, L = 3: corrected 2 e^(-36/32), above the 2 e^(-72/36) printed; L = 2, F = 2: both e^-2."""
    assert linear_vote_bound(6.0, 3) == pytest.approx(2 * exp(-9 / 8), rel=1e-12)
    assert linear_vote_bound(2.0, 2) == pytest.approx(exp(-2), rel=1e-12)


def test_theorem_3_by_hand():
    """Coverage 1 - 2 e^-8 is alpha = 2; L = 4, n = 10: 2 * 9 * 10/9 = 20. Unequal n_i: the root of the mean square."""
    mixed = sqrt((4 + (3 / 2) ** 2) / 2)
    assert interval_half_width(np.full(3, 10), 4, 1 - 2 * exp(-8)) == pytest.approx(20, rel=1e-9)
    assert interval_half_width(np.array([2, 3]), 2, 1 - 2 * exp(-2)) == pytest.approx(mixed, rel=1e-9)
    assert interval_half_width(np.array([2]), 2, 0.95) == pytest.approx(2 * sqrt(log(40) / 2), rel=1e-12)


def test_algorithm_1_by_hand():
    """Six questions, L = 2: G(6) = 1, G(5) = 1/3, G(3) = -1/5. Scores 1, .943, .962 and 1 for four:
    the tie goes to the smallest. With one more perfect worker 2/sqrt 2 wins; its proof is the dual.
    """
    tie = ranked(SelectionInstance([6, 5, 5, 5, 3], 6, 2))
    assert tie.workers.tolist() == [0] and tie.score == 1.0 and tie.proven
    instance = SelectionInstance([6, 6, 3], 6, 2)
    two, proof = ranked(instance), prove(instance)
    assert two.workers.tolist() == [0, 1] and two.score == pytest.approx(sqrt(2), rel=1e-12)
    assert proof.holds(instance) and proof.bound == pytest.approx(sqrt(2), rel=1e-15)


def test_variance_normalised_by_hand():
    """Gains over sqrt(sum (2w - 1)^2): 5 and 5 of 6 have G = 1/3, (2/3)^2 each: .5, then (2/3)/sqrt(8/9) = .707."""
    assert ranked(SelectionInstance([5, 5, 3], 6, 2), "variance-normalised").workers.tolist() == [0, 1]
