"""Evidence rules: each is a promise about the error of a weighted vote, checked by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt import InputError
from crowdopt.crowd.votes.evidence import (
    BHATTACHARYYA,
    CLIP,
    EACH,
    EXACT_ERROR,
    FLOOR,
    HOEFFDING,
    PROBIT,
    RULES,
    rule_named,
)
from crowdopt.crowd.votes.voting import plurality_error, weighted_error

PROMISING = [rule for rule in RULES.values() if not rule.checked]
accuracies = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6).map(np.array)


def exact_error(accuracy: np.ndarray, weight: np.ndarray, classes: int = 2) -> float:
    """P(weighted vote is wrong), every class equally likely, ties broken by a fair draw; by enumeration."""
    total = 0.0
    for truth in range(classes):
        for labels in itertools.product(range(classes), repeat=len(accuracy)):
            said = np.array(labels)
            chance = np.prod(np.where(said == truth, accuracy, (1 - accuracy) / (classes - 1)))
            votes = np.bincount(said, weights=weight, minlength=classes)
            winners = np.flatnonzero(votes >= votes.max() - 1e-12)
            total += chance * (1 - (truth in winners) / len(winners)) / classes
    return total


@given(accuracies)
@pytest.mark.parametrize("rule", PROMISING, ids=lambda rule: rule.name)
def test_no_vote_errs_more_than_its_evidence_promises(rule, accuracy):
    """The guarantee itself: with the rule's weights the exact error is at most the bound its evidence gives."""
    bound = rule.error(rule.evidence(accuracy).sum(), 2)
    assert exact_error(accuracy, rule.weight(accuracy, 2)) <= bound + 1e-12


@given(st.lists(st.floats(0.02, 0.98), min_size=1, max_size=4).map(np.array), st.integers(3, 4))
def test_the_bound_holds_for_several_classes(accuracy, classes):
    """Error <= (L-1)/2 prod (2 sqrt(w u) + (L-2) u) for plurality by log-odds weights."""
    bound = BHATTACHARYYA.error(BHATTACHARYYA.evidence(accuracy, classes).sum(), classes)
    assert exact_error(accuracy, BHATTACHARYYA.weight(accuracy, classes), classes) <= bound + 1e-12


@given(st.floats(1e-6, 0.499), st.integers(2, 6))
def test_error_is_the_inverse_of_need(epsilon, classes):
    """A task with exactly its need is promised exactly its epsilon."""
    for rule in (RULES[name] for name in EACH):
        if classes == 2 or not rule.only_binary:
            assert rule.error(rule.need(epsilon, classes), classes) == pytest.approx(epsilon)


@given(accuracies, st.floats(0.001, 0.49))
def test_bhattacharyya_is_never_dearer(accuracy, epsilon):
    """Labels enough for hoeffding are enough for bhattacharyya: -ln(1-q) >= q and 2 ln(1/2e) < 2 ln(1/e)."""
    if HOEFFDING.evidence(accuracy).sum() >= HOEFFDING.need(epsilon, 2):
        assert BHATTACHARYYA.evidence(accuracy).sum() >= BHATTACHARYYA.need(epsilon, 2)


def test_lemma_1_as_printed_needs_a_vote_that_leans_right():
    """W = -1, p = .9: the printed bound says e^-.32 = .726, the error is .9."""
    assert np.exp(-0.5 * (-0.8) ** 2) < exact_error(np.array([0.9]), np.array([-1.0]))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_extreme_accuracies(rule):
    """A coin is worth nothing, someone always wrong as much as someone always right, and nothing is infinite."""
    evidence, weight = rule.evidence(np.array([0.0, 0.5, 1.0])), rule.weight(np.array([0.0, 0.5, 1.0]), 2)
    assert evidence[1] == 0 and weight[1] == 0
    assert evidence[0] == pytest.approx(evidence[2]) and weight[0] == pytest.approx(-weight[2])
    assert np.isfinite(evidence).all() and np.isfinite(weight).all()
    assert rule.evidence(np.array([0.5 + CLIP * 1e-3]))[0] == 0.0 and FLOOR > 0


def test_unknown_rules_name_the_known_ones():
    """The remedy is in the sentence."""
    with pytest.raises(InputError, match="hoeffding, bhattacharyya"):
        rule_named("markov")


def test_labels_that_each_rule_asks_for_at_seven_tenths():
    """For p = .7, epsilon = .05: 38, 27 and 16 labels; exactly it takes 17."""
    p = np.array([0.7])
    asked = [int(np.ceil(rule.need(0.05) / rule.evidence(p)[0])) for rule in (HOEFFDING, BHATTACHARYYA, PROBIT)]
    exact = next(k for k in range(1, 40) if weighted_error(np.full(k, 0.7)) <= 0.05)
    assert [*asked, exact] == [38, 27, 16, 17]


def test_probit_promises_nothing():
    """Needs 1.64, 2.71, 5.41; homogeneous crowds that just meet them reach errors of .126, .069, .017."""
    wanted = np.array([0.1, 0.05, 0.01])
    assert PROBIT.need(wanted) == pytest.approx([1.642, 2.706, 5.412], abs=1e-3)
    worst = np.zeros(3)
    for p in np.linspace(0.55, 0.999, 800):
        labels = np.ceil(PROBIT.need(wanted) / PROBIT.evidence(np.array([p]))[0]).astype(int)
        worst = np.maximum(worst, [weighted_error(np.full(k, p)) for k in labels])
    assert worst == pytest.approx([0.126, 0.069, 0.017], abs=1.5e-3) and PROBIT.checked


@given(accuracies, st.floats(0.01, 0.99))
def test_priors_keep_the_promise_on_average(accuracy, share):
    """Error of the vote that adds ln(pi1/pi0) is at most sqrt(pi0 pi1) e^(-A/2), and at most guessing."""
    prior = np.array([1 - share, share])
    bound = BHATTACHARYYA.error(BHATTACHARYYA.evidence(accuracy).sum(), 2, prior)
    exact = weighted_error(accuracy, BHATTACHARYYA.weight(accuracy, 2), share)
    assert exact <= bound + 1e-12 and exact <= min(share, 1 - share) + 1e-12


@given(st.lists(st.floats(0.1, 0.95), min_size=1, max_size=4).map(np.array), st.integers(0, 99), st.integers(3, 4))
def test_priors_over_several_classes(accuracy, seed, classes):
    """Sum over pairs of classes of sqrt(pi_k pi_l), times the product of affinities."""
    prior = np.random.default_rng(seed).dirichlet(np.full(classes, 3.0))
    bound = BHATTACHARYYA.error(BHATTACHARYYA.evidence(accuracy, classes).sum(), classes, prior)
    assert plurality_error(accuracy, BHATTACHARYYA.weight(accuracy, classes), prior) <= bound + 1e-12


@given(accuracies, st.floats(0.02, 0.98))
def test_what_exact_error_needs_at_least(accuracy, share):
    """Whatever the votes' error e, their evidence is at least ln(pi0 pi1 / (e (1 - e))): equality for one label."""
    prior = np.array([1 - share, share])
    error = weighted_error(accuracy, BHATTACHARYYA.weight(accuracy, 2), share)
    if error < 0.499:
        assert EXACT_ERROR.evidence(accuracy).sum() >= EXACT_ERROR.need(error, 2, prior) - 1e-6
    one = weighted_error(accuracy[:1])
    if one < 0.499:
        assert EXACT_ERROR.evidence(accuracy[:1])[0] == pytest.approx(EXACT_ERROR.need(one), abs=1e-6)


@given(st.floats(0.001, 0.49), st.floats(0.02, 0.98))
def test_needs_with_a_prior_are_inverse_to_errors(epsilon, share):
    """And nothing is needed where guessing the likelier class is good enough."""
    prior = np.array([1 - share, share])
    for rule in (BHATTACHARYYA, PROBIT, EXACT_ERROR):
        need = rule.need(epsilon, 2, prior)
        if min(share, 1 - share) <= epsilon * (1 - 1e-9):
            assert need == 0
        elif min(share, 1 - share) > epsilon * (1 + 1e-9) and need > 1e-6:
            assert rule.error(need, 2, prior) == pytest.approx(epsilon, rel=1e-6)
    assert HOEFFDING.need(epsilon, 2, prior) == HOEFFDING.need(epsilon)
