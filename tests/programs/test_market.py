"""The market: alike workers as one group lose nothing, and it is the LP over classes where every worker was seen."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import recipe
from crowdopt.programs import aggregated, market
from tests.programs.optima import optimum


@pytest.mark.parametrize("name", ["R10:60x40", "K3:60x120", "T2:60x40"])
@pytest.mark.parametrize("priced", [False, True], ids=["", "priced"])
def test_a_market_of_everybody_is_the_lp(name, priced):
    """With every worker seen and each task's whole need, grouping and leaving out useless labels changes no optimum."""
    instance = recipe(name, 1, priced=priced).with_epsilon(0.3)
    kinds = np.bincount(instance.task_type)
    seen = market.Market(
        instance.evidence, instance.cost, instance.capacity, kinds, np.full(kinds.size, instance.floor[0])
    )
    program = market.of_groups(market.grouped(seen), seen.need)
    assert optimum(program) == pytest.approx(optimum(aggregated.build(instance)), rel=1e-9)
    assert program.column("u").size == np.count_nonzero(market.grouped(seen).evidence)
