"""Li & Liu 2015, what the code computes against fractions and values by hand."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest

from crowdopt.hire.candidates import SelectionInstance, gain_fractions, plug_in_fractions, score
from crowdopt.hire.ranking import interval_half_width, linear_vote_bound, prove, ranked, total_gain


def test_equations_7_to_10_in_fractions():
    """L = 4, c = 3 of n = 5: w = 3/5, var = 3*2/(25*4) = 3/50, G = (7/5)^2 - 16 * 3/50 = 1."""
    top, bottom = gain_fractions(np.array([3]), np.array([5]), 4)
    assert Fraction(int(top[0]), int(bottom[0])) == 1 == total_gain(SelectionInstance([3], 5, 4), np.array([0]))
    top, bottom = plug_in_fractions(np.array([3]), np.array([5]), 4)
    assert Fraction(int(top[0]), int(bottom[0])) == Fraction(49, 25)
    assert score([1.0, 2.0, 3.0, 6.0]) == 6.0


def test_both_ways_to_write_a_gain_agree():
    """Eq. (8) with (10), and factorial moments, for every tally of up to 7 questions."""
    for classes in (2, 3, 5):
        for n in range(2, 8):
            for c in range(n + 1):
                w, var = Fraction(c, n), Fraction(c * (n - c), n * n * (n - 1))
                exact = (classes * w - 1) ** 2 - classes**2 * var
                top, bottom = gain_fractions(np.array([c]), np.array([n]), classes)
                assert Fraction(int(top[0]), int(bottom[0])) == exact


def test_lemma_2_in_fractions():
    """The gain is unbiased: its mean over the binomial law is (L w - 1)^2, exactly."""
    w, n, classes = Fraction(2, 3), 4, 3
    mean = Fraction(0)
    for c in range(n + 1):
        ways = [1, 4, 6, 4, 1][c]
        top, bottom = gain_fractions(np.array([c]), np.array([n]), classes)
        mean += ways * w**c * (1 - w) ** (n - c) * Fraction(int(top[0]), int(bottom[0]))
    assert mean == (classes * w - 1) ** 2


def test_theorem_1_by_hand():
    """F = 6, L = 3: corrected 2 e^(-36/32), above the 2 e^(-72/36) printed; L = 2, F = 2: both e^-2."""
    assert linear_vote_bound(6.0, 3) == pytest.approx(2 * exp(-9 / 8), rel=1e-12)
    assert linear_vote_bound(2.0, 2) == pytest.approx(exp(-2), rel=1e-12)


def test_theorem_3_by_hand():
    """Coverage 1 - 2 e^-8 is alpha = 2; L = 4, n = 10: 2 * 9 * 10/9 = 20. Unequal n_i: the root of the mean square."""
    coverage = 1 - 2 * exp(-8)
    assert interval_half_width(np.full(3, 10), 4, coverage) == pytest.approx(20, rel=1e-9)
    mixed = sqrt((4 + (3 / 2) ** 2) / 2)
    assert interval_half_width(np.array([2, 3]), 2, 1 - 2 * exp(-2)) == pytest.approx(mixed, rel=1e-9)
    assert interval_half_width(np.array([2]), 2, 0.95) == pytest.approx(2 * sqrt(log(40) / 2), rel=1e-12)


def test_algorithm_1_by_hand():
    """Six questions, L = 2: G(6) = 1, G(5) = 1/3, G(3) = -1/5. Scores 1, .943, .962 and 1 for four:
    the tie goes to the smallest. With one more perfect worker 2/sqrt 2 wins.
    """
    tie = ranked(SelectionInstance([6, 5, 5, 5, 3], 6, 2))
    assert tie.workers.tolist() == [0] and tie.score == 1.0 and tie.proven
    two = ranked(SelectionInstance([6, 6, 3], 6, 2))
    assert two.workers.tolist() == [0, 1] and two.score == pytest.approx(sqrt(2), rel=1e-12)
    assert ranked(SelectionInstance([6, 6, 6, 6], 6, 2, 3)).workers.size == 3  # at most K


def test_the_proof_of_a_ranking_is_the_dual():
    """Gains 1, 1, -1/5: no set scores above sqrt 2; a bound below that is not proven, nor are thresholds at random."""
    instance = SelectionInstance([6, 6, 3], 6, 2)
    proof = prove(instance)
    assert proof.holds(instance) and proof.bound == pytest.approx(sqrt(2), rel=1e-15)
    assert proof.is_attained(instance, np.array([0, 1])) and not proof.is_attained(instance, np.array([0]))
    assert not type(proof)(Fraction(19, 10), 2, proof.numerator, proof.denominator, proof.last).holds(instance)
    assert not type(proof)(proof.total, 2, proof.numerator * 0 - 1, proof.denominator, proof.last).holds(instance)


def test_variance_normalised_by_hand():
    """Gains over sqrt(sum (2w - 1)^2): 5 and 5 of 6 have G = 1/3, (2/3)^2 each: .5, then (2/3)/sqrt(8/9) = .707."""
    hired = ranked(SelectionInstance([5, 5, 3], 6, 2), "variance-normalised")
    assert hired.workers.tolist() == [0, 1]
