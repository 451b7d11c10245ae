"""Tasks that differ by nothing but whom they may not have, or must: the fast second opinion is the slow one's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.recheck.bounds.individual_proofs import least_sets
from crowdopt.recheck.bounds.proofs import MANY, _each, _kinds
from tests.sampled import first_of


@pytest.mark.parametrize("seed", first_of(range(3)))
def test_both_ways_of_pricing_agree(seed: int) -> None:
    """Hundreds of such tasks are hundreds of kinds; compiled or not, each has the same least set."""
    rng, instance = np.random.default_rng(seed), crowdopt.recipe("R10:400x40", seed)
    drawn = rng.permutation(400 * 40)
    forbidden, fixed = (np.column_stack(np.divmod(pairs, 40)) for pairs in (drawn[:1200], drawn[1200:1250]))
    own = replace(instance, forbidden=forbidden, fixed=fixed)
    load, limit = -rng.exponential(0.3, 40), np.zeros(400)
    assert _kinds(instance, limit) <= 10 and _kinds(own, limit) > MANY
    slow, fast = _each(own, load, limit, 0.0), least_sets(own, load, limit, 1.0)
    assert fast == pytest.approx(slow, rel=1e-6, abs=1e-6)
