"""Families: the theorem against the worst joint law that is found, by a linear program for each family in turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from crowdopt import AssignmentInstance, Group
from crowdopt.crowd.families import joint_error, joint_need
from crowdopt.crowd.votes.evidence import RULES
from tests.majorities import majority_accuracy

ROUNDS = 4  # of the families one after the other
TIE = 1e-12  # of a sum of weights; a tie is a coin


def patterns(labels: int) -> np.ndarray:
    """Every way in which labels can be wrong, (patterns, labels)."""
    return (np.arange(2**labels)[:, None] >> np.arange(labels)) & 1 == 1


def errors(p: np.ndarray, family: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Error of the weighted vote if all labels are independent, and under the worst law within families that is found.

    Each family's law is a linear program, ``max sum_x g(x) P(x)`` with marginals 1 - p, the others' being given.
    """
    wrong = patterns(p.size)
    margin = np.where(wrong, -weight, weight).sum(axis=1)
    loss = np.where(margin < -TIE, 1.0, np.where(margin <= TIE, 0.5, 0.0))
    members = [np.flatnonzero(family == one) for one in np.unique(family)]
    number = [wrong[:, who] @ 2 ** np.arange(who.size) for who in members]
    laws = [np.where(patterns(who.size), 1 - p[who], p[who]).prod(axis=1) for who in members]

    def chance(without: int = -1) -> np.ndarray:
        each = [law[k] for f, (law, k) in enumerate(zip(laws, number, strict=True)) if f != without]
        return np.prod([np.ones(len(wrong)), *each], axis=0)

    independent = float(loss @ chance())
    for _ in range(ROUNDS):
        for f, who in enumerate(members):
            gain = np.bincount(number[f], loss * chance(f), 2**who.size)
            rows, sides = np.vstack([patterns(who.size).T, np.ones(2**who.size)]), np.append(1 - p[who], 1.0)
            laws[f] = linprog(-gain, A_eq=rows, b_eq=sides).x
    return independent, float(loss @ chance())


@pytest.mark.parametrize("name", ["bhattacharyya", "hoeffding"])
@pytest.mark.parametrize("seed", range(20))
def test_no_law_breaks_the_promise(name, seed):
    """Hölder inside, independence between: the alternating programs find nothing above the theorem."""
    rng, rule = np.random.default_rng(seed), RULES[name]
    family = np.repeat(np.arange(3), rng.integers(1, 4, 3))
    p, most = rng.uniform(0.52, 0.97, family.size), int(np.bincount(family).max())
    independent, worst = errors(p, family, rule.weight(p, 2))
    assert independent <= worst + 1e-9
    evidence = np.array([rule.evidence(p).sum()])
    promised = joint_error(rule, evidence, np.array([0.5, 0.5]), np.array([most]))[0]
    assert most == 1 or worst <= promised


def test_one_family_s_worst_law_is_known():
    """Three workers right with p > 2/3: two of three wrong at once, 3 (1 - p) / 2."""
    independent, worst = errors(np.full(3, 0.9), np.zeros(3, int), np.ones(3))
    assert worst == pytest.approx(0.15) and independent == pytest.approx(1 - majority_accuracy([0.9] * 3))


def test_k_times_the_need_of_the_best_vote_is_not_enough():
    """Three of accuracy .6 in one family have 3 times bhattacharyya's need for .49, and can err with .6."""
    rule, prior = RULES["bhattacharyya"], np.array([0.5, 0.5])
    evidence = rule.evidence(np.full(3, 0.6)).sum()
    assert evidence >= 3 * rule.need(0.49)
    assert errors(np.full(3, 0.6), np.zeros(3, int), np.ones(3))[1] == pytest.approx(0.6)
    assert joint_need(rule, np.array([0.49]), prior, np.array([3]))[0] > evidence


def test_one_label_a_family_costs_nothing_but_its_rows():
    """With k = 1 the labels of a task are independent: the need, and what is promised, are the rule's own."""
    one = AssignmentInstance(np.full((1, 4), 0.9), [0], 1, 0.2, groups={"f": Group("", [0, 1], dependent=True)})
    plain = replace(one, groups=())
    assert np.array_equal(one.need, plain.need)
    assert np.array_equal(one.error_bound(np.ones(1)), plain.error_bound(np.ones(1)))
