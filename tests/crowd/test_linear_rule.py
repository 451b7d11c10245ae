"""The linear rule that stands for a checked one: its plans keep the promise, and its optimum is not the promise's."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdopt
from crowdopt import AssignmentInstance, InputError
from crowdopt.api.no_plan import why_not
from crowdopt.crowd.difficulty.hard_tasks import Difficulty
from crowdopt.crowd.linear_rule import linear_of, named_rule, policies_rule
from crowdopt.crowd.votes.evidence import RULES
from crowdopt.programs import assignment, assignment_dual
from crowdopt.recheck.verification import verify
from tests.small import instances

PROMISED = [rule.name for rule in RULES.values() if rule.implied_by]
ONE = AssignmentInstance(np.full((1, 6), 0.8), np.zeros(1, np.int64), np.ones(6, np.int64), 0.2, rule="exact-error")


def least_error(prior: np.ndarray, accuracies: np.ndarray) -> float:
    """What the best vote errs with: one less the likeliest class's chance, over every way in which labels fall."""
    classes, right = prior.size, 0.0
    for labels in itertools.product(range(classes), repeat=accuracies.size):
        chance = prior.copy()
        for label, accuracy in zip(labels, accuracies, strict=True):
            chance *= np.where(np.arange(classes) == label, accuracy, (1 - accuracy) / (classes - 1))
        right += chance.max()
    return 1 - right


@given(st.integers(2, 4), st.lists(st.floats(0.02, 0.98), max_size=5), st.integers(0, 2**31), st.floats(0.01, 0.49))
def test_what_the_linear_rule_covers_keeps_the_promise(classes, accuracies, seed, epsilon):
    """Any number of classes, any prior, workers below chance too; the errors are listed here."""
    prior = np.random.default_rng(seed).dirichlet(np.ones(classes)) * 0.98 + 0.02 / classes
    prior /= prior.sum()
    told = np.array(accuracies)
    one = AssignmentInstance(
        np.append(told, 0.5)[None], capacity=1, epsilon=epsilon, rule="exact-error", classes=classes, prior=prior
    )
    linear = linear_of(one)
    if linear.evidence[0, : told.size].sum() >= linear.need[0]:
        assert least_error(prior, told) <= epsilon + 1e-9


@pytest.mark.parametrize("rule", RULES)
def test_rules_with_sums_of_their_own_stay_what_they_are(rule):
    """Only what is no linear constraint is replaced, and by a rule that is one; the words name both."""
    one = replace(ONE, rule=rule)
    linear = linear_of(one)
    assert (linear is one) == (rule not in PROMISED) and not linear.the_rule.implied_by
    assert linear.rule in named_rule(one) and rule in named_rule(one)


@given(
    st.lists(st.floats(0.02, 0.98), max_size=5),
    st.floats(0.02, 0.5),
    st.floats(0.05, 0.95),
    st.floats(0.0, 1.0),
    st.floats(0.02, 0.49),
)
def test_it_keeps_the_promise_where_tasks_may_be_hard(accuracies, first, share, left, epsilon):
    """Votes have the weights of easy tasks, whichever the task is; their errors are listed here, for both."""
    prior, told = np.array([first, 1 - first]), np.array(accuracies)
    one = AssignmentInstance(
        np.append(told, 0.5)[None], capacity=1, epsilon=epsilon, rule="exact-error", prior=prior
    ).with_difficulty(Difficulty(share=share, hard=left))
    try:
        linear = linear_of(one)
    except InputError as refused:  # no more than guesses are sure on hard tasks, and they err too much
        assert "no evidence of the linear rule" in str(refused) and share * prior.max() >= epsilon
        return
    assert not linear.difficulty.share and "leave room for hard tasks" in named_rule(one)
    if linear.evidence[0, : told.size].sum() >= linear.need[0]:
        workers = np.flatnonzero(linear.evidence[0] > 0)
        skill = one.accuracy[0, workers]
        hard = 0.5 + one.difficulty.left * (skill - 0.5)
        wrong = [weighted_error(each, one.weight[0, workers], prior) for each in (skill, hard)]
        assert (1 - share) * wrong[0] + share * wrong[1] <= epsilon + 1e-9


def weighted_error(accuracies: np.ndarray, weights: np.ndarray, prior: np.ndarray) -> float:
    """The error of the vote by weights and the prior's log-odds; ties are a coin."""
    wrong, start = 0.0, float(np.log(prior[1] / prior[0]))
    for labels in itertools.product((0, 1), repeat=accuracies.size):
        score = start + sum(w if label else -w for w, label in zip(weights, labels, strict=True))
        for true in (0, 1):
            chance = prior[true] * np.where(np.array(labels) == true, accuracies, 1 - accuracies).prod()
            against = score if true == 0 else -score
            wrong += chance * (1.0 if against > 1e-9 else 0.5 if against > -1e-9 else 0.0)
    return wrong


def test_programs_of_hard_tasks_say_what_they_leave_room_for(tmp_path):
    """The offline programs are there, and what they prove holds of the promise with hard tasks."""
    hard = replace(ONE, capacity=np.full(6, 2), epsilon=np.full(1, 0.3)).with_difficulty(
        Difficulty(share=0.2, hard=0.5)
    )
    assert "leave room for hard tasks" in assignment.build(hard).about
    crowdopt.write_campaign(hard, tmp_path / "c")
    for program in ("ip", "lp"):
        plan = crowdopt.assign(tmp_path / "c", program=program)
        assert plan.found and "tasks are hard" in plan.note
        crowdopt.write_plan(plan, tmp_path / program)
        assert verify(tmp_path / "c", tmp_path / program).holds
    many = AssignmentInstance(np.full((1, 300), 0.75), [0], np.full(300, 1), 0.08, difficulty=(0.2, 0.5))
    assert many.difficulty.share / 2 > many.one_target  # guesses on hard tasks alone would err too much
    plan, own = crowdopt.assign(many, program="lp"), crowdopt.assign(many)
    assert plan.found and plan.instance.rule == "bhattacharyya" and own.proven and own.objective <= plan.objective


@given(st.floats(0.02, 0.5), st.floats(0.05, 0.9), st.floats(0.0, 1.0), st.floats(0.02, 0.49))
def test_policies_go_by_needs_between_what_is_necessary_and_what_is_enough(first, share, left, epsilon):
    """At least what every plan has, at most what leaves room for guesses on hard tasks; nothing where a guess will do.

    Without hard tasks they are the linear rule's, whatever the skills: so they are the limit of rarer ones.
    """
    prior, hard = np.array([first, 1 - first]), Difficulty(share=share, hard=left)
    one = AssignmentInstance([[0.8]], capacity=1, epsilon=epsilon, rule="exact-error", prior=prior)
    some = one.with_difficulty(hard)
    shown = policies_rule(some)
    assert shown.rule == "bhattacharyya" and not shown.difficulty.share and policies_rule(shown) is shown
    assert shown.need >= np.minimum(some.need, 1000.0) * (1 - 1e-9)  # more is out of any reach
    assert (shown.need > 0) == (prior.min() > epsilon + 1e-12)
    if share * prior.max() < epsilon:  # not refused
        assert shown.need <= linear_of(some).need * (1 + 1e-9)
    rare = policies_rule(one.with_difficulty(Difficulty(share=1e-9, hard=left)))
    assert rare.need == pytest.approx(policies_rule(one).need, rel=1e-5, abs=1e-5)


@given(instances(rules=PROMISED))
def test_public_programs_are_those_of_the_linear_rule(instance):
    """Never the sums that a checked rule has as a guide: a point of those could be no plan."""
    linear = linear_of(instance)
    built, wanted = assignment.build(instance), assignment.build(linear)
    assert (built.row_lower == wanted.row_lower).all() and (built.matrix != wanted.matrix).nnz == 0
    assert instance.rule in built.about and linear.rule in wanted.about and instance.rule not in wanted.about
    try:
        dual = assignment_dual.build(instance)
    except InputError:
        return
    assert (dual.cost == assignment_dual.build(linear).cost).all() and dual.about == built.about


def test_the_bound_of_the_linear_rule_is_never_called_the_promises(tmp_path):
    """One label of .8 errs with .2, exactly; the linear rule asks for more than four, and says whose bound that is."""
    exact, shares = crowdopt.assign(ONE), crowdopt.assign(ONE, program="lp", output=tmp_path / "lp")
    assert exact.proven and exact.objective == 1 and not exact.promise
    assert shares.proven and shares.bound > 4 and (shares.instance.rule, shares.promise) == ("bhattacharyya", ONE.rule)
    crowdopt.write_campaign(ONE, tmp_path / "one")
    report = verify(tmp_path / "one", tmp_path / "lp")
    assert report.holds and report.overrides == {"rule": "bhattacharyya"}
    short = crowdopt.assign(replace(ONE, capacity=np.array([1, 0, 0, 0, 0, 0])), program="lp", strict=True)
    first, *_, last = why_not(short)
    assert first.startswith("infeasible by rule bhattacharyya") and "rule exact-error asks for less" in last
