"""Estimates and gains, against their definitions in fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt.crowd.hiring import gains

tallies = st.integers(2, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(2, 12)))


def by_definition(c: int, n: int, classes: int) -> Fraction:
    share, variance = Fraction(c, n), Fraction(c * (n - c), n * n * (n - 1))
    return (classes * share - 1) ** 2 - classes**2 * variance


@given(tallies)
def test_the_printed_gain_and_the_fraction_are_one_number(tally: tuple[int, int, int]) -> None:
    """The factorial-moment form is (8) with (10) over the denominator n (n - 1)."""
    c, n, classes = tally
    exact = by_definition(c, n, classes)
    top, bottom = gains.gain_fractions(np.array([c]), np.array([n]), classes)
    assert Fraction(int(top[0]), int(bottom[0])) == exact
    top, bottom = gains.plug_in_fractions(np.array([c]), np.array([n]), classes)
    assert Fraction(int(top[0]), int(bottom[0])) == (Fraction(classes * c, n) - 1) ** 2


@pytest.mark.parametrize(("n", "classes"), [(2, 2), (3, 5), (7, 3), (10, 2)])
def test_the_gain_is_unbiased_and_the_plug_in_is_not(n: int, classes: int) -> None:
    """Lemma 2: over the binomial law of c, E G = (L w - 1)^2 exactly; the plug-in is above by L^2 w (1 - w) / n."""
    w = Fraction(3, 8)
    law = [comb(n, c) * w**c * (1 - w) ** (n - c) for c in range(n + 1)]
    mean = sum(p * by_definition(c, n, classes) for c, p in enumerate(law))
    plug = sum(p * (Fraction(classes * c, n) - 1) ** 2 for c, p in enumerate(law))
    assert mean == (classes * w - 1) ** 2
    assert plug - mean == classes**2 * w * (1 - w) / n


def test_the_score_is_a_mean_scaled_by_the_root_of_the_size() -> None:
    """(7): (1 + 2 + 3 + 6) / sqrt(4)."""
    assert gains.score([1, 2, 3, 6]) == 6.0
