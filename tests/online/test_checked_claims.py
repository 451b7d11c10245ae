"""Claims in the light of answers that an expert looked at: Bayes by hand, what is drawn, errors that are shared."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import crowdopt
from crowdopt.online import checked_claims
from crowdopt.online.checked_claims import CheckedAnswers, drawn, looks_at
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.online.run_score import answers_of
from tests.chance import binomial, mean_is_at_most, rng, seeds
from tests.online.streams import stream


def looked(tasks, wrong):
    tasks = np.asarray(tasks)
    return CheckedAnswers(tasks, np.zeros(tasks.size, int), np.asarray(wrong, int))


def by_hand(claimed, looks, classes):
    """Pair by pair of the grid; wrong by a guess, or by odds times a factor that are never above a guess's."""
    total, sums, guess = 0.0, np.zeros(claimed.size), 1 - 1 / classes
    shares, factors, near = checked_claims.SHARES, checked_claims.FACTORS, np.array(checked_claims.NEAR)
    for share, (factor, weight) in product(shares, zip(factors, near / near.sum(), strict=True)):
        odds = factor * claimed / (1 - claimed)
        each = share * guess + (1 - share) * np.minimum(guess, odds / (1 + odds))
        weight *= 0.5 if share == 0 else 0.5 / (len(shares) - 1)
        weight *= np.where(looks.wrong, each[looks.tasks], 1 - each[looks.tasks]).prod()
        total, sums = total + weight, sums + weight * each
    return np.where(np.isin(np.arange(claimed.size), looks.tasks), 0.0, sums / total)


@pytest.mark.parametrize("classes", [2, 4])
def test_claims_are_the_posterior_mean(classes):
    """Added up over all pairs of the grid; what was looked at is right."""
    claimed = np.array([0.001, 0.02, 0.3, 0.45, 0.08, 0.5])
    for looks in (looked([0, 3], [True, False]), looked([1], [False]), looked([0, 1, 2, 4], [True] * 4)):
        np.testing.assert_allclose(looks.claims(claimed, classes), by_hand(claimed, looks, classes), rtol=1e-12)


@pytest.mark.chance
def test_every_answer_is_as_likely_to_be_looked_at():
    """7 of 23 tasks, so each with chance 7/23; and evenly over claims: two or three of the eight surest."""
    claimed, trials, generator = np.arange(23) / 50, 4000, rng()
    seen = np.zeros(23, int)
    for _ in range(trials):
        found = drawn(claimed, np.ones(23, bool), 7, generator)
        assert 2 <= (found < 8).sum() <= 3
        seen[found] += 1
    assert binomial(seen, trials, 7 / 23)


@pytest.mark.chance
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_claims_hold_on_average_whatever_share_is_guessed(share):
    """60 of 400 answers are looked at: the errors left are .8 to 1.15 times the claims on average of 150 crowds.

    Answers are wrong as claimed, but a share of all tasks is guessed: by labels alone it is more than 1.5 times then.
    """
    errors, claims, before = [], [], []
    for generator in map(np.random.default_rng, seeds(150)):
        claimed = generator.beta(0.5, 5.0, 400) / 2
        wrong = generator.random(400) < np.where(generator.random(400) < share, 0.5, claimed)
        tasks = drawn(claimed, np.ones(400, bool), 60, generator)
        after = looked(tasks, wrong[tasks]).claims(claimed, 2)
        left = np.setdiff1d(np.arange(400), tasks)
        for found, one in zip((errors, claims, before), (wrong[left], after, claimed), strict=True):
            found.append(one.mean())
        assert (after[tasks] == 0).all()
    left = 340 / 400 * np.array(errors)
    assert mean_is_at_most(left, 1.15 * np.mean(claims)) and mean_is_at_most(claims, np.mean(left) / 0.8)
    assert mean_is_at_most(errors, 1.5 * np.mean(before)) == (share == 0), "otherwise there was nothing to mend"


@pytest.mark.parametrize("text", ["sequential", "adaptive:gold=5"])
def test_looks_come_after_the_last_label_and_are_paid(text):
    """All labels are those of a run without looks; looks cost what a label cost on average; what is seen is right."""
    of = stream()
    bare, run = (replay(named(f"{text}{more}"), of, 0, crowdopt.solve_program) for more in (":checks=0", ":look=3"))
    assert run.task.tobytes() == bare.task.tobytes() and run.label.tobytes() == bare.label.tobytes()
    count = looks_at(bare.total_labels, 0.1, int((answers_of(bare) >= 0).sum()))
    assert run.labels["check"] == count > 0 and bare.labels["check"] == 0
    assert run.total_labels == bare.total_labels + count
    assert run.cost["check"] == pytest.approx(3 * count * bare.total_cost / bare.total_labels)
    seen = np.flatnonzero(run.claims == 0)
    assert seen.size == count and (answers_of(run)[seen] == of.truth[seen]).all()
    unseen = run.claims > 0
    np.testing.assert_array_equal(answers_of(run)[unseen], answers_of(bare)[unseen])
    assert any(f"an expert looked at {count} answers" in note for note in run.notes)
    unknown = replace(of, truth=np.full(of.instance.n_tasks, -1))  # then there is nothing to see, and nothing is paid
    blind = replay(named(text), unknown, 0, crowdopt.solve_program)
    assert blind.labels["check"] == blind.cost["check"] == 0
    np.testing.assert_array_equal(blind.claims, bare.claims)
