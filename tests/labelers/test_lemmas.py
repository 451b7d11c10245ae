"""Liu & Liu 2015, the lemmas behind Theorems 3 and 5 that stand by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.crowd.label_kinds import WORK
from crowdopt.crowd.votes.voting import log_odds
from crowdopt.labelers.asking import replay
from crowdopt.labelers.policies import named
from crowdopt.labelers.sets import best_set, set_accuracy, top_accuracies
from crowdopt.labelers.task_arrivals import KINDS, Labelers
from crowdopt.labelers.task_streams import simulated_tasks
from tests.chance import fewest, seeds

numbers = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(numbers, st.integers(0, 1000))
def test_lemma_7_products_differ_no_more_than_their_factors(first, seed):
    """|prod l - prod q| <= sum |l - q| for numbers in [0, 1]."""
    one = np.array(first)
    other = np.random.default_rng(seed).random(one.size)
    assert abs(one.prod() - other.prod()) <= np.abs(one - other).sum() + 1e-12


@given(st.lists(st.floats(0.05, 0.95), min_size=1, max_size=7).map(np.array), st.integers(0, 1000))
def test_lemma_6_utilities_differ_no_more_than_their_skills(p, seed):
    """(25): |U(S; p') - U(S; p)| <= n(S) sum |p' - p|, n(S) majorities; the tight factor is tested beside it."""
    other = np.random.default_rng(seed).random(p.size)
    moved = abs(float(set_accuracy(other)) - float(set_accuracy(p)))
    assert moved <= 2.0 ** (p.size - 1) * np.abs(other - p).sum() + 1e-12


@given(
    st.lists(st.floats(0.05, 0.95), min_size=1, max_size=7).map(np.array),
    st.floats(0.01, 0.5),
    st.integers(0, 1000),
)
def test_lemma_5_weights_are_known_within_half_the_tolerance(p, epsilon, seed):
    """Skills within epsilon/(4 C |S|): sums of log-odds over any part of S move by epsilon/2 at most; a lead of epsilon
    keeps its sign.
    """
    rng = np.random.default_rng(seed)
    constant = 1.2 / np.minimum(p, 1 - p).min()
    off = epsilon / (4 * constant * p.size)
    seen = p + rng.uniform(-off, off, p.size)
    wider = max(constant, 1 / np.minimum(seen, 1 - seen).min())
    part = rng.random(p.size) < 0.5
    moved = abs(float((log_odds(seen) - log_odds(p))[part].sum()))
    assert moved <= 2 * wider * off * p.size + 1e-12
    assert 2 * wider * off * p.size <= epsilon / 2 * (wider / constant) + 1e-12


@pytest.mark.chance
def test_lemma_2_regret_of_exploiting_is_of_wrong_sets():
    """Regret while exploiting is at most Delta_max for each step at which a set other than S* is asked.

    Runs are independent: wrong sets are asked in 85 of 100 or more (of 20 in 19).
    """
    asked = 0
    for seed in seeds(9):
        regret, wrong, largest = exploited(seed)
        assert regret <= largest * wrong + 1e-9
        asked += wrong > 0
    assert asked >= fewest(9, 0.85)


def exploited(seed):
    """Regret while exploiting, how often the set was another than the best, and what the worst set loses."""
    p = np.array([0.85, 0.7, 0.62, 0.58, 0.55])
    run = replay(named("ls-ol:g1=3:g2=.1"), simulated_tasks(Labelers(p[None], np.full(5, 0.02)), 600, (seed,)), seed)
    best = best_set(p)
    largest = best.accuracy - float(top_accuracies(p[::-1]).min())
    regret, wrong = 0.0, 0
    for t in np.flatnonzero(run.kind == KINDS.index(WORK)).tolist():
        if t == 0 or run.place[t] < 0:
            continue
        members = np.asarray(run.sets[run.place[t]].workers)
        regret += best.accuracy - float(set_accuracy(p[members]))
        wrong += not np.array_equal(np.sort(members), best.members)
    return regret, wrong, largest
