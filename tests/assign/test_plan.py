"""Plans: an answer with what is known of it."""

from __future__ import annotations

import pytest

from crowdopt import AssignmentInstance, Status, solve
from crowdopt.assign.plan import queues


def test_the_table_is_arrow():
    """Task, worker and price of each label, by id; pandas reads it."""
    pytest.importorskip("pandas")
    ids = {"tasks": ["a", "b"], "workers": ["u", "v", "w"], "rule": "bhattacharyya"}
    instance = AssignmentInstance([[0.9, 0.9, 0.9]], [0, 0], [2, 2, 2], 0.2, cost=[1.0, 2.0, 3.0], **ids)
    frame = solve(instance).table().to_pandas()
    assert list(frame.columns) == ["task", "worker", "price"]
    assert frame.to_numpy().tolist() == [["a", "u", 1.0], ["a", "v", 2.0], ["b", "u", 1.0], ["b", "v", 2.0]]
    assert "value" in solve(instance, program="lp").table().column_names


def test_a_plan_that_buys_nothing_is_a_plan():
    """Labels already in may be enough: the queues are empty, the cost is 0, and that is optimal."""
    instance = AssignmentInstance([[0.99, 0.99, 0.8]], [0], [1, 1, 1], 0.3, collected=[(0, 0), (0, 1)])
    plan = solve(instance)
    assert plan.status is Status.OPTIMAL and plan.objective == 0 and queues(plan.pairs) == []
