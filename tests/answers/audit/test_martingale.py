"""Audits that may stop at any time: valid for every placement of the errors, whatever is claimed or predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt.answers.audit import martingale
from crowdopt.answers.audit.audited import AuditTerms, Draw, ErrorVersions, Strata
from crowdopt.answers.audit.concluding import conclude, expert_allowance
from crowdopt.answers.audit.drawing import draw
from crowdopt.answers.audit.hiding import least_pressure, share_wrong
from crowdopt.answers.audit.martingale import hypotheses, most_left_path
from crowdopt.answers.audit.prediction import mixture, predictions
from crowdopt.answers.audit.strata import strata_of
from tests.answers.audit.paths import worst_chance
from tests.chance import binomial, rng, seeds

CASES = {  # sizes of the groups, claims, rates
    "one group": ([7], [0.1], [1.0]),
    "claims that may be true": ([3, 2], [0.05, 0.4], [0.8, 1.5]),
    "claims turned round": ([2, 3], [0.6, 0.01], [0.5, 2.0]),
    "three groups": ([2, 2, 2], [0.01, 0.1, 0.5], [0.9, 1.2, 1.6]),
}


def small(size, claim, rate, target=0.25, delta=0.3, stratum=None) -> Draw:
    """An audit of few answers in groups, with hypotheses and predictions as in a large one."""
    strata = Strata(np.array(size), np.array(claim, float), np.array(rate, float))
    n, terms = sum(size), AuditTerms("assisted", target, delta)
    member = np.repeat(np.arange(len(size)), size) if stratum is None else np.array(stratum)
    versions = mixture(strata.claim, target)
    return Draw(terms, strata, np.zeros(0, int), np.arange(n), member, versions, hypotheses(n, target), n, 0.1)


def worst(size, claim, rate, delta):
    """The largest chance of any false claim at any time."""

    def false(sequence, wrong, counts):
        return (
            most_left_path(small(size, claim, rate, 0.25, delta, sequence), wrong) < wrong.sum() - wrong.cumsum()
        ).any()

    return worst_chance(size, rate, false)


@pytest.mark.parametrize(
    ("case", "delta"),
    [(case, delta) for case in list(CASES)[:3] for delta in (0.1, 0.3)]
    + [pytest.param("three groups", 0.3, marks=pytest.mark.slow)],
)
def test_no_placement_of_the_errors_makes_any_claim_false_too_often(case, delta):
    """The theorem by enumeration: all placements, all orders of drawing, and a claim after every single check."""
    assert worst(*CASES[case], delta) <= delta + 1e-12


def test_the_enumeration_can_fail():
    """With a bar a tenth as high some claims are false: what the theorem excludes is within reach of the test."""
    assert 0 < worst(*CASES["claims that may be true"], 0.9) <= 0.9


def test_a_prediction_knows_nothing_of_its_own_check():
    """The first is the versions' mean by weight; turning an outcome round changes those after it, and no other.

    By hand: versions .1 and .4 at equal weights predict .25; after a wrong one they weigh 1 to 4: .34.
    """
    versions, group = ErrorVersions(np.array([0.5, 0.5]), np.array([[0.1], [0.4]])), np.zeros(5, np.int64)
    wrong = np.array([True, False, True, True, False])
    made = predictions(versions, group, wrong)[:, 0]
    assert made[:2] == pytest.approx([0.25, 0.34], rel=1e-12)
    for turned in range(5):
        other = predictions(versions, group, wrong ^ (np.arange(5) == turned))[:, 0]
        assert (other[: turned + 1] == made[: turned + 1]).all() and (other[turned + 1 :] != made[turned + 1 :]).all()


def test_the_hiding_place_holds_what_is_hidden():
    """The shares add up to the number supposed, and no other placement of it is closer to what is predicted."""
    sizes, rate = np.array([500.0, 300.0, 90.0, 10.0]), np.array([0.8, 1.0, 1.4, 1.6])
    predicted = np.array([0.001, 0.02, 0.1, 0.4])
    for null in (30.0, 100.0, 400.0, 890.0):
        theta = share_wrong(least_pressure(sizes, rate, predicted, np.array(null)) / rate, predicted)
        assert sizes @ theta == pytest.approx(null, rel=1e-9)
        at_best = _divergence(theta, predicted, sizes * rate)
        for step in np.eye(4)[:3] - np.roll(np.eye(4), 1, axis=1)[:3]:
            for by in (1e-3, -1e-3):
                other = theta + by * step / sizes * 10
                if (other > predicted).all() and (other < 1).all():
                    assert _divergence(other, predicted, sizes * rate) >= at_best


def _divergence(share, predicted, weight) -> float:
    away = predicted * np.log(predicted / share) + (1 - predicted) * np.log((1 - predicted) / (1 - share))
    return float(weight @ away)


@pytest.mark.parametrize("seed", range(2))
def test_the_claim_is_the_largest_number_that_is_not_refuted(seed):
    """Each tested number stands for all up to the next: by a loop over numbers and checks, less what was found.

    It only gets smaller, and ends at nothing.
    """
    of = small([40, 20], [0.02, 0.3], [0.9, 1.3], delta=0.1)
    wrong = np.random.default_rng(seed).random(60) < 0.1
    for numbers in (of.numbers, np.array([0, 1, 4, 9, 20, 45])):
        coarse = replace(of, numbers=numbers)
        out, left = martingale._refuted(coarse, wrong), most_left_path(coarse, wrong)
        for check in range(60):
            stands = [numbers[k + 1] - 1 if k + 1 < numbers.size else 60 for k in range(numbers.size)]
            most = max([0, *(stands[k] for k in range(numbers.size) if not out[k, check])])
            assert left[check] == min(max(most - wrong[: check + 1].sum(), 0), 60 - check - 1)
        assert (np.diff(left) <= 0).all() and left[-1] == 0


@pytest.mark.parametrize(("share", "allowed"), [(0.0, 0), (0.29, 17), (0.35, 21), (1.0, 60)])
def test_an_expert_who_errs_adds_what_they_may_get_wrong(share, allowed):
    """A share of all answers in whole numbers, products that miss one by a rounding too; never above all answers.

    Each further wrong one that the expert corrected is one fewer left.
    """
    of = small([40, 20], [0.02, 0.3], [0.9, 1.3], delta=0.1)
    of = replace(of, terms=replace(of.terms, expert_error=share))
    sure = replace(of, terms=replace(of.terms, expert_error=0.0))
    seen = np.zeros(50, bool)
    assert expert_allowance(of) == allowed
    assert expert_allowance(replace(small([100], [0.1], [1.0]), terms=of.terms)) == round(100 * share)
    assert conclude(of, seen).wrong_at_most == min(60, conclude(sure, seen).wrong_at_most + allowed)
    most = conclude(sure, seen[:20]).wrong_at_most
    assert conclude(of, seen[:2]).wrong_at_most <= 60 and 2 < most < 60
    for others, fewer in (((5, 0), 0), ((5, 2), 2), ((60, 60), 60)):
        assert conclude(sure, seen[:20], others=others).wrong_at_most == max(0, most - fewer)


@pytest.mark.chance
def test_the_draw_takes_each_group_as_often_as_it_says():
    """The first answer drawn comes from a group in proportion to size times rate: binomial counts over 60 seeds."""
    claims = rng().beta(0.2, 3.8, 40)
    strata = strata_of(np.sort(claims), 0.1)
    first = [draw(40, AuditTerms("assisted", 0.1, 0.05, seed), claims, 5).stratum[0] for seed in seeds(60)]
    share = strata.size * strata.rate / (strata.size @ strata.rate)
    assert binomial(np.bincount(first, minlength=share.size), 60, share)


def test_every_answer_is_drawn_once_whatever_the_claims():
    """Also when all are alike, and when the least sure go first."""
    for claims in (np.zeros(30), np.full(30, 0.3), np.linspace(0, 1, 30)):
        of = draw(30, AuditTerms("assisted", 0.2, 0.05, 1, least_sure=4), claims)
        assert sorted([*of.certain.tolist(), *of.order.tolist()]) == list(range(30))
        assert claims[of.certain].min() >= claims[of.order].max()
