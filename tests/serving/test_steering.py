"""What is set for a campaign on its way: another target, how many are to be at work, and what no policy can beat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt.crowd.alike import of_workers
from crowdopt.online.limits import least
from tests.serving.scripts import People, campaign, gold_table, in_turn, small

POLICIES = ("greedy", "least-covered", "sequential:bootstrap=2:gold=2:most-gold=2", "adaptive:gold=2:block=3")


@pytest.mark.parametrize("policy", POLICIES)
def test_another_target_is_the_target(policy):
    """Given before anybody came it leads to the labels of a campaign that began with it.

    A stricter one later asks workers who were done again, no pair twice.
    """
    live, people, stream = campaign(policy)
    live.retarget(0.3)
    before = in_turn(live, people)
    loose = replace(stream.instance, epsilon=np.full(stream.instance.n_tasks, 0.3))
    other = crowdopt.live(loose, policy=policy, gold=gold_table(2))
    in_turn(other, People(stream))
    assert [row[:3] for row in live.labels()] == [row[:3] for row in other.labels()]
    assert live.answers() == other.answers()
    live.retarget(0.02)
    assert in_turn(live, people) > 0
    pairs = [(row.worker, row.task) for row in live.labels()]
    assert len(set(pairs)) == len(pairs) > before


def test_what_cannot_be_promised_is_a_sentence():
    """No chance, or a policy that knows one target; nothing has changed. Beliefs look for hard tasks themselves."""
    live, _, _ = campaign("greedy")
    for epsilon in (0.0, 0.9, -1.0, float("nan")):
        with pytest.raises(crowdopt.InputError):
            live.retarget(epsilon)
    with pytest.raises(crowdopt.InputError, match="has no target"):
        campaign("ls-ol", horizon=50)[0].retarget(0.1)
    assert len(live.events()) == 1
    hard = replace(small()[0], rule="exact-error", difficulty=(0.1, 0.5))
    with pytest.raises(crowdopt.InputError, match="look for hard tasks themselves"):
        crowdopt.live(hard, policy="greedy")


def of_plenty(policy: str, crew: int):
    """Workers each of whom can label all tasks several times over what these need."""
    instance = crowdopt.AssignmentInstance([[0.9] * 30], [0] * 10, [10] * 30, 0.2)
    gold = {"task": [f"g{k}" for k in range(40)], "label": ["0"] * 40}
    return crowdopt.live(instance, policy=policy, crew=crew, gold=None if policy == "greedy" else gold)


@pytest.mark.parametrize(
    ("policy", "crew"), [("greedy", 1), ("sequential", 1), ("sequential", 8), ("adaptive:gold=2", 8)]
)
def test_those_who_come_wait_while_others_suffice(policy, crew):
    """A crew begins at once; who waits holds nothing, costs nothing, and is asked as soon as the others have gone."""
    live = of_plenty(policy, crew)
    leases = [live.ask(str(j)) for j in range(29)]
    waiting = [lease is None for lease in leases]
    assert not any(waiting[:crew]) and waiting == sorted(waiting)
    if crew == 1:
        assert waiting[-1]
        for lease in filter(None, leases):
            live.remove(lease.worker)
        assert live.ask("28") is not None


def test_told_skills_give_the_bound_of_those_who_came():
    """Of the workers who came, in their order of arrival; where nobody came, or tasks do, there is none."""
    skills = [[0.9, 0.8, 0.7, 0.9]]
    instance = crowdopt.AssignmentInstance(skills, [0] * 6, [6] * 4, 0.2, classes=3, rule="bhattacharyya")
    live = crowdopt.live(instance, policy="greedy")
    for one in (live, crowdopt.live(small()[0], policy="ls-ol")):
        with pytest.raises(crowdopt.InputError, match="bound on policies"):
            one.limits()
    for worker in "20":
        live.tell(live.ask(worker), "1")
    bound = least(of_workers(instance, np.array([2, 0])), crowdopt.solve_program)
    assert live.limits().cost == pytest.approx(bound.cost)
