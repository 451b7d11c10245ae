"""Exact order: what float64 confuses, fractions do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from crowdopt.crowd.hiring import score_levels as module
from crowdopt.crowd.hiring.gains import gain_fractions, plug_in_fractions
from crowdopt.crowd.hiring.score_levels import levels


@pytest.mark.parametrize("value", [gain_fractions, plug_in_fractions, lambda correct, asked, _: (correct, asked)])
@pytest.mark.parametrize("table", [module.TABLE, 1])
def test_levels_are_the_distinct_fractions(value, table: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Descending without repeats, each worker alone, whichever way the tallies were told apart."""
    monkeypatch.setattr(module, "TABLE", table)
    rng = np.random.default_rng(2)
    for _ in range(60):
        asked = rng.integers(2, 40, 30) if rng.random() < 0.7 else np.full(30, 9)
        correct = rng.integers(0, asked + 1)
        classes = int(rng.integers(2, 7))
        found = levels(correct, asked, classes, value)
        tops, bottoms = value(correct, asked, classes)
        exact = [Fraction(int(a), int(b)) for a, b in zip(tops, bottoms, strict=True)]
        distinct = [found.fraction(k) for k in range(found.numerator.size)]
        assert distinct == sorted(set(exact), reverse=True)
        assert [distinct[k] for k in found.of] == exact
        assert found.total(found.count) == sum(exact)


def test_huge_denominators_are_sorted_as_fractions() -> None:
    """Fractions over 1e8 may differ by 1e-16, which a quotient of size 1e6 in float64 cannot show."""
    asked = np.array([9999, 10000, 9998, 9999])
    correct = asked - np.array([1, 1, 1, 2])
    found = levels(correct, asked, 1000, gain_fractions)
    exact = [Fraction(*map(int, pair)) for pair in zip(*gain_fractions(correct, asked, 1000), strict=True)]
    assert [found.fraction(k) for k in found.of] == exact
    assert [found.fraction(k) for k in range(4)] == sorted(exact, reverse=True)


def test_sums_beyond_int64_are_exact() -> None:
    """Numerators of 1e14 times a million workers leave int64; the sum is made of Python's own numbers then."""
    found = levels(np.full(100_000, 9_999), np.full(100_000, 10_000), 1000, gain_fractions)
    top, bottom = gain_fractions(np.array([9_999]), np.array([10_000]), 1000)
    assert found.total(found.count) == 100_000 * Fraction(int(top[0]), int(bottom[0]))
