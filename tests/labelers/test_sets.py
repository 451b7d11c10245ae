"""Sets of labelers: chances against fractions and brute force, the best sets against all sets."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import InputError
from crowdopt.crowd.vote_errors import plurality_error
from crowdopt.labelers import sets
from crowdopt.labelers.priced_sets import worth_its_price
from crowdopt.labelers.sets import (
    best_set,
    plurality_accuracy,
    set_accuracy,
    top_accuracies,
    weighted_accuracy,
    wins,
)
from tests.chance import hoeffding
from tests.majorities import majority_accuracy
from tests.weighted import weighted_error

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


@pytest.mark.parametrize("seed", range(2))
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
def test_what_is_too_large_to_enumerate_is_simulated(monkeypatch):
    """Right answers of a simulation are binomial by the chance that small sets have exactly, ties included."""
    p, weight = np.linspace(0.4, 0.9, 6), [1, 1, 2, 1, 0.5, 2]
    exact = plurality_accuracy(p, weight, 4)

    def refuses(*_):
        raise InputError("too many")

    monkeypatch.setattr(sets, "plurality_error", refuses)
    assert 0 < abs(plurality_accuracy(p, weight, 4) - exact) < hoeffding(sets.DRAWS)


@pytest.mark.parametrize("votes", ["majority", "weighted"])
@pytest.mark.parametrize("seed", range(4))
def test_priced_sets_against_all_sets(votes, seed):
    """Max U - price C: the search equals brute force, M up to 10."""
    rng = np.random.default_rng(seed)
    count = [1, 6, 8, 10][seed]
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
