"""Letting a worker go: the policies' programme and that of the bounds, against every stopping rule there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt.online.beliefs import worker_session
from crowdopt.online.beliefs.state import CELLS, GRID, information
from crowdopt.online.beliefs.worker_session import StoppingProgram
from crowdopt.online.limits import best_stopping


def a_worker(seed: int, skills: int):
    rng = np.random.default_rng(seed)
    weight = rng.dirichlet(np.ones(skills))
    return rng.uniform(0.2, 1.0, skills), weight, rng.normal(0, 1, skills)


STATES = [(k, c) for k in range(3) for c in range(k + 1)]
RULES = [dict(zip(STATES, choice, strict=True)) for choice in product((False, True), repeat=len(STATES))]


def followed(accuracy, weight, gain, horizon, goes_on):
    """Worth and expected labels of a rule ``goes_on[(labels, right)]``, sequence by sequence."""
    worth, labels = 0.0, np.zeros(accuracy.size)
    for length in range(horizon):
        for sequence in product((0, 1), repeat=length):
            seen = [(k, sum(sequence[:k])) for k in range(length + 1)]
            if all(goes_on[state] for state in seen):
                right = sum(sequence)
                path = weight * accuracy**right * (1 - accuracy) ** (length - right)
                worth, labels = worth + float(path @ gain), labels + path
    return worth, labels


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_no_rule_does_better(seed, skills):
    """Of all 64 stopping rules for three labels the best is worth what the programme says."""
    one = a_worker(seed, skills)
    best = max(followed(*one, 3, rule)[0] for rule in RULES)
    assert best_stopping(*one, 3).worth == pytest.approx(best, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 20))
def test_labels_earn_the_worth_and_telling_the_skill_after_a_while_is_worth_no_less(seed, horizon):
    """Expected labels per skill, times what each brings: the cut that the program is given is tight.

    Cut short, the programme is an upper bound, from knowing at once to never being told.
    """
    one = a_worker(seed, 3)
    found = [best_stopping(*one, horizon, longest) for longest in range(horizon + 1)]
    worths = [best.worth for best in found]
    assert worths == pytest.approx([best.labels @ one[2] for best in found], abs=1e-9)
    assert all((best.labels <= one[1] * horizon + 1e-12).all() for best in found)
    assert (np.diff(worths) <= 1e-12).all()
    assert worths[0] == pytest.approx(horizon * float(one[1] @ np.maximum(one[2], 0)))


def some(seed, horizon=3):
    prior = np.random.default_rng(seed).dirichlet(np.full(CELLS, 0.2))
    return StoppingProgram(prior, np.minimum(information(GRID), 2.0), horizon)


@pytest.mark.parametrize("seed", range(4))
def test_no_stopping_rule_does_better(seed):
    """Of all 64 rules for three labels the best is worth what the programme says, and brings what it says."""
    one = some(seed)
    for share in (0.5, 0.9, 1.01):
        price = share * one.top
        worth, labels = max(
            (followed(GRID, one.prior, one.reward - price, 3, rule) for rule in RULES), key=lambda found: found[0]
        )
        assert one._values(price)[0, 0] == pytest.approx(worth, abs=1e-12)
        if share < 1:
            assert one.brings(price) == pytest.approx(labels @ one.reward, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_top_price_is_where_it_stops_to_pay(seed):
    """Below it a worker is begun with, above it no worker."""
    one = some(seed, 40)
    assert one.brings(one.top * 0.999) > 0 and one.brings(one.top * 1.001) == 0
    for wanted in (0.1 * one.brings(0.0), 0.9 * one.brings(0.0)):
        price = one.price(wanted)
        assert price <= one.top
        assert one.brings(price) >= wanted * (1 - 1e-9) or price == worker_session.LEAST * one.top


DRAWN = np.random.default_rng(0).dirichlet(np.full(CELLS, 0.2))
GUESSERS = 0.7 * (np.abs(GRID - 0.3) < 0.04) + 0.3 * (np.abs(GRID - 0.45) < 0.04)  # and a few who are worth keeping


@pytest.mark.parametrize(("prior", "classes"), [(DRAWN, 2), (DRAWN, 3), (GUESSERS, 3)])
def test_thresholds_lie_midway_between_the_last_kept_and_the_next(prior, classes):
    """Tallies of at least a guesser's share decide, a third among three: the first that is kept, the one below it."""
    law = prior / prior.sum()
    one = StoppingProgram(law, np.minimum(information(GRID, classes), 2.0) * (1 / classes < GRID), 60, classes)
    price, found = 0.8 * one.top, 0
    least, kept, (mass, reward) = one.thresholds(price), one._values(price) > 0, one.tables
    for k in range(60):
        able = [c for c in range(k + 1) if classes * c >= k]
        first = next((c for c in able if kept[k, c]), None)
        if first is None or first == able[0]:
            assert least[k] == (np.inf if first is None else -np.inf)
        else:
            found += 1
            middle = np.mean(reward[k, first - 1 : first + 1] / mass[k, first - 1 : first + 1])
            assert least[k] == pytest.approx(middle, rel=1e-12)
    assert found > 3


def test_a_long_horizon_is_cut_without_promising_too_much(monkeypatch):
    """Beyond the cut the rest is taken or left as a whole, which is one of the rules: never better than the best."""
    long = some(1, 120)
    whole = {price: long._values(price)[0, 0] for price in (0.3 * long.top, 0.8 * long.top, 0.95 * long.top)}
    monkeypatch.setattr(worker_session, "LONGEST", 60)
    cut = some(1, 120)
    for price, best in whole.items():
        assert best * 0.9 <= cut._values(price)[0, 0] <= best + 1e-12
