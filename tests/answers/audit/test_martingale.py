"""Audits and escalations that may stop at any time: valid for every placement of the errors, whatever is claimed."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest

from crowdopt.answers.audit.draws import AuditDraw, AuditTerms, conclude, hypotheses, with_versions
from crowdopt.answers.audit.escalation import EscalationTerms, certified_groups
from crowdopt.answers.audit.martingale import Strata, hidden, log_martingale, predictions
from tests.sampled import first_of

CASES = {  # sizes of the groups, claims, rates
    "one group": ([7], [0.1], [1.0]),
    "claims that may be true": ([3, 2], [0.05, 0.4], [0.8, 1.5]),
    "claims turned round": ([2, 3], [0.6, 0.01], [0.5, 2.0]),
    "three groups": ([2, 2, 2], [0.01, 0.1, 0.5], [0.9, 1.2, 1.6]),
}
THRESHOLDS = {  # the same, wrong answers allowed, delta
    "two groups": ([2, 2], [0.05, 0.4], [0.8, 1.5], 1, 0.3),
    "claims that may be true": ([2, 2, 2], [0.02, 0.1, 0.4], [0.8, 1.0, 1.5], 1, 0.3),
    "claims turned round": ([2, 2, 2], [0.5, 0.2, 0.01], [1.0, 1.0, 0.3], 1, 0.1),
    "no wrong answer allowed": ([3, 3], [0.05, 0.3], [1.0, 1.0], 0, 0.1),
}


def worst_chance(size, rate, false) -> float:
    """The largest chance, over all placements of wrong answers, that ``false(stratum, wrong, counts)`` at any time.

    Each next answer is drawn in proportion to its rate among those left. Within a group every order is as likely as any
    other, so a placement is a number of wrong answers for each group, and outcomes with these numbers are equally
    likely.
    """
    worst = np.zeros([k + 1 for k in size])
    for sequence in map(np.array, product(range(len(size)), repeat=sum(size))):
        left, chance = np.array(size, float), 1.0
        if (np.bincount(sequence, minlength=len(size)) != size).any():
            continue
        for group in sequence:
            chance *= left[group] * rate[group] / (left @ rate)
            left[group] -= 1
        for wrong in map(np.array, product((False, True), repeat=sum(size))):
            counts = tuple(np.bincount(sequence, weights=wrong, minlength=len(size)).astype(int))
            if false(sequence, wrong, counts):
                worst[counts] += chance / np.prod([comb(n, k) for n, k in zip(size, counts, strict=True)])
    return float(worst.max())


def groups_of(size, claim, rate, target) -> Strata:
    return with_versions(np.array(size), np.array(claim), target)._replace(rate=np.array(rate))


def small(size, claim, rate, delta, stratum) -> AuditDraw:
    """An audit of few answers in groups, with hypotheses and predictions as in a large one."""
    n, terms, none = sum(size), AuditTerms("assisted", 0.25, delta), np.zeros(0, int)
    of = groups_of(size, claim, rate, 0.25), none, np.arange(n), np.asarray(stratum), n, terms
    return AuditDraw(*of, hypotheses(n, 0.25), 0.1)


def worst_audit(size, claim, rate, delta) -> float:
    def false(stratum, wrong, counts):
        left = conclude(small(size, claim, rate, delta, stratum), wrong).left
        return (left < wrong.sum() - wrong.cumsum()).any()

    return worst_chance(size, rate, false)


def worst_threshold(size, claim, rate, allowed, delta) -> float:
    n = sum(size)
    strata = groups_of(size, claim, rate, (allowed + 1) / (n + 1))
    terms = EscalationTerms(n, target=allowed / n, confidence=1 - delta)
    assert (terms.allowed, terms.delta) == (allowed, delta)

    def false(stratum, wrong, counts):
        below = np.concatenate([[0], np.cumsum(counts)])
        return (below[certified_groups(strata, terms, stratum, wrong)] > allowed).any()

    return worst_chance(size, rate, false)


@pytest.mark.parametrize("case", first_of(CASES, 3))
def test_no_placement_of_the_errors_makes_any_claim_false_too_often(case):
    """The theorem by enumeration: all placements, all orders of drawing, and a claim after every single check."""
    assert worst_audit(*CASES[case], 0.3) <= 0.3 + 1e-12


@pytest.mark.parametrize("case", first_of(THRESHOLDS))
def test_no_placement_of_the_errors_makes_any_threshold_false_too_often(case):
    """The same for which answers may stand: at no time are too many wrong below the threshold."""
    assert worst_threshold(*THRESHOLDS[case]) <= THRESHOLDS[case][-1] + 1e-12


def test_the_enumerations_can_fail():
    """With a bar a tenth as high some claims are false: what the theorems exclude is within reach of the tests."""
    assert 0 < worst_audit(*CASES["claims that may be true"], 0.9) <= 0.9
    assert 0 < worst_threshold([2, 3], [0.05, 0.4], [0.8, 1.5], 1, 0.9) <= 0.9


def test_a_prediction_knows_nothing_of_its_own_check():
    """The first is the versions' mean by weight; turning an outcome round changes those after it, and no other.

    By hand: versions .1 and .4 at equal weights predict .25; after a wrong one they weigh 1 to 4: .34. In one group
    there is one hiding place, so the product is known too: 5 of 9 are supposed to be wrong.
    """
    versions, group = np.array([0.5, 0.5]), np.zeros(5, np.int64)
    of = Strata(np.array([9]), np.array([0.2]), np.ones(1), versions, np.array([[0.1], [0.4]]))
    wrong, theta = np.array([True, False, True, True, False]), np.array([5, 4, 4, 3, 2]) / np.array([9, 8, 7, 6, 5])
    made = predictions(of, group, wrong)[:, 0]
    assert made[:2] == pytest.approx([0.25, 0.34], rel=1e-12)
    factors = np.where(wrong, made[:-1] / theta, (1 - made[:-1]) / (1 - theta))
    path = log_martingale(of, group, wrong, 1, np.array([5]), np.inf)[0]
    assert path == pytest.approx([0, *np.cumsum(np.log(factors))], rel=1e-8)
    for turned in range(5):
        other = predictions(of, group, wrong ^ (np.arange(5) == turned))[:, 0]
        assert (other[: turned + 1] == made[: turned + 1]).all() and (other[turned + 1 :] != made[turned + 1 :]).all()


def test_the_hiding_place_holds_what_is_hidden():
    """The shares add up to the number supposed, and no other placement of it is closer to what is predicted."""
    sizes, rate = np.array([500.0, 300.0, 90.0, 10.0]), np.array([0.8, 1.0, 1.4, 1.6])
    predicted = np.array([0.001, 0.02, 0.1, 0.4])

    def divergence(share):
        away = predicted * np.log(predicted / share) + (1 - predicted) * np.log((1 - predicted) / (1 - share))
        return float(sizes * rate @ away)

    for null in (30.0, 100.0, 400.0, 890.0):
        theta = hidden(sizes[None], rate, predicted[None], np.array([null]))[1][0]
        assert sizes @ theta == pytest.approx(null, rel=1e-9)
        for step in np.eye(4)[:3] - np.roll(np.eye(4), 1, axis=1)[:3]:
            for other in (theta + by * step / sizes for by in (1e-2, -1e-2)):
                if (other > predicted).all() and (other < 1).all():
                    assert divergence(other) >= divergence(theta)


@pytest.mark.parametrize("seed", range(2))
def test_the_claim_is_the_largest_number_that_is_not_refuted(seed):
    """Each tested number stands for all up to the next: by a loop over numbers and checks, less what was found."""
    of = small([40, 20], [0.02, 0.3], [0.9, 1.3], 0.1, np.repeat([0, 1], [40, 20]))
    wrong = np.random.default_rng(seed).random(60) < 0.1
    for numbers in (of.numbers, np.array([0, 1, 4, 9, 20, 45])):
        left = conclude(replace(of, numbers=numbers), wrong).left
        path = log_martingale(of.strata, of.stratum, wrong, 2, numbers, np.inf)[:, 1:]
        stands = [*(numbers[1:] - 1), 60]
        for check in range(60):
            open_ = [most for most, row in zip(stands, path, strict=True) if row[: check + 1].max() < -np.log(0.1)]
            assert left[check] == min(max(max([0, *open_]) - wrong[: check + 1].sum(), 0), 59 - check)
        assert (np.diff(left) <= 0).all() and left[-1] == 0


@pytest.mark.parametrize(("share", "allowed"), [(0.0, 0), (0.29, 29), (0.35, 35), (1.0, 100)])
def test_an_expert_who_errs_adds_what_they_may_get_wrong(share, allowed):
    """A share of all answers in whole numbers, products that miss one by a rounding too; never above all answers.

    Each further wrong one that the expert corrected is one fewer left.
    """
    sure = small([60, 40], [0.02, 0.3], [0.9, 1.3], 0.1, np.repeat([0, 1], [60, 40]))
    of = replace(sure, terms=replace(sure.terms, expert_error=share))
    seen = np.zeros(70, bool)
    assert conclude(of, seen).wrong_at_most == min(100, conclude(sure, seen).wrong_at_most + allowed)
    most = conclude(sure, seen[:20]).wrong_at_most
    assert conclude(of, seen[:2]).wrong_at_most <= 100 and 2 < most < 100
    for others, fewer in (((5, 0), 0), ((5, 2), 2), ((80, 80), 80)):
        assert conclude(sure, seen[:20], [(0, 0), others]).wrong_at_most == max(0, most - fewer)
