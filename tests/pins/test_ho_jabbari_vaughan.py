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


@pytest.mark.parametrize(
    ("rule", "accuracy", "classes", "evidence", "weight", "need"),
    [
        (HOEFFDING, 0.9, 2, 0.64, 0.8, 2 * log(10)),
        (BHATTACHARYYA, 0.9, 2, -log(0.36), log(9), 2 * log(5)),
        (BHATTACHARYYA, 0.8, 3, -2 * log(2 * sqrt(0.08) + 0.1), log(8), 2 * log(10)),
        (EXACT_ERROR, 0.9, 2, -log(0.36), log(9), -log(0.36)),
    ],
)
def test_the_rule_of_lemma_1(rule, accuracy, classes, evidence, weight, need):
    """Evidence and weight of a label, and the need of an error of .1: Lemma 1's, ln-odds, the least of an exact one."""
    assert rule.evidence(np.array([accuracy]), classes)[0] == pytest.approx(evidence, rel=1e-12)
    assert rule.weight(np.array([accuracy]), classes)[0] == pytest.approx(weight, rel=1e-12)
    assert rule.need(0.1, classes) == pytest.approx(need, rel=1e-12)


def crowd(skills, tasks, capacity):
    """Equal tasks with the need C = 2 (rule hoeffding)."""
    return crowdopt.AssignmentInstance([skills], np.zeros(tasks, np.int64), capacity, ONE, rule="hoeffding")


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


def replayed(text, instance, draw_skills=(), tasks=10):
    """A policy that has met a preliminary crowd of these skills, and then the instance's."""
    given = (lambda rng, count: crowd(draw_skills[:count], tasks, tasks),) if draw_skills else ()
    policy = named(text)
    return policy, replay(policy, simulated_stream(instance, (0,), 3, *given), 0, crowdopt.solve_program)


@pytest.mark.parametrize(("inflate", "worth"), [(0.8, 0.36), (0.6, 0.64), (1.1, 0.16)])
def test_the_sampled_lp_covers_gamma_c(inflate, worth):
    """C = 2, gamma = 1/2, so a task needs 1 of the sample, times the option inflate: .8 ends at the second worker."""
    policy, _ = replayed(f"sampled-lp:gamma=.5:inflate={inflate}", crowd([0.9] * 6, 10, 10), [0.9, 0.8, 0.7])
    assert policy.price[0] == pytest.approx(1 / worth, rel=1e-9)
    assert policy.share[0] == 1.0


def test_the_target_of_theorem_3_is_heeded():
    """T = 1, m = 6, gamma = .5: 4 T (1 + gamma) m / delta = 36/delta = e^8, so s = 400 gives t = .1. With
    qmin = .8 the target is (1 - .4/.8) C = 1, where target-by=given leaves C = 2.
    """
    for by, loss in (("given", 0.0), ("theorem-3", 0.5)):
        text = f"main-algorithm:gamma=.5:gold=400:least-quality=.8:delta={36 * exp(-8)!r}:target-by={by}"
        policy, _ = replayed(text, crowd([0.9] * 6, 4, 4), [0.9] * 3, 4)
        assert policy.loss == pytest.approx(loss, rel=1e-9)
        np.testing.assert_allclose(policy.target(), 2.0 * (1 - loss), rtol=1e-9)


def test_repair_buys_no_label_too_many():
    """Lack 1: two labels of 1/2 do, three are one too many. Lack .7: after .5 the cheapest that closes it is the .3."""
    assert cheapest_labels(np.arange(4), np.full(4, 0.5), np.ones(4), 1.0).tolist() == [0, 1]
    evidence, cost = np.array([0.5, 0.4, 0.3, 0.1]), np.array([1.0, 1.0, 0.9, 0.3])
    assert cheapest_labels(np.arange(4), evidence, cost, 0.7).tolist() == [0, 2]


def test_kos_is_a_regular_assignment():
    """Twelve tasks, eight workers, 48 labels: six for each worker, four for each task, no worker twice to one task."""
    _, run = replayed("kos:labels=48", crowd([0.7] * 8, 12, 12))
    assert np.bincount(run.task, minlength=12).tolist() == [4] * 12
    assert np.bincount(run.worker, minlength=8).tolist() == [6] * 8
    assert len(np.unique(np.column_stack([run.task, run.worker]), axis=0)) == 48
