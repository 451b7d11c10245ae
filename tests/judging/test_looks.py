"""Corrected shares and how much more to look at: exact for any judge, by the law of the draw."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from crowdopt.judging.card import Use, _word, fewest, to_experts
from crowdopt.judging.looks import class_shares, looks_for


@pytest.mark.parametrize("sizes", [(12, 6), (5, 15), (20, 0)])
@pytest.mark.parametrize("looked", [(4, 2), (2, 5), (5, 6)])
def test_bounds_miss_seldom_whatever_is_true(sizes, looked):
    """All true shares on both sides, all outcomes of the draw, weighed with their law: at most delta."""
    looked = [min(pair) for pair in zip(sizes, looked, strict=True)]
    said, delta = np.array(sizes), 0.1
    for positives in product(*(range(size + 1) for size in sizes)):
        missed, true = 0.0, sum(positives) / sum(sizes)
        for hits in product(*(range(n + 1) for n in looked)):
            draws = zip(hits, sizes, positives, looked, strict=True)
            chance = np.prod([hypergeom.pmf(k, size, of, n) if size else 1.0 for k, size, of, n in draws])
            table = np.array([[n - k for n, k in zip(looked, hits, strict=True)], hits])
            found = class_shares(said, table, delta)
            if chance and not found.low[1] - 1e-12 <= true <= found.high[1] + 1e-12:
                missed += chance
        assert missed <= delta + 1e-12, positives


@settings(max_examples=60)
@given(st.integers(0, 10**9))
def test_what_is_looked_at_is_enough_and_no_more_than_all(seed):
    """Shares lie within their bounds; with the looks that are named intervals are as narrow, if humans go on alike."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 4))
    table = rng.integers(0, 30, (classes, classes)) + 40 * np.eye(classes, dtype=int)
    said = table.sum(axis=0) + rng.integers(0, 2000, classes)
    found = class_shares(said, table, 0.05)
    assert (found.low <= found.corrected + 1e-12).all() and (found.corrected <= found.high + 1e-12).all()
    assert found.said.sum() == pytest.approx(1)
    more = looks_for(0.1, said, table, 0.05)
    assert (more >= 0).all() and (table.sum(axis=0) + more <= said).all()
    assert (found.high - found.low).max() > 0.1 or more.sum() == 0
    if more.sum():
        rate = (table + 1) / (table.sum(axis=0) + classes)
        after = np.round(rate * (table.sum(axis=0) + more)).astype(int)
        wide = class_shares(said, after, 0.05)
        assert (wide.high - wide.low).max() <= 0.12


def test_where_a_judge_errs_more_is_looked_at():
    """A judge who is never wrong where it says no, and often where it says yes: all looks go there."""
    said, table = np.array([5000, 5000]), np.array([[100, 40], [0, 60]])
    more = looks_for(0.05, said, table, 0.05)
    assert more[1] > 3 * more[0]


@pytest.mark.parametrize(
    ("right", "of", "word"),
    [(99, 100, "trusted"), (93, 100, "not yet"), (70, 100, "no"), (0, 0, "unknown"), (200, 230, "not yet")],
)
def test_words(right, of, word):
    """By one end of an exact interval each; a judge who is wrong too often gets no number of labels."""
    table = np.array([[right, of - right], [0, 0]])
    found, why, more = _word(table, Use(accuracy=0.9), 0.05, ("a", "b"))
    assert found == word and bool(why) == (word != "trusted")
    assert (more is None) == (word in ("no", "unknown") or right / max(1, of) < 0.9)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(20, 200))
def test_the_labels_that_are_named_show_it(wrong, of):
    """With so many more, as good as before, the word is trusted; with one fewer it is not."""
    table = np.array([[of - min(wrong, of // 5), min(wrong, of // 5)], [0, 0]])
    word, _, more = _word(table, Use(accuracy=0.8), 0.05, ("a", "b"))
    if word == "not yet" and more:
        share = table[0, 0] / of

        def at(n: int) -> str:
            return _word(np.array([[int(share * n), n - int(share * n)], [0, 0]]), Use(accuracy=0.8), 0.05, "ab")[0]

        assert at(of + more) == "trusted" and at(of + more - 1) == "not yet"


def test_what_experts_must_take():
    """Of 100 answers 20 are wrong by all: with 16 sent on 4 of 84 are wrong, less than .05; 15 leave more."""
    assert to_experts(0.2, 0.05) == pytest.approx(0.15 / 0.95)
    assert 0.15 < to_experts(0.2, 0.05) < 0.16
    assert to_experts(0.04, 0.05) == 0.0


@pytest.mark.parametrize("cards", [1, 2, 30])
def test_the_fewest_labels_that_can_show_it(cards):
    """All right with so many labels is trusted beside so many cards, with one fewer it is not."""
    use, n = Use(accuracy=0.9), fewest(cards, Use(accuracy=0.9))
    for size, word in ((n, "trusted"), (n - 1, "not yet")):
        table = np.array([[size, 0], [0, 0]])
        assert _word(table, use, 0.05 / cards, ("a", "b"))[0] == word


def test_a_judge_who_always_says_the_same_is_corrected_by_the_humans():
    """Its verdict tells nothing: the share is that of the items that humans looked at."""
    found = class_shares(np.array([0, 1000]), np.array([[0, 38], [0, 162]]), 0.05)
    assert found.corrected[0] == pytest.approx(0.19) and found.low[0] < 0.19 < found.high[0]
