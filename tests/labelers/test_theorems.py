"""Liu & Liu 2015: what their theorems say, and what the printed paper gets wrong, each by a small example."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt import InputError
from crowdopt.crowd.votes.voting import poisson_binomial
from crowdopt.labelers import theorems
from crowdopt.labelers.sets import set_accuracy, top_accuracies
from crowdopt.labelers.theorems import rivals
from tests.chance import hoeffding, rng

TABLE_1 = np.array([0.763, 0.781, 0.625, 0.783, 0.727])
skills = st.lists(st.floats(0.02, 0.98), min_size=3, max_size=7).map(np.array)


def test_d1_as_printed_is_unusable():
    """Table 1's skills: 4.9e10 testers before T = 2000; the tight factor asks for 700 times fewer, too many still."""
    epsilon, a_min = theorems.presumed(TABLE_1)
    printed, tight = (theorems.constants(5, epsilon, a_min, kind) for kind in ("printed", "tight"))
    assert printed.g1 * np.log(2000) == pytest.approx(4.9e10, rel=0.01)
    assert printed.g1 / tight.g1 == pytest.approx((80 / 3) ** 2)


@given(skills, st.integers(0, 1000))
def test_utility_moves_at_most_as_the_tight_factor_says(p, seed):
    """|pi(S; p') - pi(S; p)| <= (m + 1)/2 max |p' - p|; no union over majorities is needed."""
    other = np.random.default_rng(seed).random(p.size)
    moved = abs(float(set_accuracy(other)) - float(set_accuracy(p)))
    assert moved <= (p.size + 1) / 2 * np.abs(other - p).max() + 1e-12


@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_no_smaller_factor_will_do(size):
    """Half nearly always right, half nearly always wrong, one a coin: the slope is (m + 1)/2 for all moved at once."""
    p = np.array([1 - 1e-4] * (size // 2) + [1e-4] * (size // 2) + [0.5])
    step = 1e-6
    slope = (float(set_accuracy(p)) - float(set_accuracy(p - step))) / step
    assert slope == pytest.approx((size + 1) / 2, rel=2e-3)


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
    gap, skill_gap = theorems.least_gaps(p)
    if len(values) > 1:
        assert gap == pytest.approx(values[-1] - values[-2], abs=1e-12)
    if p.size > 1:
        assert skill_gap == np.diff(p).min()


def test_a_min_is_the_strict_majority():
    """For even M it is below pi(M) by half of the ties, which one is used is said."""
    p = [0.9, 0.8, 0.7, 0.6]
    law = poisson_binomial(p)
    assert theorems.strict_majority(p) == pytest.approx(float(top_accuracies(p)[-1]) - law[2] / 2)


def test_equation_12_takes_the_labeler_for_an_outsider():
    """(.99, .4, .3): disagreement .417, .181, .279, where (12) as printed says .430, .511, .528."""
    p = np.array([0.99, 0.4, 0.3])
    np.testing.assert_allclose(_disagreement(p), [0.417, 0.181, 0.279], atol=5e-4)
    majority = float(set_accuracy(p))
    printed = majority + p * (1 - 2 * majority)
    assert not np.allclose(printed, _disagreement(p), atol=0.01)
    assert (np.argsort(-printed) != np.argsort(-_disagreement(p))).any()


@given(skills)
def test_differences_of_disagreement(p):
    """E[Z_i - Z_j] = (2 r_ij - 1)(p_j - p_i) with r_ij = pi of all but i and j, by enumeration of all labels."""
    rates, table = _disagreement(p), theorems.rivals(p)
    for i, j in itertools.combinations(range(p.size), 2):
        assert rates[i] - rates[j] == pytest.approx((2 * table[i, j] - 1) * (p[j] - p[i]), abs=1e-12)


def _disagreement(p: np.ndarray) -> np.ndarray:
    """How often each differs from the majority of all, who they are among; ties by a fair coin."""
    right = np.array(list(itertools.product([1, 0], repeat=p.size)))
    chance = np.where(right == 1, p, 1 - p).prod(axis=1)
    lead = 2 * right.sum(axis=1) - p.size
    wins = np.where(lead > 0, 1.0, np.where(lead == 0, 0.5, 0.0))[:, None]
    return chance @ np.where(right == 1, 1 - wins, wins)


def _ranks_by_agreement(p: np.ndarray) -> bool:
    """Whether more agreement with the majority means more skill, for every pair: all ``r_ij > 1/2``."""
    table = rivals(p)
    return bool((table[~np.isnan(table)] > 0.5).all())


def test_the_stated_condition_does_not_protect_the_best():
    """(.99, .4, .3) has a_min and mean above 1/2; the best disagrees most."""
    p = np.array([0.99, 0.4, 0.3])
    assert theorems.strict_majority(p) > 0.5 and p.mean() > 0.5
    assert _disagreement(p).argmax() == p.argmax() == 0
    assert not _ranks_by_agreement(p) and not theorems.is_large_enough(p)


@given(st.lists(st.floats(0.05, 0.99), min_size=3, max_size=12).map(np.array))
def test_a_large_enough_crowd_has_a_majority_that_is_mostly_right(p):
    """Section 2.3: M > ln 2 / (2 (mean - 1/2)^2) makes a_min > 1/2 (Hoeffding)."""
    if theorems.is_large_enough(p):
        assert theorems.strict_majority(p) > 0.5


@given(st.lists(st.floats(0.55, 0.99), min_size=3, max_size=9).map(np.array))
def test_ranks_are_right_where_everybody_beats_a_coin(p):
    """Then every r_ij is above 1/2 (with three labelers: the third alone)."""
    assert _ranks_by_agreement(p)


@pytest.mark.chance
def test_the_uniform_law_does_not_give_table_2_s_full_majority():
    """Printed .5154 at M = 5, .5686 at M = 10; p uniform on [0, 1] given a_min > 1/2: it is .69 and above .7.

    Utilities are independent and within [.5, 1]: Hoeffding's bound takes off .03, and the printed number is below it.
    """
    draws = rng()
    for count, printed in ((5, 0.5154), (10, 0.5686)):
        crowds = [p for p in draws.random((4000, count)) if theorems.strict_majority(p) > 0.5]
        mean = float(set_accuracy(np.array(crowds)).mean())
        assert mean - hoeffding(len(crowds), 0.5) > printed


def test_unknown_epsilon_starts_at_three():
    """epsilon_t = 1 / ln^eta t: ln^(1 + 2 eta) t from t = 3, where ln t > 1."""
    plain, slow = theorems.steps(1.0, 50), theorems.steps(1.0, 50, eta=0.5)
    assert (slow[:3] == plain[:3]).all() and (slow[3:] > plain[3:]).all() and (np.diff(slow) >= 0).all()
    assert slow[50] == pytest.approx(np.log(50) ** 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((5, 0.0, 0.8), "epsilon must be positive"),
        ((5, 0.1, 0.5), "above 1/2"),
        ((5, 0.1, 0.8, "printed", 1.0), "alpha"),
    ],
)
def test_constants_that_do_not_exist_are_refused(arguments, said):
    with pytest.raises(InputError, match=said):
        theorems.constants(*arguments)
