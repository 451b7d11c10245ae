"""Liu & Liu 2015: what their theorems say, and what the printed paper gets wrong, each by a small example."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt import InputError
from crowdopt.crowd.rules import log_odds
from crowdopt.labelers import theorems
from crowdopt.labelers.sets import set_accuracy, top_accuracies
from tests.crowd.enumerated import coin, joint, ways
from tests.majorities import poisson_binomial

skills = st.lists(st.floats(0.02, 0.98), min_size=3, max_size=7).map(np.array)


def test_lemma_1_s_count():
    """G = (1, 1), T = 2000: 7 < ln T < 8 gives 8 x 8 - 1 explorations, not ln^2 T = 57.8."""
    d = theorems.steps(1.0, 2000)
    assert theorems.lemma_1(d[-1], d[-1]) == 63 == theorems.explorations(d, d).sum()
    assert d[-1] ** 2 == pytest.approx(57.8, abs=0.1)


@given(st.floats(0, 8), st.floats(0, 4), st.integers(1, 120))
def test_explorations_known_beforehand_are_those_of_the_printed_algorithm(g1, g2, horizon):
    """The recursion on a count against the algorithm with its testers and their labels, step by step."""
    d1, d2 = theorems.steps(g1, horizon), theorems.steps(g2, horizon)
    labels, found = [1], []
    for t in range(1, horizon + 1):
        under = [k for k, n in enumerate(labels) if n <= d2[t]]
        explores = len(labels) <= d1[t] or bool(under)
        found.append(explores)
        if explores and under:
            labels[under[0]] += 1
        elif explores:
            labels.append(1)
    assert theorems.explorations(d1, d2)[1:].tolist() == found
    assert sum(found) <= theorems.lemma_1(d1[-1], d2[-1])


@given(skills)
def test_least_gaps_by_brute_force(p):
    """M + 1 sets are enough to find by how much every other set falls short."""
    p = np.unique(p)
    sets = [list(s) for k in range(1, p.size + 1) for s in itertools.combinations(range(p.size), k)]
    values = np.sort([float(set_accuracy(p[s])) for s in sets])
    if p.size > 1:
        wanted = values[-1] - values[-2], np.diff(p).min()
        assert theorems.least_gaps(p) == pytest.approx(wanted, abs=1e-12)


def test_a_min_is_the_strict_majority():
    """For even M it is below pi(M) by half of the ties, which one is used is said."""
    p = [0.9, 0.8, 0.7, 0.6]
    law = poisson_binomial(p)
    assert theorems.strict_majority(p) == pytest.approx(law[3:].sum())
    assert theorems.strict_majority(p) == pytest.approx(float(top_accuracies(p)[-1]) - law[2] / 2)
    assert theorems.strict_majority(p[:3]) == pytest.approx(float(top_accuracies(p[:3])[-1]))


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_theorem_5_s_constant_bounds_the_log_odds(p, other):
    """C >= 1 / min(p, 1 - p, p', 1 - p'): Lemma 8, |log-odds(p') - log-odds(p)| <= 2 C |p' - p|."""
    constant = theorems.odds_constant(p, other)
    assert abs(float(log_odds(p) - log_odds(other))) <= 2 * constant * abs(p - other) + 1e-12


@given(skills)
def test_differences_of_disagreement(p):
    """E[Z_i - Z_j] = (2 r_ij - 1)(p_j - p_i) with r_ij = pi of all but i and j, by enumeration of all labels."""
    right = 1 - ways(2, p.size)
    lead = 2 * right.sum(axis=1) - p.size
    wins = (np.sign(lead) + 1)[:, None] / 2
    rates = joint([1.0, 0.0], coin(p))[0] @ np.where(right == 1, 1 - wins, wins)
    table = theorems.rivals(p)
    for i, j in itertools.combinations(range(p.size), 2):
        assert rates[i] - rates[j] == pytest.approx((2 * table[i, j] - 1) * (p[j] - p[i]), abs=1e-12)


@given(st.lists(st.floats(0.05, 0.99), min_size=3, max_size=12).map(np.array))
def test_a_large_enough_crowd_has_a_majority_that_is_mostly_right(p):
    """Section 2.3: M > ln 2 / (2 (mean - 1/2)^2) makes a_min > 1/2 (Hoeffding)."""
    if theorems.is_large_enough(p):
        assert theorems.strict_majority(p) > 0.5


def test_constants_that_do_not_exist_are_refused():
    for arguments, said in {
        (5, 0.0, 0.8): "epsilon must be positive",
        (5, 0.1, 0.5): "above 1/2",
        (5, 0.1, 0.8, "printed", 1.0): "alpha",
    }.items():
        with pytest.raises(InputError, match=said):
            theorems.constants(*arguments)
    with pytest.raises(InputError, match="alpha > 0"):
        theorems.regret_bound([0.9, 0.8, 0.7], theorems.constants(3, 0.001, 0.88), 2000)
