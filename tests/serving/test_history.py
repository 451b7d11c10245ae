"""The state follows from the history: started again it decides the same, which is what ``compare`` replays."""

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
from crowdopt.serving.stores import MEMORY, SQLiteStore
from crowdopt.verbs.live import check_history, export_history, held_against
from tests.online.streams import EVERY
from tests.sampled import first_of
from tests.serving.scripts import People, begun, campaign, gold_table, in_turn, looked, played, script, small

POLICIES = ["sequential:bootstrap=3:gold=3:most-gold=4", "adaptive:gold=3:block=3"]
MORE = ["sequential", "sequential:stop=each:block=4:bootstrap=2:gold=3", "greedy", "entropy", "re-solve"]
MORE += ["multiplicative-weights", "kos:labels=100:within", "budget:gold=3:each=3", "main-algorithm:gold=3"]


@pytest.mark.parametrize("policy", first_of([*POLICIES, *MORE], len(POLICIES)))
def test_started_again_at_any_event_it_decides_the_same(policy):
    """All decisions are made anew from the events."""
    calls = script(100, seed=1, changes=policy in POLICIES)
    whole = played(policy, calls)
    again = played(policy, calls, every=9)
    assert again.events() == whole.events()
    assert again.labels() == whole.labels() and again.answers() == whole.answers()
    kinds = {event.kind for event in whole.events()}
    assert policy in MORE or kinds >= {"told", "skipped", "expired", "corrected", "retargeted"}


@pytest.mark.parametrize("policy", ["ls-ol:g1=2", "ls-ol-vetting:g1=2:threshold=.9", "em-then-exploit:testers=20"])
def test_tasks_that_arrive_survive_a_restart(policy):
    """Labels of several tasks are out at once, and told in another order than that of the tasks."""
    instance, stream = small(workers=13)
    histories = []
    for every in (10**9, 9):
        store, waiting = SQLiteStore(MEMORY), []
        for k in range(40):
            if k % every == 0:
                live = begun(instance, policy, store)
            waiting += live.arrive(f"task {k}", str(k % 2))
            while len(waiting) > 12:
                lease = waiting.pop((7 * k) % len(waiting))
                live.tell(lease, stream.crowd.label(int(lease.worker), [k % 24])[0])
        histories.append((live.events(), live.answers()))
    assert histories[0] == histories[1]


def test_another_decision_in_the_history_is_noticed():
    """A table that was changed behind the store's back, or a store that was: no decision rests on it."""
    live, people, _ = campaign("greedy")
    in_turn(live, people, 4)
    first = min(event.number for event in live.events() if event.kind == "decided")
    live.store._run("UPDATE event SET value = ? WHERE number = ?", ('["work",1]', first))
    live._state = None
    with pytest.raises(crowdopt.InputError, match="follows from the history"):
        live.ask("5")


def test_another_history_is_refused(tmp_path):
    """It belongs to a policy, a seed and a campaign; a store that is not there has none."""
    instance, place = small()[0], tmp_path / "x.db"
    crowdopt.live(instance, policy="greedy", store=place)
    for other, policy, why in ((instance, "random", "began with policy 'greedy'"), (small(1)[0], "greedy", "another")):
        with pytest.raises(crowdopt.InputError, match=why):
            crowdopt.live(other, policy=policy, store=place)
    for other, store, why in ((small(1)[0], place, "another"), (instance, tmp_path / "no.db", "there is no store")):
        with pytest.raises(crowdopt.InputError, match=why):
            check_history(other, store)
    assert crowdopt.live(instance, policy="greedy", store=place).ask("0") is not None


def test_a_history_is_checked_held_against_others_and_exported(tmp_path):
    """The counts are the campaign's own; the same policy finds every label that it asks for, another misses some.

    The export is a campaign with its labels in: gold is no part of it; capacities are what workers have left.
    """
    (instance, stream), store, gold = small(), tmp_path / "campaign.db", gold_table(2)
    live = crowdopt.live(instance, policy="adaptive:gold=3", store=store, gold=gold)
    in_turn(live, People(stream))
    looked(live, stream.truth)
    found = check_history(instance, store, gold)
    assert found.labels == len(live.labels()) and found.paid == live.progress()["paid"]
    assert found.decisions == sum(event.kind == "decided" for event in live.events()) > 20
    same = held_against(instance, store, "adaptive:gold=3", gold)
    assert same.missing == 0 and same.labels <= len(live.labels()) and same.answers > 0
    other = held_against(instance, store, "least-covered", gold)
    assert other.missing > 0 and other.same_answers <= other.answers
    export_history(instance, store, tmp_path / "out", gold=gold)
    left = crowdopt.read_campaign(tmp_path / "out" / "campaign")
    work = [row for row in live.labels() if not row.gold]
    assert len(left.collected) == len(work) and (left.capacity <= instance.capacity).all()
    assert left.capacity.sum() == instance.capacity.sum() - len(work)
    labels, looks = ((tmp_path / "out" / f"{name}.csv").read_text("utf-8").splitlines() for name in ("labels", "looks"))
    assert labels == ["task,worker,label", *(f"{row.task},{row.worker},{row.label}" for row in work)]
    assert looks == ["task,label", *(f"{row.task},{row.label}" for row in live.looks())] and len(looks) > 1


OF_A_STREAM = ("main-algorithm", "sampled-lp", "primal-approximation")  # they need what no campaign has beforehand
ONLINE = [text for text in EVERY if not text.startswith(OF_A_STREAM)]
LAST = {text.partition(":")[0]: text for text in ONLINE}.values()  # the other options of a policy are slow


@pytest.mark.parametrize("policy", first_of([*LAST, *(text for text in ONLINE if text not in LAST)], len(LAST)))
def test_one_at_a_time_is_what_compare_replays(policy):
    """The policies are behind it unchanged: same gold, same pairs, same labels, same repairs, same cost.

    No expert has come; a replay whose truth is unknown has none either (test_labels has what they look at).
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
    table = LabelTable(label, truth, np.arange(truth.size) % kinds, np.ones(5), 2, tuple("abcde"))
    return recorded_tasks(table, horizon, (0,))


@pytest.mark.parametrize("policy", ASKING)
def test_tasks_one_at_a_time_are_what_learn_replays(policy):
    """Of a table of given labels, which holds one of each pair: the same sets are asked, the same answers follow."""
    stream = recorded(kinds=2 if "context" in policy else 1)
    record = LabelerReplay(asking_named(policy), stream, 0).finish()
    kinds, room = stream.labelers.kinds, np.full(stream.labelers.count, stream.horizon + 1)
    skill, names = np.full((kinds, room.size), 0.7), [str(k) for k in range(kinds)]
    instance = crowdopt.AssignmentInstance(skill, np.arange(kinds), room, 0.1, types=names)
    live = crowdopt.live(instance, policy=policy, horizon=stream.horizon)
    first = 0 if asking_named(policy).begins else 1
    for t in range(first, stream.horizon + 1):
        leases = live.arrive(f"t{t}", str(int(stream.context[t])))
        assert sorted(int(lease.worker) for lease in leases) == sorted(record.sets[record.place[t]].workers.tolist())
        for lease in leases:
            live.tell(lease, int(stream.label[t, int(lease.worker)]))
    assert [int(row.answer) for row in live.answers()] == record.answer[first:].tolist()
