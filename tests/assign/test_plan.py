"""Plans: an answer with what is known of it."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Status, assign, recipe
from crowdopt.assign.plan import breaches, queues


def test_the_table_is_arrow():
    """Task, worker and price of each label, by id; pandas reads it."""
    pytest.importorskip("pandas")
    ids = {"tasks": ["a", "b"], "workers": ["u", "v", "w"], "rule": "bhattacharyya"}
    instance = AssignmentInstance([[0.9, 0.9, 0.9]], [0, 0], [2, 2, 2], 0.2, cost=[1.0, 2.0, 3.0], **ids)
    frame = assign(instance).table().to_pandas()
    assert list(frame.columns) == ["task", "worker", "price"]
    assert frame.to_numpy().tolist() == [["a", "u", 1.0], ["a", "v", 2.0], ["b", "u", 1.0], ["b", "v", 2.0]]
    assert "value" in assign(instance, program="lp").table().column_names


def test_a_plan_that_buys_nothing_is_a_plan():
    """Labels already in may be enough: the queues are empty, the cost is 0, and that is optimal."""
    instance = AssignmentInstance([[0.99, 0.99, 0.8]], [0], [1, 1, 1], 0.3, collected=[(0, 0), (0, 1)])
    plan = assign(instance)
    assert plan.status is Status.OPTIMAL and plan.objective == 0 and queues(plan.pairs) == []


def test_queues_share_out_the_pairs():
    """Every pair is in exactly one worker's queue."""
    plan = assign(recipe("R10:20x20"))
    listed = [(task, worker) for worker, tasks in queues(plan.pairs) for task in tasks.tolist()]
    assert sorted(listed) == [tuple(pair) for pair in plan.pairs.tolist()]


def test_breaches_name_each_broken_limit():
    """What a plan must keep, broken one at a time."""
    instance = AssignmentInstance(
        [[0.9, 0.9, 0.9]],
        [0, 0],
        [1, 2, 2],
        0.2,
        rule="bhattacharyya",
        forbidden=[(0, 2)],
        fixed=[(1, 2)],
        max_labels=[3, 2],
        budget=5.0,
    )
    good = np.array([[0, 0], [0, 1], [1, 1], [1, 2]])
    assert breaches(instance, good) == []

    def broken(pairs: list[list[int]]) -> set[str]:
        return {breach.limit for breach in breaches(instance, np.array(pairs))}

    assert broken([[0, 0], [1, 1], [1, 2]]) == {"lacks evidence"}
    assert broken([*good.tolist(), [1, 0]]) == {"exceeds the capacity", "has too many labels"}
    assert broken([*good.tolist(), [0, 2]]) == {"may not be paired"}
    assert broken([[0, 0], [0, 1], [1, 0], [1, 1]]) == {"exceeds the capacity", "must be in the plan"}
    assert "is in the plan twice" in broken([*good.tolist(), [0, 0]])
