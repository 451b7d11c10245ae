"""Skills from gold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, binom

from crowdopt import InputError
from crowdopt.crowd.gold.skills import RHO, _alike, _prior_weight, empirical_bayes, plug_in, unbiased, unbiased_evidence
from tests.chance import fewest, rng, seeds


@st.composite
def tallies(draw, types=2):
    """Gold tallies with holes."""
    m = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    asked = rng.integers(0, 12, (types, m))
    asked[0, 0] = max(asked[0, 0], 1)
    return rng.binomial(asked, rng.beta(3, 1.5, m)), asked


@given(tallies())
def test_empirical_bayes_lies_between_the_tally_and_the_mean(pair):
    """p~ = (c + mu t)/(s + t) is a convex combination of c/s and mu; no gold means mu."""
    correct, asked = pair
    estimate = empirical_bayes(correct, asked)
    assert ((estimate >= 0) & (estimate <= 1)).all()
    for c, s, row in zip(correct, asked, estimate, strict=True):
        if (s > 0).sum() < 2 or c.sum() in (0, s.sum()):
            continue
        mean, seen = c.sum() / s.sum(), s > 0
        low, high = np.minimum(c[seen] / s[seen], mean), np.maximum(c[seen] / s[seen], mean)
        assert (row[seen] >= low - 1e-12).all() and (row[seen] <= high + 1e-12).all()
        assert row[~seen] == pytest.approx(np.full((~seen).sum(), mean))


def test_equal_numbers_of_gold_follow_the_closed_form():
    """For equal s: rho = (Var/(mu(1-mu)) - 1/s)/(1 - 1/s) with the sample variance, t = 1/rho - 1."""
    c, s = np.array([[9, 4, 7, 5, 10]]), 10
    p = c[0] / s
    rho = (p.var(ddof=1) / (p.mean() * (1 - p.mean())) - 1 / s) / (1 - 1 / s)
    t = 1 / rho - 1
    assert empirical_bayes(c, np.full_like(c, s))[0] == pytest.approx((c[0] + p.mean() * t) / (s + t))


@pytest.mark.parametrize(
    ("correct", "asked", "expected"),
    [
        ([7, 7, 7], [10, 10, 10], [0.7, 0.7, 0.7]),  # no spread: rho < 0, every worker is the mean
        ([10, 0, 10, 0], [10] * 4, [1.0, 0.0, 1.0, 0.0]),  # all or nothing: rho = 1, t = 0
        ([1, 0, 1], [1, 1, 1], [2 / 3] * 3),  # one question each says nothing about spread
        ([3, 3], [3, 3], [7 / 8, 7 / 8]),  # all right: the rule of succession, not certainty
        ([0, 0], [3, 3], [1 / 8, 1 / 8]),
        ([3, 0], [3, 0], [4 / 5, 1 / 2]),  # the first arrival: a uniform prior
    ],
)
def test_the_edges(correct, asked, expected):
    """Where the moments say nothing or too much, the decision is the stated one."""
    assert empirical_bayes([correct], [asked])[0] == pytest.approx(expected)


def test_a_type_without_gold_takes_the_mean_of_all():
    """No worker was asked about the second type: what is known of the crowd is its overall mean."""
    assert empirical_bayes([[8, 6], [0, 0]], [[10, 10], [0, 0]])[1] == pytest.approx([0.7, 0.7])


def test_a_perfect_tally_of_three_is_not_a_perfect_worker():
    """Three of three among a crowd at .8 is drawn towards it; plug-in would call it certain."""
    correct, asked = np.array([[3, 80, 60, 95]]), np.array([[3, 100, 100, 100]])
    assert plug_in(correct, asked)[0, 0] == 1.0
    assert 0.75 < empirical_bayes(correct, asked)[0, 0] < 0.95


@pytest.mark.chance
def test_empirical_bayes_is_calibrated_where_plug_in_is_not():
    """Under a Beta(2.3, 2) crowd with 10 gold tasks: of the 30 who look best, the estimate is near their mean skill.

    That mean, given the tallies, is of Beta(2.3 + c, 12 - c). Crowds are independent; in 95 of 100 or more the estimate
    is within .03 of it and the plug-in's above it by .05.
    """
    bayes, naive = 0, 0
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        correct = rng.binomial(10, rng.beta(2.3, 2, (1, 300)))
        best, asked = np.argsort(-correct[0], kind="stable")[:30], np.full_like(correct, 10)
        true = (2.3 + correct[0, best]).mean() / 14.3
        bayes += abs(empirical_bayes(correct, asked)[0, best].mean() - true) < 0.03
        naive += plug_in(correct, asked)[0, best].mean() - true > 0.05
    assert bayes >= fewest(40, 0.95)
    assert naive >= fewest(40, 0.95)


@given(st.integers(2, 12), st.floats(0.05, 0.95))
def test_unbiased_evidence_is_unbiased_before_the_clip(s, p):
    """E (s q - 1)/(s - 1) = (2p - 1)^2 over the binomial law of the tally."""
    from math import comb

    c = np.arange(s + 1)
    law = np.array([comb(s, k) for k in c]) * p**c * (1 - p) ** (s - c)
    naive = (2 * c / s - 1) ** 2
    assert law @ ((s * naive - 1) / (s - 1)) == pytest.approx((2 * p - 1) ** 2)
    assert unbiased_evidence([c], [np.full(s + 1, s)])[0] == pytest.approx(np.maximum(0, (s * naive - 1) / (s - 1)))


def test_unbiased_keeps_the_side_and_admits_ignorance():
    """Below a half stays below; with fewer than two questions nothing unbiased can be said."""
    estimate = unbiased([[0, 10, 1, 0]], [[10, 10, 1, 0]])[0]
    assert estimate[0] == 0 and estimate[1] == 1 and np.isnan(estimate[2:]).all()


@pytest.mark.parametrize(
    ("correct", "asked"), [([[3]], [[2]]), ([[-1]], [[2]]), ([[0.5]], [[2]]), ([[1, 2]], [[3]]), ([[0]], [[0]])]
)
def test_impossible_tallies_are_refused(correct, asked):
    """More right than asked, fractions, negatives, no worker asked: no estimate comes out of these."""
    with pytest.raises(InputError):
        empirical_bayes(correct, asked)


@pytest.mark.chance
@pytest.mark.parametrize(("accuracy", "gold"), [(0.6414, 20), (0.6414, 8), (0.8, 10)])
def test_the_luckiest_of_a_crowd_of_equals_are_no_better_than_the_crowd(accuracy, gold):
    """300 workers of one accuracy: in nine of ten independent crowds or more all get its share of right answers.

    By moments alone half of such crowds show a spread, and a plan buys from those who were lucky: it promised .048
    and erred .058 (8 gold tasks each) and .054 (20).
    """
    trials = 40
    right = (rng(seed).binomial(gold, accuracy, (1, 300)) for seed in seeds(trials))
    assert sum(np.ptp(empirical_bayes(c, np.full((1, 300), gold))) == 0 for c in right) >= fewest(trials, 0.9)


def test_of_two_hundred_workers_the_chance_that_all_are_alike_draws_to_the_mean():
    """With chance w each has the mean, else the Beta law's estimate; with a colleague fewer the latter alone."""
    c, s = np.tile([9.0, 8, 6, 5, 4, 7, 8, 7, 9, 6], 20), np.full(200, 10.0)
    for some, counts in ((slice(200), True), (slice(199), False)):
        mean = c[some].mean() / 10
        weight, alike = _prior_weight(c[some], s[some], mean), _alike(c[some], s[some], mean)
        apart = (c[some] + mean * weight) / (10 + weight)
        assert 0.85 < alike < 0.95
        expected = alike * mean + (1 - alike) * apart if counts else apart
        assert empirical_bayes([c[some]], [s[some]])[0] == pytest.approx(expected)


def test_the_chance_that_all_are_alike_is_bayes():
    """Three tallies: binomial chances against beta-binomial ones, as counted out with products and binomials."""
    c, s, mean = np.array([9.0, 7.0, 6.0]), np.array([10.0, 10.0, 10.0]), 22 / 30
    laws = [betabinom(10, mean * t, (1 - mean) * t) for t in (1 / RHO - 1)]
    apart = np.mean([np.prod(law.pmf(c)) for law in laws])
    alike = np.prod(binom.pmf(c, s, mean))
    assert _alike(c, s, mean) == pytest.approx(alike / (alike + apart), rel=1e-9)


def test_workers_who_differ_are_told_apart():
    """Half guess, half know: everyone keeps a skill of their own."""
    right = np.repeat([10, 18], 150)[None]
    assert np.ptp(empirical_bayes(right, np.full((1, 300), 20))) > 0.3
