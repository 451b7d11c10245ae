"""Families: the theorem against the worst joint law, found and bounded by linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Group, InputError, solve
from crowdopt.answers.worst_case import worst_error
from crowdopt.crowd.families import joint_error, joint_need
from crowdopt.crowd.votes.evidence import RULES
from tests.majorities import majority_accuracy


def crowd(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Accuracies, families, and the most labels of one family."""
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(3), rng.integers(1, 4, 3))
    return rng.uniform(0.52, 0.97, family.size), family, int(np.bincount(family).max())


def holds(seeds: range, rule: str) -> float:
    """The largest part of the promise that a worst law takes."""
    worst, chosen = 0.0, RULES[rule]
    for seed in seeds:
        p, family, k = crowd(seed)
        found = worst_error(p, family, solve, weights=chosen.weight(p, 2))
        assert found.independent <= found.reached + 1e-9 <= found.bound + 2e-9
        if k > 1:
            evidence = np.array([chosen.evidence(p).sum()])
            promised = float(joint_error(chosen, evidence, np.array([0.5, 0.5]), np.array([k]))[0])
            worst = max(worst, found.reached / promised)
    return worst


@pytest.mark.parametrize("rule", ["bhattacharyya", "hoeffding"])
def test_no_law_breaks_the_promise(rule: str) -> None:
    """Hölder inside, independence between: the alternating programs find nothing above the theorem."""
    assert holds(range(20), rule) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["bhattacharyya", "hoeffding"])
def test_no_law_breaks_the_promise_on_300_crowds(rule: str) -> None:
    """As above, on 300."""
    assert holds(range(300), rule) <= 1


def test_one_family_s_worst_law_is_known() -> None:
    """Three workers right with p > 2/3: two of three wrong at once, 3 (1 - p) / 2; the dual proves that is all."""
    found = worst_error([0.9] * 3, [0, 0, 0], solve)
    assert found.reached == pytest.approx(0.15) and found.bound == pytest.approx(0.15, abs=1e-9)
    assert found.independent == pytest.approx(1 - majority_accuracy([0.9] * 3))
    with pytest.raises(InputError, match="too many outcomes"):
        worst_error([0.9] * 15, range(15), solve)


def test_k_times_the_need_of_the_best_vote_is_not_enough() -> None:
    """Three of accuracy .6 in one family have 3 times bhattacharyya's need for .49, and can err with .6."""
    rule, prior = RULES["bhattacharyya"], np.array([0.5, 0.5])
    evidence = rule.evidence(np.full(3, 0.6)).sum()
    assert evidence >= 3 * rule.need(0.49)
    assert worst_error([0.6] * 3, [0] * 3, solve).reached == pytest.approx(0.6)
    assert joint_need(rule, np.array([0.49]), prior, np.array([3]))[0] > evidence


def test_one_label_a_family_costs_nothing_but_its_rows() -> None:
    """With k = 1 the labels of a task are independent: the need, and what is promised, are the rule's own."""
    one = AssignmentInstance(np.full((1, 4), 0.9), [0], 1, 0.2, groups={"f": Group("", [0, 1], dependent=True)})
    plain = replace(one, groups=())
    assert np.array_equal(one.need, plain.need)
    assert np.array_equal(one.error_bound(np.ones(1)), plain.error_bound(np.ones(1)))
