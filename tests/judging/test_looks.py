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


@pytest.mark.parametrize("sizes", [(9, 5), (5, 10), (15, 0)])
@pytest.mark.parametrize("looked", [(3, 2), (2, 4)])
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


@settings(max_examples=12)
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
    """All looks go where it is often wrong; one who always says the same is corrected by what humans looked at."""
    more = looks_for(0.05, np.array([5000, 5000]), np.array([[100, 40], [0, 60]]), 0.05)
    assert more[1] > 3 * more[0]
    found = class_shares(np.array([0, 1000]), np.array([[0, 38], [0, 162]]), 0.05)
    assert found.corrected[0] == pytest.approx(0.19) and found.low[0] < 0.19 < found.high[0]


def word(right: int, wrong: int, least: float, delta: float = 0.05) -> tuple[str, str, int | None]:
    """Of a judge who met one class alone."""
    return _word(np.array([[right, wrong], [0, 0]]), Use(accuracy=least), delta, ("a", "b"))


@pytest.mark.parametrize(
    ("right", "of", "wanted"),
    [(99, 100, "trusted"), (93, 100, "not yet"), (70, 100, "no"), (0, 0, "unknown"), (200, 230, "not yet")],
)
def test_words(right, of, wanted):
    """By one end of an exact interval each; a judge who is wrong too often gets no number of labels."""
    found, why, more = word(right, of - right, 0.9)
    assert found == wanted and bool(why) == (wanted != "trusted")
    assert (more is None) == (wanted in ("no", "unknown") or right / max(1, of) < 0.9)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(20, 200))
def test_the_labels_that_are_named_show_it(wrong, of):
    """With so many more, as good as before, the word is trusted; with one fewer it is not."""
    right = of - min(wrong, of // 5)
    found, _, more = word(right, of - right, 0.8)
    for n in (of + more, of + more - 1) if found == "not yet" and more else ():
        hits = int(right / of * n)
        assert (word(hits, n - hits, 0.8)[0] == "trusted") == (n == of + more)


@pytest.mark.parametrize("cards", [1, 2, 30])
def test_the_fewest_labels_that_can_show_it(cards):
    """All right with so many labels is trusted beside so many cards, with one fewer it is not."""
    n = fewest(cards, Use(accuracy=0.9))
    assert [word(size, 0, 0.9, 0.05 / cards)[0] for size in (n, n - 1)] == ["trusted", "not yet"]


def test_what_experts_must_take():
    """Of 100 answers 20 are wrong by all: with 16 sent on 4 of 84 are wrong, less than .05; 15 leave more."""
    assert 0.15 < to_experts(0.2, 0.05) < 0.16
    assert to_experts(0.2, 0.05) == pytest.approx(0.15 / 0.95) and to_experts(0.04, 0.05) == 0.0
