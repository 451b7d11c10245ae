"""One step of the box-step: an infinite box is the LP itself; a box around the LP's prices changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import recipe, solve
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import aggregated, boxed


@pytest.mark.parametrize("name", ["R10:60x40", "R1:40x30", "T2:60x40"])
def test_at_the_right_prices_no_evidence_is_had_or_given_back(name):
    """All amounts open: without a box the aggregated LP; in a box around its prices the same, with nothing traded."""
    classes = classes_of(recipe(name, 1, priced=True).with_epsilon(0.3))
    whole = solve(aggregated.of_classes(classes))
    groups, kinds = np.indices(classes.evidence.T.shape).reshape(2, -1)
    room = classes.tasks_in[:, None] * classes.room
    every = boxed.OpenAmounts(
        groups, kinds, classes.evidence[kinds, groups], classes.cost[kinds, groups], room[kinds, groups]
    )
    need, left = classes.tasks_in * classes.floor, (classes.workers_in * classes.capacity).astype(float)
    nowhere = np.full(need.size, np.inf)
    plain = solve(boxed.of_amounts(every, need, left, -nowhere, nowhere))
    assert plain.claimed_bound == pytest.approx(whole.claimed_bound)
    price = np.maximum(0.0, whole.program.row("cover").view(whole.dual))
    held = solve(boxed.of_amounts(every, need, left, price * 0.9, price * 1.1 + 1e-3))
    assert held.claimed_bound == pytest.approx(whole.claimed_bound)
    traded = [held.program.column(name).view(held.primal).sum() for name in ("had", "given")]
    assert max(traded) <= 1e-6 * need.sum()
