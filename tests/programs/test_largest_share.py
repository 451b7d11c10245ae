"""The largest share: what it says can be covered can be, and no more."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import Status, solve
from crowdopt.programs import largest_share, market


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_the_share_is_the_edge_of_what_can_be_covered(seed):
    """At the share the market has a point, beyond it none; the most tasks are at least as many as one share gives."""
    rng = np.random.default_rng(seed)
    groups = market.grouped(
        market.Market(
            rng.choice([0.0, 0.2, 0.5], (3, 5)),
            np.ones((3, 5)),
            rng.integers(1, 5, 5),
            rng.integers(1, 9, 3),
            np.ones(3),
        )
    )
    need = rng.uniform(0.2, 2.0, 3)
    share = -solve(largest_share.of_groups(groups, need, joint=True)).claimed_bound
    assert solve(market.of_groups(groups, need * share * (1 - 1e-6))).status is Status.OPTIMAL
    if share < 1 - 1e-6:
        assert solve(market.of_groups(groups, need * (share + 1e-4))).status is Status.INFEASIBLE
    most = -solve(largest_share.of_groups(groups, need, joint=False)).claimed_bound
    assert most >= share * groups.tasks_in.sum() - 1e-6
