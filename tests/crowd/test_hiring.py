"""Candidates: what is refused in a sentence, gains against definitions in fractions, levels told exactly apart."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt import InputError
from crowdopt.crowd.hiring import gains, score_levels
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.crowd.hiring.gains import gain_fractions, plug_in_fractions
from crowdopt.crowd.hiring.score_levels import levels
from tests.selections import gain_of

GOOD = {"correct": [8, 5, 9], "asked": 10, "workers": ["ada", "bo", "chen"]}
BAD = [
    ({"correct": [1, 5, 9], "asked": [1, 10, 10]}, r"worker ada was asked one .* ask more"),
    ({"correct": [8, 11, 9]}, r"worker bo has more correct .* \(11 of 10\)"),
    ({"asked": [10, 10, 0], "correct": [8, 5, 0]}, "worker chen has no control questions; ask some"),
    ({"asked": 20_000}, "worker ada was asked more than 10000"),
    ({"classes": 1}, "number of classes must be a whole number from 2"),
    ({"correct": [8, np.nan, 9]}, "correct must be whole numbers; entry 1 is nan"),
    ({"correct": [], "workers": None}, "correct must be a list"),
    ({"asked": [10, 10]}, "asked has shape"),
    ({"most": True}, "largest number of workers"),
    ({"money": 3.0}, "no price; give each worker a price"),
    ({"price": [1, -1, 1]}, "price must be finite and at least 0; it is -1.0 for bo"),
    ({"required": [1], "barred": [1]}, "worker bo is both required and barred"),
    ({"required": [0, 1], "most": 1}, "2 workers are required but at most 1"),
    ({"barred": [0, 1, 2]}, "every worker is barred"),
    ({"required": [3]}, "required has the worker 3, but there are 3"),
    ({"group": [0, 0, 1], "fewest": [0, 2]}, "group 1 has 1 workers to hire and is to have 2"),
    ({"group": [0, 0, 1], "fewest": 1, "most": 1}, "groups ask for 2 workers together"),
    ({"fewest": 2}, "needs groups; give each worker a group"),
    ({"workers": ["ada", "ada", "bo"]}, "'ada' twice"),
]


@pytest.mark.parametrize(("change", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_input_gets_its_sentence(change, sentence):
    """Nothing is guessed: an estimate from one answer, or of none, would silently be infinite or zero."""
    with pytest.raises(InputError, match=sentence) as caught:
        SelectionInstance(**{**GOOD, **change})
    assert "\n" not in str(caught.value)


def test_what_was_given_cannot_be_changed():
    """Frozen in: neither the caller's arrays nor ours are shared and writable."""
    correct = np.array([8, 5, 9])
    instance = SelectionInstance(correct, 10)
    correct[0] = 0
    assert instance.correct[0] == 8
    with pytest.raises(ValueError, match="read-only"):
        instance.correct[0] = 1


@given(st.integers(2, 40), st.integers(0, 40), st.integers(2, 12))
def test_both_printed_forms_and_the_fraction_are_one_number(n, c, classes):
    """The factorial-moment form is (8) with (10) over the denominator n (n - 1)."""
    c = min(c, n)
    exact = gain_of(c, n, classes)
    top, bottom = gain_fractions(np.array([c]), np.array([n]), classes)
    assert Fraction(int(top[0]), int(bottom[0])) == exact
    share, variance = gains.reliability(c, n), gains.reliability_variance(c, n)
    found = SelectionInstance([c, 0], [n, 2], classes).gain[0]  # each worker has a number of questions of their own
    for value in ((classes * share - 1) ** 2 - classes**2 * variance, found):
        assert value == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
    top, bottom = plug_in_fractions(np.array([c]), np.array([n]), classes)
    assert Fraction(int(top[0]), int(bottom[0])) == (Fraction(classes * c, n) - 1) ** 2


@pytest.mark.parametrize(("n", "classes"), [(2, 2), (7, 3)])
def test_the_gain_is_unbiased_and_the_plug_in_is_not(n, classes):
    """Lemma 2: over the binomial law of c, E G = (L w - 1)^2 exactly; the plug-in is above by L^2 w (1 - w) / n."""
    w = Fraction(3, 8)
    law = [comb(n, c) * w**c * (1 - w) ** (n - c) for c in range(n + 1)]
    mean = sum(p * gain_of(c, n, classes) for c, p in enumerate(law))
    plug = sum(p * (Fraction(classes * c, n) - 1) ** 2 for c, p in enumerate(law))
    assert mean == (classes * w - 1) ** 2
    assert plug - mean == classes**2 * w * (1 - w) / n
    assert gains.score([1, 2, 3, 6]) == 6.0  # (7): (1 + 2 + 3 + 6) / sqrt(4)


@pytest.mark.parametrize("value", [gain_fractions, plug_in_fractions])
@pytest.mark.parametrize("table", [score_levels.TABLE, 1])
def test_levels_are_the_distinct_fractions(value, table, monkeypatch):
    """Descending without repeats, each worker alone, whichever way the tallies were told apart."""
    monkeypatch.setattr(score_levels, "TABLE", table)
    rng = np.random.default_rng(2)
    for _ in range(20):
        asked = rng.integers(2, 40, 30) if rng.random() < 0.7 else np.full(30, 9)
        correct, classes = rng.integers(0, asked + 1), int(rng.integers(2, 7))
        found = levels(correct, asked, classes, value)
        exact = [Fraction(*map(int, pair)) for pair in zip(*value(correct, asked, classes), strict=True)]
        distinct = [found.fraction(k) for k in range(found.numerator.size)]
        assert distinct == sorted(set(exact), reverse=True)
        assert [distinct[k] for k in found.of] == exact
        assert found.total(found.count) == sum(exact)


def test_what_float64_and_int64_confuse_fractions_do_not():
    """Fractions over 1e8 may differ by 1e-16, which a quotient of size 1e6 in float64 cannot show.

    Numerators of 1e14 times a hundred thousand workers leave int64; the sum is made of Python's own numbers then.
    """
    asked = np.array([9999, 10000, 9998, 9999])
    correct = asked - np.array([1, 1, 1, 2])
    found = levels(correct, asked, 1000, gain_fractions)
    exact = [Fraction(*map(int, pair)) for pair in zip(*gain_fractions(correct, asked, 1000), strict=True)]
    assert [found.fraction(k) for k in found.of] == exact
    assert [found.fraction(k) for k in range(4)] == sorted(exact, reverse=True)
    many = levels(np.full(100_000, 9_999), np.full(100_000, 10_000), 1000, gain_fractions)
    assert many.total(many.count) == 100_000 * exact[1]
