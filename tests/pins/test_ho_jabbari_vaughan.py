"""Ho, Jabbari & Vaughan 2013, what the code computes against values by hand: rule, prices, repair, comparator."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
import pytest

import crowdopt
from crowdopt.assign.approximation import cheapest_labels
from crowdopt.crowd.rules import BHATTACHARYYA, EXACT_ERROR, HOEFFDING
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.task_prices import prices
from crowdopt.programs import approximated, sampled
from crowdopt.programs.market import Market

ONE = np.exp(-1.0)  # an error target with the need C = 2


def test_the_rule_of_lemma_1():
    """P = .9: evidence .64 and weight .8 (not ln 9); C = 2 ln(1/epsilon); the error at evidence A is e^(-A/2)."""
    assert HOEFFDING.evidence(np.array([0.9]))[0] == pytest.approx(0.64, rel=1e-12)
    assert HOEFFDING.weight(np.array([0.9]), 2)[0] == pytest.approx(0.8, rel=1e-12)
    assert HOEFFDING.need(exp(-3)) == pytest.approx(6, rel=1e-12)
    assert HOEFFDING.error(6.0) == pytest.approx(exp(-3), rel=1e-12)


def test_bhattacharyya_s_rule():
    """L = 2, p = .9: -ln(4 * .09) and ln 9; C = 2 ln(1/(2 epsilon)). L = 3, p = .8: -2 ln(2 sqrt(.08) + .1), ln 8."""
    assert BHATTACHARYYA.evidence(np.array([0.9]))[0] == pytest.approx(-log(0.36), rel=1e-12)
    assert BHATTACHARYYA.weight(np.array([0.9]), 2)[0] == pytest.approx(log(9), rel=1e-12)
    assert BHATTACHARYYA.need(0.1) == pytest.approx(2 * log(5), rel=1e-12)
    assert BHATTACHARYYA.evidence(np.array([0.8]), 3)[0] == pytest.approx(-2 * log(2 * sqrt(0.08) + 0.1), rel=1e-12)
    assert BHATTACHARYYA.weight(np.array([0.8]), 3)[0] == pytest.approx(log(8), rel=1e-12)
    assert BHATTACHARYYA.need(0.1, 3) == pytest.approx(2 * log(10), rel=1e-12)


def test_the_least_need_of_an_exact_error():
    """-ln(4 epsilon (1 - epsilon)): one label of accuracy 1 - epsilon has just that evidence."""
    assert EXACT_ERROR.need(0.1) == pytest.approx(-log(0.36), rel=1e-12)
    assert EXACT_ERROR.evidence(np.array([0.9]))[0] == pytest.approx(float(EXACT_ERROR.need(0.1)), rel=1e-12)


def crowd(skills, tasks, capacity):
    """Equal tasks with the need C = 2 (rule hoeffding)."""
    return crowdopt.AssignmentInstance(
        accuracy=[skills], task_type=np.zeros(tasks, np.int64), capacity=capacity, epsilon=ONE, rule="hoeffding"
    )


def test_the_sampled_and_the_approximated_need():
    """Gamma C with gamma = 1/4 and C = 2; (1 - 4t/qmin) C with t = .02, qmin = .4: the factor is .8."""
    instance = crowd([0.9, 0.8, 0.7], 4, 4)
    np.testing.assert_allclose(sampled.transform(instance, [0, 2], 0.25).need, 0.5, rtol=1e-12)
    np.testing.assert_allclose(approximated.transform(instance, 0.02, 0.4).need, 1.6, rtol=1e-12)


def test_prices_of_one_kind_by_hand():
    """Ten tasks, evidence .64, .36, .16 of ten labels each: 6.4, 10, 11.6 in all. Needs of .5, .8 and 1.1 a task end at
    the first, second and third worker, whose evidence sets the price.
    """
    evidence, ten = np.array([[0.64, 0.36, 0.16]]), np.full(3, 10)
    for need, worth in ((0.5, 0.64), (0.8, 0.36), (1.1, 0.16)):
        market = Market(evidence, np.ones((1, 3)), ten, np.array([10]), np.array([need]))
        assert prices(market, crowdopt.solve_program).price[0] == pytest.approx(1 / worth, rel=1e-9)


def sampled_prices(text, draw_skills, tasks=10):
    """The prices that a policy sets from a preliminary crowd of these skills, m = 6 workers to come."""
    instance = crowd([0.9] * 6, tasks, tasks)
    stream = simulated_stream(instance, (0,), 3, lambda rng, count: crowd(draw_skills[:count], tasks, tasks))
    policy = named(text)
    replay(policy, stream, 0, crowdopt.solve_program)
    return policy


@pytest.mark.parametrize(("gamma", "inflate", "worth"), [(0.5, 0.8, 0.36), (0.5, 0.6, 0.64), (0.5, 1.1, 0.16)])
def test_the_sampled_lp_covers_gamma_c(gamma, inflate, worth):
    """C = 2, gamma = 1/2, so a task needs 1 of the sample, times the option inflate: .8 ends at the second worker."""
    policy = sampled_prices(f"sampled-lp:gamma={gamma}:inflate={inflate}", [0.9, 0.8, 0.7])
    assert policy.price[0] == pytest.approx(1 / worth, rel=1e-9)
    assert policy.share[0] == 1.0


def test_the_target_of_theorem_3_is_heeded():
    """T = 1, m = 6, gamma = .5: 4 T (1 + gamma) m / delta = 36/delta = e^8, so s = 400 gives t = .1. With
    qmin = .8 the target is (1 - .4/.8) C = 1, where target-by=given leaves C = 2.
    """
    delta = 36 * exp(-8)
    given = f"main-algorithm:gamma=.5:gold=400:least-quality=.8:delta={delta!r}"
    plain, loose = (sampled_prices(f"{given}:target-by={by}", [0.9] * 3, 4) for by in ("given", "theorem-3"))
    assert plain.loss == 0.0 and loose.loss == pytest.approx(0.5, rel=1e-9)
    np.testing.assert_allclose(plain.target(), 2.0, rtol=1e-12)
    np.testing.assert_allclose(loose.target(), 1.0, rtol=1e-9)


def test_repair_buys_no_label_too_many():
    """Lack 1: two labels of 1/2 do, three are one too many. Lack .7: after .5 the cheapest that closes it is the .3."""
    half, price = np.full(4, 0.5), np.ones(4)
    assert cheapest_labels(np.arange(4), half, price, 1.0).tolist() == [0, 1]
    evidence, cost = np.array([0.5, 0.4, 0.3, 0.1]), np.array([1.0, 1.0, 0.9, 0.3])
    assert cheapest_labels(np.arange(4), evidence, cost, 0.7).tolist() == [0, 2]


def test_kos_is_a_regular_assignment():
    """Twelve tasks, eight workers, 48 labels: six for each worker, four for each task, no worker twice to one task."""
    stream = simulated_stream(crowd([0.7] * 8, 12, 12), (3,))
    run = replay(named("kos:labels=48"), stream, 0, crowdopt.solve_program)
    pairs = np.column_stack([run.task, run.worker])
    assert np.bincount(run.task, minlength=12).tolist() == [4] * 12
    assert np.bincount(run.worker, minlength=8).tolist() == [6] * 8
    assert len(np.unique(pairs, axis=0)) == 48
