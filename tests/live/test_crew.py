"""While those at work are expected to bring all that is missing, a worker who never came waits and costs nothing."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt


def campaign(policy: str, crew: int):
    """Workers each of whom can label all tasks several times over what these need."""
    instance = crowdopt.AssignmentInstance(
        accuracy=np.full((1, 30), 0.9), task_type=np.zeros(10, np.int64), capacity=[10] * 30, epsilon=0.2
    )
    gold = {"task": [f"g{k}" for k in range(40)], "label": ["0"] * 40}
    return crowdopt.live(instance, policy=policy, crew=crew, gold=None if policy == "greedy" else gold)


@pytest.mark.parametrize("policy", ["greedy", "sequential"])
def test_those_who_come_wait_while_others_suffice(policy):
    """They are not met, hold nothing, are not over, and are asked as soon as the others have gone."""
    live = campaign(policy, crew=1)
    leases = [live.ask(str(j)) for j in range(29)]
    waiting = [lease is None for lease in leases]
    assert not waiting[0] and waiting[-1] and waiting == sorted(waiting)
    with live.together() as turn:
        course = turn.state.course
        assert course.seat_of["28"].number < 0 and not course.is_over("28")
    for lease in leases:
        if lease is not None:
            live.remove(lease.worker)
    assert live.ask("28") is not None


@pytest.mark.parametrize("policy", ["adaptive:gold=2", "sequential"])
def test_a_crew_begins_at_once(policy):
    """So many are never made to wait."""
    live = campaign(policy, crew=8)
    assert all(live.ask(str(j)) is not None for j in range(8))
