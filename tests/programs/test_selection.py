"""The selection program: choosing a size and then workers is choosing workers, and its relaxation is tight."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import relax
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.programs import selection
from tests.programs.optima import optimum


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_the_relaxation_is_the_best_set_of_all(seed):
    """Against every set of workers: each size's w are the bases of a matroid, so fractions gain nothing (Li & Liu)."""
    rng = np.random.default_rng(seed)
    asked = rng.integers(2, 12, 6)
    instance = SelectionInstance(rng.binomial(asked, rng.uniform(0.3, 0.95, 6)), asked, classes=2, most=4)
    sets = [chosen for k in range(1, 5) for chosen in itertools.combinations(range(6), k)]
    best = max(instance.gain[list(chosen)].sum() / np.sqrt(len(chosen)) for chosen in sets)
    assert -optimum(relax(selection.build(instance))) == pytest.approx(best, abs=1e-8)
