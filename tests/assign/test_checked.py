"""Plans under checked rules: nothing to spare, no dearer than the linear rules, and whose linear program is theirs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from crowdopt import AssignmentInstance, Status, recipe, solve
from crowdopt.crowd.vote_errors import CERTAIN, breaches, exact_errors
from tests.small import instances


def keeps(instance: AssignmentInstance, pairs: np.ndarray) -> bool:
    """Whether the exact errors, the rule's own evidence and every limit are kept."""
    return not breaches(instance, pairs) and bool(
        (exact_errors(instance, pairs)[0] <= instance.epsilon + CERTAIN).all()
    )


@settings(max_examples=15)
@given(instances(most_pairs=14, rules=("exact-error", "probit")))
def test_plans_keep_everything_and_can_spare_nothing(instance):
    """Whatever the options: targets met exactly, and without any loose label some task misses its own."""
    plan = solve(instance)
    if not plan.found:
        return
    assert keeps(instance, plan.pairs)
    fixed = {tuple(pair) for pair in instance.fixed.tolist()}
    for place, pair in enumerate(plan.pairs.tolist()):
        if tuple(pair) not in fixed:
            assert not keeps(instance, np.delete(plan.pairs, place, axis=0))


@settings(max_examples=10)
@given(instances(most_pairs=12, options=False, rules=("hoeffding",)))
def test_never_more_labels_than_hoeffding(instance):
    """Whatever keeps a Hoeffding need keeps Bhattacharyya's, and whatever keeps that errs at most epsilon exactly."""
    paper = solve(instance)
    for rule in ("bhattacharyya", "exact-error") if paper.found else ():
        assert solve(replace(instance, rule=rule)).labels <= paper.labels


def test_who_is_certain_settles_a_task_alone():
    """No other label is asked for."""
    assert solve(AssignmentInstance([[1.0, 0.7]], [0], [1, 1], 0.001, rule="exact-error")).pairs.tolist() == [[0, 0]]


def test_the_lp_is_that_of_a_rule_with_sums():
    """An exact error is no linear constraint: its LP is that of the rule that implies it; probit has one of its own."""
    instance = recipe("R10:20x30")
    plan = solve(replace(instance, rule="exact-error"), program="lp")
    own = solve(replace(instance, rule="bhattacharyya"), program="lp")
    assert plan.instance.rule == "bhattacharyya" and plan.objective == own.objective
    assert plan.promise == "exact-error" and "which implies exact-error's promise" in plan.note and not own.note
    plan = solve(replace(instance, rule="probit"), program="lp")
    assert plan.status is Status.OPTIMAL and plan.instance.rule == "probit" and not plan.promise
