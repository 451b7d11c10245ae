"""Sets of labelers: chances against fractions and brute force, the best sets against all sets."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import InputError
from crowdopt.crowd.votes.voting import plurality_error, weighted_error
from crowdopt.labelers.priced_sets import worth_its_price
from crowdopt.labelers.sets import (
    best_set,
    clipped_odds,
    plurality_accuracy,
    set_accuracy,
    top_accuracies,
    weighted_accuracy,
    wins,
)
from tests.chance import FALSE_ALARM, hoeffding, rng
from tests.majorities import majority_accuracy
from tests.sampled import first_of

skills = st.lists(st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.7]), st.floats(0, 1)), min_size=1, max_size=8).map(
    np.array
)


def in_fractions(p: list[float]) -> Fraction:
    """pi(S) from eq. (2), ties half, without any rounding."""
    law = [Fraction(1)]
    for right in map(Fraction, p):
        grown = [Fraction(0)] * (len(law) + 1)
        for c, mass in enumerate(law):
            grown[c] += mass * (1 - right)
            grown[c + 1] += mass * right
        law = grown
    size = len(p)
    return sum((m for c, m in enumerate(law) if 2 * c > size), Fraction(0)) + sum(
        (m / 2 for c, m in enumerate(law) if 2 * c == size), Fraction(0)
    )


@pytest.mark.parametrize("seed", range(4))
def test_chances_of_all_top_sets_are_those_of_fractions(seed):
    """Errors below 1e-12 for up to 20 labelers."""
    p = np.random.default_rng(seed).random(20)
    found = top_accuracies(p)
    for m in range(1, 21):
        assert abs(Fraction(float(found[m - 1])) - in_fractions(p[:m].tolist())) < Fraction(1, 10**12)


@given(skills)
def test_the_chain_agrees_with_each_set_alone(p):
    """One law that grows, or one majority a set."""
    alone = [majority_accuracy(p[:m]) for m in range(1, p.size + 1)]
    np.testing.assert_allclose(top_accuracies(p), alone, atol=1e-13)
    np.testing.assert_allclose(top_accuracies(np.stack([p, p]))[1], alone, atol=1e-13)


def test_a_thousand_labelers_are_a_law_still():
    """Nothing under- or overflows: chances, monotone in a crowd of equals above 1/2."""
    values = top_accuracies(np.full(1000, 0.51))
    assert ((values >= 0) & (values <= 1)).all() and (np.diff(values[::2]) > 0).all()


@given(skills, st.integers(2, 4))
def test_pluralities_are_those_of_the_law_of_scores(p, classes):
    """Balls in boxes against the law of score vectors, ties fair."""
    p = p[:6]
    found = set_accuracy(p, classes)
    assert found == pytest.approx(1 - plurality_error(p, np.ones(p.size), np.full(classes, 1 / classes)), abs=1e-12)


def test_two_classes_are_a_special_case_of_many():
    """The table of wins at L = 2 is that of majorities; the empty set is a fair guess."""
    assert wins(3, 2)[2, 1] == 1 and wins(3, 2)[1, 1] == 0.5 and wins(3, 2)[1, 2] == 0
    assert wins(4, 3)[2, 2] == pytest.approx(0.5 * (1 + 0.5))  # both wrong labels in one box of two: a tie
    assert set_accuracy(np.zeros(0), 4) == 0.25
    with pytest.raises(InputError, match="too many"):
        wins(500, 3)


@settings(max_examples=10)
@given(skills, st.integers(2, 3))
def test_the_best_set_beats_every_set(p, classes):
    """Theorems 1 and 2: a linear search over top-m sets finds what all 2^M - 1 sets have; odd with two classes."""
    sets = [s for k in range(1, p.size + 1) for s in itertools.combinations(range(p.size), k)]
    best = max(float(set_accuracy(p[list(s)], classes)) for s in sets)
    found = best_set(p, classes)
    assert found.accuracy == pytest.approx(best, abs=1e-12)
    assert found.accuracy == pytest.approx(float(set_accuracy(p[found.members], classes)), abs=1e-12)
    assert classes > 2 or found.members.size % 2 == 1


def test_theorem_1_needs_distinct_skills():
    """{.7} and {.7, .7} tie; the smaller is taken."""
    assert majority_accuracy([0.7]) == pytest.approx(majority_accuracy([0.7, 0.7]), abs=1e-15)
    assert best_set([0.7, 0.7]).members.tolist() == [0]


def test_table_1_s_best_set_is_all_five():
    """With the skills of their Table 1 no selection can beat the full majority."""
    found = best_set([0.763, 0.781, 0.625, 0.783, 0.727])
    assert found.members.tolist() == [0, 1, 2, 3, 4] and found.accuracy == pytest.approx(0.8834, abs=5e-5)


def test_theorem_4_as_worded_is_false():
    """(.9, .6, .55): {1, 3} is as good as any set under log-odds weights, without 2, who is better than 3.

    Some monotone set is optimal: {1} alone, too.
    """
    p = np.array([0.9, 0.6, 0.55])
    odds = np.log(p / (1 - p))
    sets = [list(s) for k in (1, 2, 3) for s in itertools.combinations(range(3), k)]
    values = {tuple(s): float(weighted_accuracy(p[None, s], odds[s])[0]) for s in sets}
    best = max(values.values())
    assert values[0, 2] == pytest.approx(best, abs=1e-12) and values[(0,)] == pytest.approx(best, abs=1e-12)


@given(skills, st.floats(0, 1))
def test_no_labeler_harms_a_weighted_vote(p, more):
    """So without costs the full set is always optimal, and weighted selection makes sense only with a price."""
    p, more = np.clip(p, 0.01, 0.99), min(max(more, 0.01), 0.99)
    grown = np.append(p, more)
    before, after = (float(weighted_accuracy(s[None], np.log(s / (1 - s)))[0]) for s in (p, grown))
    assert after >= before - 1e-12


def test_the_best_weighted_set_may_be_reached_in_many_ways():
    """Delta_min = 0 where one labeler outweighs all others: Theorem 5's epsilon does not exist."""
    p = np.array([0.99, 0.6, 0.6])
    odds = np.log(p / (1 - p))
    whole, alone = weighted_accuracy(p[None], odds)[0], weighted_accuracy(p[None, :1], odds[:1])[0]
    assert whole == pytest.approx(alone, abs=1e-15)


@given(skills, st.integers(0, 1000), st.floats(0, 2))
def test_a_tolerance_makes_ties(p, seed, tolerance):
    """Sums within it count half, by enumeration."""
    w = np.random.default_rng(seed).normal(size=p.size)
    right = np.array(list(itertools.product([True, False], repeat=p.size)))
    chance, total = np.where(right, p, 1 - p).prod(axis=1), np.where(right, w, -w).sum(axis=1)
    wanted = chance @ np.where(np.abs(total) <= tolerance, 0.5, total > 0)
    near = np.abs(np.abs(total) - tolerance).min() < 1e-9
    found = weighted_accuracy(p[None], w, tolerance)[0]
    assert near or found == pytest.approx(wanted, abs=1e-12)
    assert weighted_accuracy(p[None], w)[0] == pytest.approx(1 - weighted_error(p, w, bias=0.0), abs=1e-12)


@pytest.mark.chance
@pytest.mark.slow
def test_what_is_too_large_to_enumerate_is_simulated():
    """A simulation's right answers are binomial by a chance that the same vote, written another
    way, tells as well: two means of 100,000 draws each, each within Hoeffding's bound.
    """
    p = np.linspace(0.4, 0.9, 16)
    exact = plurality_accuracy(p, np.ones(16), 4)
    nearly = np.ones(16) + 1e-6 * np.sqrt(np.arange(16))
    value = plurality_accuracy(p, nearly, 4)
    assert value >= exact - 0.02
    assert abs(value - _right(p, nearly, 4, rng(1))) < 2 * hoeffding(100_000, alarm=FALSE_ALARM / 2)


def _right(p, w, classes, rng, draws=100_000):
    """The same vote, written another way."""
    truth = rng.integers(0, classes, draws)[:, None]
    said = (truth + rng.integers(1, classes, (draws, p.size))) % classes
    said = np.where(rng.random((draws, p.size)) < p, truth, said)
    score = np.zeros((draws, classes))
    for j in range(p.size):
        score[np.arange(draws), said[:, j]] += w[j]
    return float((score.argmax(axis=1) == truth[:, 0]).mean())


@pytest.mark.parametrize("votes", ["majority", "weighted"])
@pytest.mark.parametrize("seed", first_of(range(6), 5))
def test_priced_sets_against_all_sets(votes, seed):
    """Max U - price C: the search equals brute force, M up to 12."""
    rng = np.random.default_rng(seed)
    count = [1, 3, 6, 8, 10, 12][seed]
    p, c, price = rng.random(count), rng.uniform(0, 1, count), rng.uniform(0, 0.3)
    if seed == 3:
        c[:] = 0.5
    sets = [list(s) for k in range(1, count + 1) for s in itertools.combinations(range(count), k)]
    value = np.array([_accuracy(p[s], votes) for s in sets])
    spent = np.array([c[s].sum() for s in sets])
    found = worth_its_price(p, c, price, votes)
    lost = price * c[found].sum() - _accuracy(p[found], votes) if found.size else -0.5
    assert lost == pytest.approx(min(-0.5, (price * spent - value).min()), abs=1e-10)


def _accuracy(p: np.ndarray, votes: str) -> float:
    return majority_accuracy(p) if votes == "majority" else 1 - weighted_error(np.clip(p, 1e-9, 1 - 1e-9))


def test_clipped_odds_are_finite():
    """P is kept within [.5/N, 1 - .5/N] where a logarithm needs it."""
    found = clipped_odds(np.array([0.0, 0.5, 1.0]), np.array([10, 10, 10]))
    np.testing.assert_allclose(found, [-np.log(19), 0, np.log(19)])
