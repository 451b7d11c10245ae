"""Plans of 25 campaigns are no worse than they were, and nothing that is claimed contradicts what was."""

from __future__ import annotations

import pytest

from tests.combinations.features import FEATURES, clash
from tests.combinations.golden import CAMPAIGNS, SECONDS, kept, one
from tests.combinations.measured import NEAR, measure

OPEN = 0.1  # of a gap that was open: how far the clock may move the plan; of a proven one nothing


def test_every_feature_is_among_them():
    """Each at least once, at no clash."""
    features = [tuple(said.split()) for _, _, said in CAMPAIGNS]
    assert set().union(*features) == set(FEATURES)
    assert not any(map(clash, features))
    assert len(kept()) == len(CAMPAIGNS)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(CAMPAIGNS)))
def test_no_plan_is_worse_and_no_bound_contradicts(place):
    """Two bounds and two plans of one campaign: neither bound is above either plan."""
    old, row = kept()[place], measure(one(place), SECONDS)
    assert not row.false and not row.raised
    near = NEAR * max(1.0, old["cost"])
    assert row.cost is not None
    assert row.bound is None or row.bound <= old["cost"] + near
    assert old["bound"] <= row.cost + near
    assert row.cost <= old["cost"] + near + OPEN * (old["cost"] - old["bound"])
