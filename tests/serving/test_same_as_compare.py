"""Where one worker answers at a time, a campaign that runs is what ``compare`` replays: the same pairs and labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.labelers.arrivals import LabelTable, TaskStream, recorded_tasks
from crowdopt.labelers.asking import LabelerReplay
from crowdopt.labelers.policies import named as asking_named
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from tests.online.streams import EVERY
from tests.serving.people import campaign, in_turn

OF_A_STREAM = ("main-algorithm", "sampled-lp", "primal-approximation")  # they need what no campaign has beforehand
ONLINE = [text for text in EVERY if not text.startswith(OF_A_STREAM)]
LAST = {text.partition(":")[0]: text for text in ONLINE}.values()  # the other options of a policy are slow


@pytest.mark.parametrize("policy", [*LAST, *(pytest.param(x, marks=pytest.mark.slow) for x in ONLINE if x not in LAST)])
def test_one_at_a_time_is_what_compare_replays(policy):
    """The policies are behind it unchanged: same gold, same pairs, same labels, same repairs, same cost.

    No expert has come; a replay whose truth is unknown has none either (test_looks has what they look at).
    """
    live, people, stream = campaign(f"{policy}:within" if policy.startswith("kos") else policy)
    blind = replace(stream, truth=np.full_like(stream.truth, -1))
    run = replay(named(live.settings.policy), blind, 0, crowdopt.solve_program)
    in_turn(live, people)
    with live.together() as turn:
        ours = turn.state.course.run()
    assert ours.labels == run.labels and ours.cost == run.cost and ours.refused == run.refused
    for name in ("task", "worker", "label"):
        assert np.array_equal(getattr(ours, name), getattr(run, name)), name


ASKING = ["ls-ol:g1=3", "ls-ol-context:g1=3", "ls-ol-vetting:g1=3", "em-then-exploit:testers=30", "random-set"]


def recorded(kinds: int, horizon: int = 80) -> TaskStream:
    """A full table of labels by five workers: their votes are never tied."""
    rng = np.random.default_rng(0)
    truth, skill = rng.integers(0, 2, horizon + 1), np.array([0.9, 0.8, 0.7, 0.6, 0.75])
    label = np.where(rng.random((truth.size, 5)) < skill, truth[:, None], 1 - truth[:, None])
    return recorded_tasks(
        LabelTable(label, truth, np.arange(truth.size) % kinds, np.ones(5), 2, tuple("abcde")), horizon, (0,)
    )


@pytest.mark.parametrize("policy", ASKING)
def test_tasks_one_at_a_time_are_what_learn_replays(policy):
    """Of a table of given labels, which holds one of each pair: the same sets are asked, the same answers follow."""
    stream = recorded(kinds=2 if "context" in policy else 1)
    record = LabelerReplay(asking_named(policy), stream, 0).finish()
    people = stream.labelers
    instance = crowdopt.AssignmentInstance(
        accuracy=np.full((people.kinds, people.count), 0.7),
        task_type=np.arange(people.kinds),
        capacity=np.full(people.count, stream.horizon + 1),
        epsilon=0.1,
        types=[str(k) for k in range(people.kinds)],
    )
    live = crowdopt.live(instance, policy=policy, horizon=stream.horizon)
    first = 0 if asking_named(policy).begins else 1
    for t in range(first, stream.horizon + 1):
        leases = live.arrive(f"t{t}", str(int(stream.context[t])))
        assert sorted(int(lease.worker) for lease in leases) == sorted(record.sets[record.place[t]].workers.tolist())
        for lease in leases:
            live.tell(lease, int(stream.label[t, int(lease.worker)]))
    assert [int(row.answer) for row in live.answers()] == record.answer[first:].tolist()
