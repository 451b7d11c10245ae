"""A label that comes when its lease is over is evidence: the policy hears of it, and it counts in the answers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import crowdopt
from tests.live.people import People, gold_table, small
from tests.live.scripts import LEASE, Clock


@pytest.mark.parametrize("policy", ["greedy", "sequential:bootstrap=0", "adaptive:gold=2"])
def test_a_late_label_is_heard(policy):
    """A task of which nothing was known has the answer that came late, and it is the policy that says so."""
    clock, (instance, stream) = Clock(), small()
    gold = None if policy == "greedy" else gold_table(2)
    live, people = crowdopt.live(instance, policy=policy, lease=LEASE, clock=clock, gold=gold), People(stream)
    late = Counter()
    for name in map(str, range(12)):
        for _ in range(6):
            if (lease := live.ask(name)) is None:
                break
            clock.now += 2 * LEASE * (name in "2468")
            told = live.tell(lease, people.say(lease))
            late[lease.task] += told.late and not lease.task.startswith("gold")
    clock.now += 2 * LEASE
    live.ask("19")  # what was meant for others is free again, so that the policy has been told of all labels
    rows = [row for row in live.labels() if not row.gold]
    given = Counter(row.task for row in rows)
    assert late.total() >= 1 and late.total() == sum(row.late for row in rows)
    assert {row.task: row.labels for row in live.answers() if row.labels} == dict(given)
    with live.together() as turn:
        heard = turn.state.course.policy
    if policy == "greedy":
        worth = heard._worth(heard.skills())
        covered = np.zeros(instance.n_tasks)
        for _, task, place, _ in turn.state.course.work:
            covered[task] += worth[instance.task_type[task], turn.state.course.seat_of[str(place)].number]
        assert np.allclose(heard.covered, covered)
    else:
        assert len(rows) == (heard.beliefs.labels if policy.startswith("seq") else heard.task.size)


def test_the_last_label_may_be_late():
    """Alone it makes the answer."""
    clock, (instance, _) = Clock(), small()
    live = crowdopt.live(instance, policy="greedy", lease=LEASE, clock=clock)
    lease = live.ask("0")
    clock.now += 2 * LEASE
    assert live.tell(lease, "1").late
    answer = next(row for row in live.answers() if row.task == lease.task)
    assert (answer.answer, answer.labels) == ("1", 1)
