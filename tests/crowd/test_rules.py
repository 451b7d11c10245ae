"""Rules: what evidence promises of a vote, held against enumeration; families, hard tasks, and the linear rule."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import crowdopt
from crowdopt import AssignmentInstance, InputError
from crowdopt.crowd import rules
from crowdopt.crowd.law import CLIP, Difficulty, Law, Tables, coins_like
from crowdopt.crowd.linear_rule import linear_of, named_rule, policies_rule
from crowdopt.crowd.rules import BHATTACHARYYA, EACH, EXACT_ERROR, HOEFFDING, PROBIT, RULES
from crowdopt.programs import assignment
from crowdopt.recheck.verification import verify
from crowdopt.verbs.plans_said import why_not
from tests.crowd.enumerated import coin, joint, least_error, vote_error, ways
from tests.small import instances

PROMISING = [rule for rule in RULES.values() if not rule.checked]
PROMISED = [rule.name for rule in RULES.values() if rule.implied_by]
EVEN, HARD = np.array([0.5, 0.5]), Difficulty(0.2, 0.5)
ONE = AssignmentInstance(np.full((1, 6), 0.8), np.zeros(1, np.int64), np.ones(6, np.int64), 0.2, rule="exact-error")
skills = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=5).map(np.array)
seeds, targets, chances = st.integers(0, 10**6), st.floats(0.01, 0.49), st.floats(0.02, 0.9)


def drawn_prior(seed: int, classes: int) -> np.ndarray:
    """Classes that are equally likely, or not."""
    rng = np.random.default_rng(seed)
    return np.full(classes, 1 / classes) if rng.random() < 0.5 else rng.dirichlet(np.full(classes, 3.0))


@given(skills, st.integers(2, 4), seeds)
@pytest.mark.parametrize("rule", PROMISING, ids=lambda rule: rule.name)
def test_no_vote_errs_more_than_its_evidence_promises(rule, accuracy, classes, seed):
    """The guarantee itself: the vote by the rule's weights errs within its bound, on average over the classes."""
    prior = drawn_prior(seed, classes) if rule.heeds_prior else EVEN
    bound = rule.error(rule.evidence(accuracy, prior.size).sum(), prior.size, prior)
    vote = vote_error(joint(prior, coin(accuracy, prior.size)), rule.weight(accuracy, prior.size), np.log(prior))
    assert vote <= bound + 1e-12


@given(skills, st.integers(2, 5), seeds)
def test_every_vote_has_the_evidence_that_its_error_needs(accuracy, classes, seed):
    """Cauchy and Schwarz, class against class; a single label has no more than that."""
    prior = drawn_prior(seed, classes)
    error = least_error(joint(prior, coin(accuracy[:4], classes)))
    evidence = EXACT_ERROR.evidence(accuracy[:4], classes).sum()
    assert EXACT_ERROR.error(evidence, classes, prior) <= error + 1e-12
    if error < 0.499:
        assert evidence >= EXACT_ERROR.need(error, classes, prior) - 1e-6
    one = EXACT_ERROR.evidence(np.array([0.7]), classes)[0]
    assert EXACT_ERROR.need(0.3, classes) == pytest.approx(one)


@given(targets, st.integers(2, 5), seeds)
def test_error_is_the_inverse_of_need(epsilon, classes, seed):
    """A task with just its need is promised just its epsilon; where a guess is good enough nothing is needed."""
    prior = drawn_prior(seed, classes)
    guess = 1 - prior.max()
    assert HOEFFDING.error(HOEFFDING.need(epsilon, 2, prior)) == pytest.approx(epsilon)
    for rule in (RULES[name] for name in EACH if RULES[name].heeds_prior):
        need = rule.need(epsilon, classes, prior)
        if guess <= epsilon * (1 - 1e-9):
            assert need == 0
        elif guess > epsilon * (1 + 1e-9) and need > 1e-6:
            assert rule.error(need, classes, prior) == pytest.approx(epsilon, rel=1e-6)


@given(skills, seeds)
def test_lemma_1(accuracy, seed):
    """Ho et al. 2013: any weights err with at most exp(-1/2 (sum w(2p-1))^2 / sum w^2), where the vote leans right."""
    weight = np.random.default_rng(seed).normal(0, 1, accuracy.size)
    bound = np.exp(-(max(0.0, weight @ (2 * accuracy - 1)) ** 2) / (2 * weight @ weight))
    assert vote_error(joint(EVEN, coin(accuracy)), weight) <= bound + 1e-12


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_extreme_accuracies(rule):
    """A coin is worth nothing, someone always wrong as much as someone always right, and nothing is infinite."""
    evidence, weight = (given(np.array([0.0, 0.5, 1.0]), 2) for given in (rule.evidence, rule.weight))
    assert np.isfinite([evidence, weight]).all() and evidence[1] == weight[1] == 0
    assert evidence[0] == pytest.approx(evidence[2]) and weight[0] == pytest.approx(-weight[2])
    assert rule.evidence(np.array([0.5 + CLIP * 1e-3]))[0] == 0.0


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.2, 0.8], [0.1, 0.3, 0.6]], ids=str)
@pytest.mark.parametrize("k", [2, 5])
def test_families_are_promised_the_sum_over_pairs_of_classes(k, prior):
    """``sum over a != b of pi_a^(1 - 1/2k) pi_b^(1/2k) e^(-A/2k)``, pair by pair; the need is its inverse."""
    pairs = sum(a ** (1 - 1 / (2 * k)) * b ** (1 / (2 * k)) for a, b in permutations(prior, 2))
    evidence, most, prior = np.array([1.5, 40.0]), np.array([k, k]), np.array(prior)
    error = rules.joint_error(BHATTACHARYYA, evidence, prior, most)
    np.testing.assert_allclose(error, np.minimum(1, pairs * np.exp(-evidence / (2 * k))), rtol=1e-12)
    assert rules.joint_need(BHATTACHARYYA, error, prior, most)[1] == pytest.approx(40)
    np.testing.assert_allclose(rules.joint_need(HOEFFDING, np.array([0.2, 0.1]), EVEN, most), 2 * k * np.log([5, 10]))
    alone = rules.joint_need(BHATTACHARYYA, error, prior, np.ones(2, int))
    assert alone.tolist() == BHATTACHARYYA.need(error, prior.size, prior).tolist()


def worst_error(p: np.ndarray, family: np.ndarray, weight: np.ndarray) -> float:
    """Of the weighted vote under the worst law within families that is found: four times round all families.

    Each family's law is a linear program, ``max sum_x g(x) P(x)`` with marginals 1 - p, the others' being given.
    """
    wrong = ways(2, p.size)
    margin = (1 - 2 * wrong) @ weight
    loss = np.where(margin < -1e-12, 1.0, np.where(margin <= 1e-12, 0.5, 0.0))
    members = [np.flatnonzero(family == one) for one in np.unique(family)]
    number = [wrong[:, who] @ 2 ** np.arange(who.size)[::-1] for who in members]
    laws = [np.where(ways(2, who.size), 1 - p[who], p[who]).prod(axis=1) for who in members]
    for f in list(range(len(members))) * 4:
        others = [law[k] for g, (law, k) in enumerate(zip(laws, number, strict=True)) if g != f]
        gain = np.bincount(number[f], loss * np.prod([np.ones(len(wrong)), *others], axis=0))
        rows = np.vstack([ways(2, members[f].size).T, np.ones(gain.size)])
        laws[f] = linprog(-gain, A_eq=rows, b_eq=np.append(1 - p[members[f]], 1.0)).x
    return float(loss @ np.prod([law[k] for law, k in zip(laws, number, strict=True)], axis=0))


@settings(max_examples=8)
@given(seeds)
@pytest.mark.parametrize("rule", PROMISING, ids=lambda rule: rule.name)
def test_no_law_of_families_breaks_the_promise(rule, seed):
    """Hölder inside, independence between: the alternating programs find nothing above the theorem.

    Three workers right with p > 2/3 in one family: two of three wrong at once, 3 (1 - p) / 2.
    """
    assert worst_error(np.full(3, 0.9), np.zeros(3, int), np.ones(3)) == pytest.approx(0.15)
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(3), rng.integers(1, 4, 3))
    p, most = rng.uniform(0.52, 0.97, family.size), np.array([np.bincount(family).max()])
    worst = worst_error(p, family, rule.weight(p, 2))
    assert most[0] == 1 or worst <= rules.joint_error(rule, np.array([rule.evidence(p).sum()]), EVEN, most)[0]


def test_a_table_is_worth_its_worst_pair_of_classes():
    """Class by class: the pair hardest to tell apart, not the mean of all pairs; of one coin it is the coin's."""
    tables = np.random.default_rng(0).dirichlet(np.ones(4), (6, 4))
    for table, found in zip(tables, Law(np.ones(1), Tables(tables[None, None])).evidence()[0], strict=True):
        pairs = [-2 * log(np.sqrt(table[k] * table[m]).sum()) for k in range(4) for m in range(k)]
        assert found == pytest.approx(min(pairs), rel=1e-12)
    for classes in (2, 5):
        accuracy = np.linspace(1 / classes, 0.98, 5)
        found = Law(np.ones(1), Tables(coin(accuracy, classes)[None, None])).evidence()[0]
        np.testing.assert_allclose(found, BHATTACHARYYA.evidence(accuracy, classes), atol=1e-9)
        np.testing.assert_allclose(coins_like(coin(accuracy, classes)[None])[0], accuracy, atol=1e-7)


@pytest.mark.parametrize("rule", [EXACT_ERROR, PROBIT, BHATTACHARYYA], ids=lambda rule: rule.name)
@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.3, 0.7]], ids=str)
def test_the_need_with_hard_tasks_meets_the_target_just_so(rule, prior):
    """A label tells s^2 as much on a hard task: ``(1 - h) e(A) + h e(s^2 A) = epsilon``, e never above a guess's."""
    epsilon, prior = np.array([0.25, 0.15, 0.12, 0.6]), np.array(prior)
    evidence = rules.hard_need(epsilon, prior, HARD, rule)
    easy, hard = (np.minimum(prior.min(), rule.error_of(part, prior)) for part in (evidence, HARD.left**2 * evidence))
    np.testing.assert_allclose(((1 - HARD.share) * easy + HARD.share * hard)[:3], epsilon[:3], rtol=1e-6)
    assert (evidence[:3] > 0.1).all() and evidence[3] == 0


def test_the_bound_with_hard_tasks_is_that_of_a_guess_there():
    """Easy tasks err as the rule bhattacharyya says and never more than a guess; hard ones as the likelier class."""
    prior, evidence = np.array([0.3, 0.7]), np.array([0.0, 1.0, 9.0])
    easy = np.minimum(0.3, sqrt(0.21) * np.exp(-evidence / 2))
    np.testing.assert_allclose(rules.hard_bound(evidence, prior, HARD), 0.8 * easy + 0.2 * 0.7, rtol=1e-12)


@given(st.integers(2, 4), skills, seeds, targets)
def test_what_the_linear_rule_covers_keeps_the_promise(classes, accuracy, seed, epsilon):
    """Any number of classes, any prior, workers below chance too."""
    prior = np.random.default_rng(seed).dirichlet(np.ones(classes)) * 0.98 + 0.02 / classes
    given = {"capacity": 1, "epsilon": epsilon, "rule": "exact-error", "classes": classes, "prior": prior / prior.sum()}
    linear = linear_of(AssignmentInstance(accuracy[None], **given))
    if linear.evidence[0].sum() >= linear.need[0]:
        assert least_error(joint(given["prior"], coin(accuracy, classes))) <= epsilon + 1e-9


@given(skills, chances, chances, chances, targets)
def test_it_keeps_the_promise_where_tasks_may_be_hard(accuracy, first, share, left, epsilon):
    """Votes have the weights of easy tasks, whichever the task is.

    Policies go by needs between what every plan has and what is enough, and nothing where a guess will do.
    """
    prior = np.array([first, 1 - first])
    one = AssignmentInstance(accuracy[None], capacity=1, epsilon=epsilon, rule="exact-error", prior=prior)
    one = one.with_difficulty(Difficulty(share=share, hard=left))
    shown = policies_rule(one)
    assert shown.rule == "bhattacharyya" and not shown.difficulty.share and policies_rule(shown) is shown
    assert shown.need >= np.minimum(one.need, 1000.0) * (1 - 1e-9)  # more is out of any reach
    assert (shown.need > 0) == (prior.min() > epsilon + 1e-12)
    try:
        linear = linear_of(one)
    except InputError as refused:  # no more than guesses are sure on hard tasks, and they err too much
        assert "no evidence of the linear rule" in str(refused) and share * prior.max() >= epsilon
        return
    assert "leave room for hard tasks" in named_rule(one) and shown.need <= linear.need * (1 + 1e-9)
    if linear.evidence[0].sum() >= linear.need[0]:
        workers = np.flatnonzero(linear.evidence[0] > 0)
        easy = one.accuracy[0, workers]
        parts = coin(easy), coin(0.5 + one.difficulty.left * (easy - 0.5))
        chance = joint(prior, *parts, share=(1 - share, share))
        assert vote_error(chance, rules.log_odds(easy), np.log(prior)) <= epsilon + 1e-9


def test_programs_of_hard_tasks_say_what_they_leave_room_for(tmp_path):
    """The offline programs are there, and what they prove holds of the promise with hard tasks."""
    hard = replace(ONE, capacity=np.full(6, 2), epsilon=np.full(1, 0.3)).with_difficulty(HARD)
    crowdopt.write_campaign(hard, tmp_path / "c")
    for program in ("ip", "lp"):
        plan = crowdopt.solve(tmp_path / "c", program=program)
        assert plan.found and "tasks are hard" in plan.note
        crowdopt.write_plan(plan, tmp_path / program)
        assert verify(tmp_path / "c", tmp_path / program).holds


@settings(max_examples=12)
@given(instances(rules=tuple(RULES)))
def test_public_programs_are_those_of_the_linear_rule(instance):
    """Never the sums that a checked rule has as a guide: a point of those could be no plan. The words name both."""
    linear = linear_of(instance)
    assert (linear is instance) == (instance.rule not in PROMISED) and not linear.the_rule.implied_by
    built, wanted = assignment.build(instance), assignment.build(linear)
    assert (built.row_lower == wanted.row_lower).all() and (built.matrix != wanted.matrix).nnz == 0
    assert instance.rule in built.about and linear.rule in wanted.about


def test_the_bound_of_the_linear_rule_is_never_called_the_promises(tmp_path):
    """One label of .8 errs with .2, exactly; the linear rule asks for more than four, and says whose bound that is."""
    exact, shares = crowdopt.solve(ONE), crowdopt.solve(ONE, program="lp", output=tmp_path / "lp")
    assert exact.proven and exact.objective == 1 and not exact.promise
    assert shares.proven and shares.bound > 4 and (shares.instance.rule, shares.promise) == ("bhattacharyya", ONE.rule)
    crowdopt.write_campaign(ONE, tmp_path / "one")
    report = verify(tmp_path / "one", tmp_path / "lp")
    assert report.holds and report.overrides == {"rule": "bhattacharyya"}
    short = crowdopt.solve(replace(ONE, capacity=np.array([1, 0, 0, 0, 0, 0])), require="served", program="lp")
    first, *_, last = why_not(short)
    assert first.startswith("infeasible by rule bhattacharyya") and "rule exact-error asks for less" in last
