"""Candidates: what is refused in a sentence, levels told exactly apart."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from crowdopt import InputError
from crowdopt.hire.candidates import SelectionInstance, gain_fractions, levels, plug_in_fractions

GOOD = {"correct": [8, 5, 9], "asked": 10, "workers": ["ada", "bo", "chen"]}
BAD = [
    ({"correct": [8, 11, 9]}, r"worker bo has more correct .* \(11 of 10\)"),
    ({"asked": [10, 10, 0], "correct": [8, 5, 0]}, "worker chen has no control questions; ask some"),
    ({"asked": 20_000}, "worker ada was asked more than 10000"),
    ({"correct": [], "workers": None}, "correct must be a list"),
    ({"price": [1, -1, 1]}, "price must be finite and at least 0; it is -1.0 for bo"),
    ({"required": [1], "barred": [1]}, "worker bo is both required and barred"),
    ({"required": [0, 1], "most": 1}, "2 workers are required but at most 1"),
    ({"barred": [0, 1, 2]}, "every worker is barred"),
    ({"required": [3]}, "required has the worker 3, but there are 3"),
    ({"group": [0, 0, 1], "fewest": [0, 2]}, "group 1 has 1 workers to hire and is to have 2"),
    ({"group": [0, 0, 1], "fewest": 1, "most": 1}, "groups ask for 2 workers together"),
    ({"group": [0, 0, 1], "fewest": [2, 0], "most_each": 1}, "2 workers at least and 1 at most; change one of them"),
    ({"group": [0, 0, 1], "required": [0, 1], "most_each": 1}, "2 workers of group 0 are required, and it may have 1"),
]


@pytest.mark.parametrize(("change", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_input_gets_its_sentence(change, sentence):
    """Nothing is guessed: an estimate from one answer, or of none, would silently be infinite or zero."""
    with pytest.raises(InputError, match=sentence):
        SelectionInstance(**{**GOOD, **change})


def test_what_was_given_cannot_be_changed():
    """Frozen in: neither the caller's arrays nor ours are shared and writable."""
    correct = np.array([8, 5, 9])
    instance = SelectionInstance(correct, 10)
    correct[0] = 0
    assert instance.correct[0] == 8 and not instance.correct.flags.writeable


@pytest.mark.parametrize("value", [gain_fractions, plug_in_fractions])
def test_levels_are_the_distinct_fractions(value):
    """Descending without repeats, each worker alone, whichever way tallies were told apart; and where float64 cannot:
    fractions over 1e8 may differ by 1e-16, which a quotient of size 1e6 does not show.
    """
    draws = np.random.default_rng(2)
    for low, high, most in [(2, 40, 7), (2, 7, 7), (9990, 10_001, 1001)] * 6:
        asked = draws.integers(low, high, 30)
        correct = draws.integers(0, asked + 1) if high < 100 else asked - draws.integers(0, 3, 30)
        instance = SelectionInstance(correct, asked, int(draws.integers(2, most)))
        found = levels(instance, value)
        exact = [Fraction(*map(int, pair)) for pair in zip(*value(correct, asked, instance.classes), strict=True)]
        distinct = [Fraction(*map(int, pair)) for pair in zip(found.numerator, found.denominator, strict=True)]
        assert distinct == sorted(set(exact), reverse=True)
        assert [distinct[k] for k in found.of] == exact and found.count.tolist() == list(map(exact.count, distinct))
