"""Letting a worker go: the dynamic programme against everything else one could do."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt.online.limits import best_stopping


def case(seed: int, skills: int):
    rng = np.random.default_rng(seed)
    weight = rng.dirichlet(np.ones(skills))
    return rng.uniform(0.2, 1.0, skills), weight, rng.normal(0, 1, skills)


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
    one = case(seed, skills)
    states = [(k, c) for k in range(3) for c in range(k + 1)]
    rules = [dict(zip(states, choice, strict=True)) for choice in product((False, True), repeat=len(states))]
    best = max(followed(*one, 3, rule)[0] for rule in rules)
    assert best_stopping(*one, 3).worth == pytest.approx(best, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_the_labels_are_those_that_earn_the_worth(seed, horizon):
    """Expected labels per skill, times what each brings, are the worth: the cut that the program is given is tight."""
    one = case(seed, 4)
    best = best_stopping(*one, horizon)
    assert best.labels @ one[2] == pytest.approx(best.worth, abs=1e-9)
    assert (best.labels <= one[1] * horizon + 1e-12).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12))
def test_telling_the_skill_after_a_while_is_worth_no_less(seed, horizon):
    """Cut short, the programme is an upper bound, from knowing at once to never being told."""
    one = case(seed, 3)
    worths = [best_stopping(*one, horizon, longest).worth for longest in range(horizon + 1)]
    assert (np.diff(worths) <= 1e-12).all()
    assert worths[0] == pytest.approx(horizon * float(one[1] @ np.maximum(one[2], 0)))
