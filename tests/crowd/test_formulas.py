"""Formulas against plain loops over what they are about: families, confusion tables, hard tasks, lattices, levels."""

from __future__ import annotations

from itertools import permutations
from math import exp, log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, chi2

from crowdopt.assign.individual.nested import LevelsOfNeed
from crowdopt.crowd.difficulty import difficulty_fit
from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.crowd.families import joint_error, joint_need
from crowdopt.crowd.gold.confusion import confusion_evidence
from crowdopt.crowd.hard_needs import enough_need, hard_bound, hard_need, normal_need
from crowdopt.crowd.votes.evidence import BHATTACHARYYA, EXACT_ERROR, HOEFFDING, PROBIT
from crowdopt.crowd.votes.voting import vote_errors

PRIORS = ([0.5, 0.5], [0.2, 0.8], [0.1, 0.3, 0.6])


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_families_are_promised_the_sum_over_pairs_of_classes(k, prior):
    """``sum over a != b of pi_a^(1 - 1/2k) pi_b^(1/2k) e^(-A/2k)``, pair by pair; at most 1."""
    pairs = sum(a ** (1 - 1 / (2 * k)) * b ** (1 / (2 * k)) for a, b in permutations(prior, 2))
    for evidence in (0.0, 1.5, 40.0):
        found = joint_error(BHATTACHARYYA, np.array([evidence]), np.array(prior), np.array([k]))
        assert found[0] == pytest.approx(min(1.0, pairs * exp(-evidence / (2 * k))), rel=1e-12)


@pytest.mark.parametrize("rule", [HOEFFDING, BHATTACHARYYA], ids=lambda rule: rule.name)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_what_families_need_is_just_enough(rule, k):
    """The need and the promise are each other's inverse; of rule hoeffding it is ``2 k ln(1 / epsilon)``."""
    epsilon, prior = np.array([0.2, 0.05, 0.001]), np.array([0.5, 0.5])
    need = joint_need(rule, epsilon, prior, np.full(3, k))
    np.testing.assert_allclose(joint_error(rule, need, prior, np.full(3, k)), epsilon, rtol=1e-12)
    if rule is HOEFFDING:
        np.testing.assert_allclose(need, [2 * k * log(1 / e) for e in epsilon], rtol=1e-12)


def test_a_table_is_worth_its_worst_pair_of_classes():
    """Class by class: the pair that is hardest to tell apart, not the mean of all pairs."""
    tables = np.random.default_rng(0).dirichlet(np.ones(4), (6, 4))
    for table, found in zip(tables, confusion_evidence(tables), strict=True):
        pairs = [
            -2 * log(sum(sqrt(a * b) for a, b in zip(table[k], table[m], strict=True)))
            for k in range(4)
            for m in range(k)
        ]
        assert found == pytest.approx(min(pairs), rel=1e-12) and max(pairs) > 1.1 * min(pairs)


HARD = Difficulty(0.2, 0.5)


@pytest.mark.parametrize(("need", "rule"), [(hard_need, EXACT_ERROR), (normal_need, PROBIT)])
@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.3, 0.7]], ids=str)
def test_the_need_with_hard_tasks_meets_the_target_just_so(need, rule, prior):
    """A label tells s^2 as much on a hard task: ``(1 - h) e(A) + h e(s^2 A) = epsilon``."""
    epsilon, prior = np.array([0.25, 0.15, 0.12]), np.array(prior)
    evidence = need(epsilon, prior, HARD)
    easy, hard = (rule.error_of(part, prior) for part in (evidence, HARD.left**2 * evidence))
    np.testing.assert_allclose((1 - HARD.share) * easy + HARD.share * hard, epsilon, rtol=1e-6)
    assert (evidence > 0.1).all()


def test_the_bound_with_hard_tasks_is_that_of_a_guess_there():
    """Easy tasks err as the rule bhattacharyya says and never more than a guess; hard ones as the likelier class."""
    prior, evidence = np.array([0.3, 0.7]), np.array([0.0, 1.0, 9.0])
    easy = np.minimum(0.3, sqrt(0.21) * np.exp(-evidence / 2))
    np.testing.assert_allclose(hard_bound(evidence, prior, HARD), 0.8 * easy + 0.2 * 0.7, rtol=1e-12)


def test_intervals_of_difficulty_go_down_by_half_the_quantile():
    """Of chi-square with one degree of freedom at .95, 3.841."""
    assert pytest.approx(chi2.ppf(0.95, 1) / 2, abs=0.001) == difficulty_fit.DROP


def test_intervals_of_difficulty_end_at_the_next_value_that_is_tried():
    """Shares whose profile is within DROP of the best, and one more on either side; further ones are out."""
    shares, best = difficulty_fit.SHARES, 6
    depth = difficulty_fit.DROP * np.array([0.0, 0.9, 1.1])  # by steps from the best: in, in, out
    table = np.array([-depth[min(2, abs(k - best))] for k in range(shares.size)])
    found = difficulty_fit._likeliest({(20, 5): table}, -30.0)
    assert found.share == shares[best] and found.gain == 30.0
    assert (found.low, found.high) == (shares[best - 2], shares[best + 2])


def test_the_lattice_says_the_same_of_both_classes():
    """Without a prior or a bias the two are mirror images: bound and width are those of either class alone."""
    accuracy = np.random.default_rng(3).uniform(0.55, 0.9, 41)
    weight = np.log(accuracy / (1 - accuracy))
    found = [
        vote_errors(np.array([0, 41]), accuracy, weight, np.array([prior]), np.zeros(1), 200)
        for prior in (0.5, 1.0, 0.0)
    ]
    above, width = (np.array([pair[k][0] for pair in found]) for k in range(2))
    assert width[0] > 0
    np.testing.assert_allclose(above, above[0], rtol=1e-9)
    np.testing.assert_allclose(width, width[0], rtol=1e-6)


def test_evidence_that_is_just_enough_meets_the_level():
    """By row: as much as a level needs meets it, a little less the one below, less than the first none."""
    need = np.array([1.0, 2.0, 3.0, 0.5])
    rows = np.array([0, 0, 0, 1])
    levels = LevelsOfNeed(SimpleNamespace(), rows, need, np.ones(4, int), np.arange(4), np.array([0, 3, 4]))
    met = levels.met(np.array([0, 0, 0, 0, 1, 1]), np.array([2.0, np.nextafter(2.0, 0), 0.9, 7.0, 0.5, 0.4]))
    assert met.tolist() == [1, 0, -1, 2, 3, -1]


@pytest.mark.parametrize(("share", "left"), [(0.5, 0.6), (0.2, 0.3), (0.1, 1.0)])
def test_what_is_enough_where_tasks_may_be_hard_is_never_too_little(share, left):
    """By n workers of .8: their vote errs as two binomials do; for less than that error n labels are not enough."""
    difficulty, n = Difficulty(share, left), np.arange(1, 202, 2)
    easy, hard = (binom.cdf((n - 1) // 2, n, 0.5 + 0.3 * scale) for scale in (1.0, left))
    errs = (1 - share) * easy + share * hard
    needs = enough_need(0.999 * errs, np.array([0.5, 0.5]), difficulty, np.array([0.8]))
    assert (needs > n * BHATTACHARYYA.evidence(np.array([0.8]), 2)).all() and needs[0] < needs[-1]
