"""Plans under checked rules, against brute force, against the linear rules, and against losing any label."""

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
    if not paper.found:
        return
    for rule in ("bhattacharyya", "exact-error"):
        assert solve(replace(instance, rule=rule)).labels <= paper.labels


def half_hammers(tasks: int, workers: int, capacity: int, rule: str) -> AssignmentInstance:
    accuracy = np.where(np.arange(workers) % 2 == 0, 0.7, 0.5)[None]
    return AssignmentInstance(accuracy, np.zeros(tasks, np.int64), np.full(workers, capacity), 0.05, rule=rule)


def test_what_the_rules_save_on_half_spammers():
    """The crowd of Ho et al. 2013, Fig. 1, at epsilon = .05: 38, 27 and 17 labels per task, each proven optimal."""
    plans = {rule: solve(half_hammers(1000, 300, 400, rule)) for rule in ("hoeffding", "bhattacharyya", "exact-error")}
    assert {rule: plan.labels for rule, plan in plans.items()} == {
        "hoeffding": 38_000,
        "bhattacharyya": 27_000,
        "exact-error": 17_000,
    }
    assert all(plan.proven and plan.proof == "certificate" for plan in plans.values())


def test_the_scarce_better_class_is_spent_where_it_pays():
    """Three tasks of epsilon .05 and three of .3, workers of .9 for nine labels only, of .6 for many.

    Strict tasks take three of the better ones each (error .028); loose ones do with .6 (5 labels: .317; 7: .29).
    """
    accuracy = np.array([[0.9] * 3 + [0.6] * 12])
    capacity = np.array([3] * 3 + [6] * 12)
    epsilon = np.array([0.05] * 3 + [0.3] * 3)
    plan = solve(AssignmentInstance(accuracy, np.zeros(6, np.int64), capacity, epsilon, rule="exact-error"))
    better = np.bincount(plan.pairs[plan.pairs[:, 1] < 3, 0], minlength=6)
    assert better.tolist() == [3, 3, 3, 0, 0, 0]
    assert plan.labels == 9 + 3 * 7


def test_certain_and_contrary_workers():
    """A worker always right settles a task alone; a worker usually wrong is worth as much as their opposite."""
    sure = AssignmentInstance([[1.0, 0.7]], [0], [1, 1], 0.001, rule="exact-error")
    assert solve(sure).pairs.tolist() == [[0, 0]]
    contrary = AssignmentInstance([[0.1, 0.5, 0.5]], [0], [1, 1, 1], 0.1, rule="exact-error")
    assert solve(contrary).pairs.tolist() == [[0, 0]]


def test_a_prior_saves_labels():
    """Where one class is likely before any label less evidence is needed, and none where guessing is good enough."""
    crowd = AssignmentInstance(np.full((1, 30), 0.7), np.zeros(2, np.int64), np.full(30, 2), 0.05, rule="exact-error")
    skewed, lopsided = replace(crowd, prior=[0.9, 0.1]), replace(crowd, prior=[0.96, 0.04])
    assert solve(lopsided).labels == 0 < solve(skewed).labels < solve(crowd).labels
    for rule in ("bhattacharyya", "probit"):
        one = replace(crowd, rule=rule)
        assert solve(replace(one, prior=[0.9, 0.1])).labels < solve(one).labels
    paper = replace(crowd, rule="hoeffding")
    assert solve(replace(paper, prior=[0.9, 0.1])).labels == solve(paper).labels if solve(paper).found else True


def test_the_lp_is_that_of_a_rule_with_sums():
    """An exact error is no linear constraint: its LP is that of the rule that implies it; probit has one of its own."""
    instance = recipe("R10:20x30")
    plan = solve(replace(instance, rule="exact-error"), program="lp")
    own = solve(replace(instance, rule="bhattacharyya"), program="lp")
    assert plan.instance.rule == "bhattacharyya" and plan.objective == own.objective
    assert plan.promise == "exact-error" and "which implies exact-error's promise" in plan.note and not own.note
    plan = solve(replace(instance, rule="probit"), program="lp")
    assert plan.status is Status.OPTIMAL and plan.instance.rule == "probit" and not plan.promise
