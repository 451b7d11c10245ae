"""Sets of labelers: their chances against enumeration, the best sets against all sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt.labelers import sets
from crowdopt.labelers.sets import best_set, plurality_accuracies, set_accuracy, top_accuracies, weighted_accuracy
from tests.chance import hoeffding
from tests.crowd.enumerated import coin, joint, vote_error, ways

chance = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 0.7]), st.floats(0, 1))
skills = st.lists(chance, min_size=1, max_size=6).map(np.array)


def right(p: np.ndarray, weight: np.ndarray, classes: int = 2) -> float:
    """How often the vote is, by enumeration."""
    return 1 - vote_error(joint(np.full(classes, 1 / classes), coin(p, classes)), weight)


@given(skills, st.integers(2, 4), st.integers(0, 1000))
def test_chances_of_all_top_sets_are_those_of_enumeration(p, classes, seed):
    """Majorities and pluralities, one weight for all or any, rows alone and together, ties fair."""
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 1.7, -0.3], p.size)
    for m in range(1, p.size + 1):
        assert top_accuracies([p, p], classes)[1, m - 1] == pytest.approx(right(p[:m], np.ones(m), classes), abs=1e-12)
        wanted = right(p[:m], weight[:m], classes)
        assert plurality_accuracies(p, weight, classes)[m - 1] == pytest.approx(wanted, abs=1e-12)
    assert set_accuracy(np.zeros(0), classes) == 1 / classes


@settings(max_examples=10)
@given(skills, st.integers(2, 3))
def test_the_best_set_beats_every_set(p, classes):
    """Theorems 1 and 2: a linear search over top-m sets finds what all 2^M - 1 sets have; odd with two classes."""
    every = [list(some) for k in range(1, p.size + 1) for some in combinations(range(p.size), k)]
    members, accuracy = best_set(p, classes)
    assert accuracy == pytest.approx(max(float(set_accuracy(p[some], classes)) for some in every), abs=1e-12)
    assert accuracy == pytest.approx(float(set_accuracy(p[members], classes)), abs=1e-12)
    assert classes > 2 or members.size % 2 == 1


@given(skills, st.integers(0, 1000), st.floats(0, 2))
def test_a_tolerance_makes_ties(p, seed, tolerance):
    """Sums within it count half, by enumeration."""
    w = np.random.default_rng(seed).normal(size=p.size)
    total = (1 - 2 * ways(2, p.size)) @ w
    wanted = joint([1.0, 0.0], coin(p))[0] @ np.where(np.abs(total) <= tolerance, 0.5, total > 0)
    near = np.abs(np.abs(total) - tolerance).min() < 1e-9
    assert near or weighted_accuracy(p[None], w, tolerance)[0] == pytest.approx(wanted, abs=1e-12)


def test_simple_pluralities_are_exact_of_any_size():
    """Many labelers who are seldom right: a draw of labels could not tell sets of 53 and 54 apart."""
    members, value = best_set(np.random.default_rng(4).uniform(0.15, 0.3, 60), 8)
    assert (members.size, value) == (54, pytest.approx(0.8307102487936837, abs=1e-12))
    assert plurality_accuracies([0.4] * 200, [2.0] * 200, 3)[-1] == pytest.approx(set_accuracy([0.4] * 200, 3))


@pytest.mark.chance
def test_what_falls_in_too_many_ways_is_drawn(monkeypatch):
    """Right answers of drawn labels are binomial by the chance that small sets have exactly, ties included."""
    p, weight = np.linspace(0.4, 0.9, 6), [1, 1, 2, 1, 0.5, 2]
    exact = plurality_accuracies(p, weight, 4)
    monkeypatch.setattr(sets, "WAYS", 9)
    sets._scores.cache_clear()
    assert (np.abs(plurality_accuracies([p], weight, 4)[0] - exact) < hoeffding(sets.DRAWS)).all()


@pytest.mark.parametrize("votes", sets.VOTES)
@pytest.mark.parametrize("seed", range(4))
def test_priced_sets_against_all_sets(votes, seed):
    """Max U - price C: the search equals brute force."""
    rng = np.random.default_rng(seed)
    count = [1, 6, 7, 8][seed]
    p, c, price = rng.random(count), rng.uniform(0, 1, count) if seed < 3 else np.full(count, 0.5), rng.uniform(0, 0.3)

    def lost(some: np.ndarray) -> float:
        odds = np.log(p[some] / (1 - p[some]))
        return float(price * c[some].sum() - right(p[some], odds if votes == "weighted" else np.ones(some.size)))

    every = [np.array(some, np.int64) for k in range(count + 1) for some in combinations(range(count), k)]
    assert lost(sets.worth_its_price(p, c, price, votes)) == pytest.approx(min(map(lost, every)), abs=1e-10)
