"""Another target on the way: work begins again where it is stricter, and ends sooner where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.live import running
from crowdopt.online.policies import sequential
from tests.live.people import People, campaign, gold_table, in_turn, small

POLICIES = ("greedy", "least-covered", "sequential:bootstrap=2:gold=2:most-gold=2", "adaptive:gold=2:block=3")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_stricter_target_brings_more_labels(policy):
    """Workers who were done are asked again, no pair twice, and what is claimed is held against the new target."""
    live, people, _ = campaign(policy)
    before = in_turn(live, people)
    live.retarget(0.02)
    assert in_turn(live, people) > 0
    pairs = [(row.worker, row.task) for row in live.labels()]
    assert len(set(pairs)) == len(pairs) > before


@pytest.mark.parametrize("policy", POLICIES)
def test_a_looser_target_from_the_beginning_is_the_target(policy):
    """Given before anybody came it leads to the labels of a campaign that began with it."""
    live, people, stream = campaign(policy)
    live.retarget(0.3)
    in_turn(live, people)
    loose = replace(small()[0], epsilon=np.full(stream.instance.n_tasks, 0.3))
    other = crowdopt.live(loose, policy=policy, gold=gold_table(2))
    in_turn(other, People(stream))
    assert [row[:3] for row in live.labels()] == [row[:3] for row in other.labels()]
    assert live.answers() == other.answers()


def test_a_target_survives_a_restart_from_a_snapshot(monkeypatch, tmp_path):
    """The state that is restored has the target of the history, and decides as the one that was never stopped."""
    monkeypatch.setattr(running, "SNAPSHOT", 7)
    instance, stream = small()
    lives = [
        crowdopt.live(instance, policy=POLICIES[3], gold=gold_table(2), store=tmp_path / f"{k}.db") for k in range(2)
    ]
    peoples = [People(stream) for _ in lives]
    for k in range(60):
        for number, (live, people) in enumerate(zip(lives, peoples, strict=True)):
            if k == 20:
                live.retarget(0.03)
            if number and k >= 20:
                live._state = None  # forgotten: the next call restores the last snapshot
            if (lease := live.ask(str(k % 20))) is not None:
                live.tell(lease, people.say(lease))
    assert [row[:3] for row in lives[0].labels()] == [row[:3] for row in lives[1].labels()]


def test_a_target_that_is_none_is_a_sentence():
    """No chance, or a policy that knows one target; nothing has changed."""
    live, _, _ = campaign("greedy")
    for epsilon in (0.0, 0.9, -1.0, float("nan")):
        with pytest.raises(crowdopt.InputError):
            live.retarget(epsilon)
    with pytest.raises(crowdopt.InputError, match="has no target"):
        campaign("ls-ol", horizon=50)[0].retarget(0.1)
    assert len(live.events()) == 1


def test_workers_who_are_here_when_agreement_falls_are_served_on(monkeypatch):
    """Gold that contradicts agreement hands all over to the other policy, those in the middle of their work too."""
    monkeypatch.setattr(sequential, "disagreement", lambda beliefs: 1e9 if beliefs.labels > 30 else 0.0)
    live, people, stream = campaign("sequential:bootstrap=4:gold=3", crew=20)
    for _ in range(40):
        leases = [live.ask(str(j)) for j in range(stream.instance.n_workers)]
        for lease in leases:
            if lease is not None:
                live.tell(lease, people.say(lease))
    with live.together() as turn:
        assert turn.state.course.policy.fallen[0] >= 0
