"""The state follows from the history: started again at any event, a campaign decides what it would have decided."""

from __future__ import annotations

import pytest

import crowdopt
from crowdopt.serving.stores import MEMORY, SQLiteStore
from tests.serving.people import campaign, gold_table, small
from tests.serving.scripts import begun, played, script

POLICIES = ["sequential:bootstrap=3:gold=3:most-gold=4", "adaptive:gold=3:block=3"]
MORE = ["sequential", "sequential:stop=each:block=4:bootstrap=2:gold=3", "greedy", "entropy", "re-solve"]
MORE += ["multiplicative-weights", "kos:labels=100:within", "budget:gold=3:each=3", "main-algorithm:gold=3"]


@pytest.mark.parametrize("policy", [*POLICIES, *(pytest.param(text, marks=pytest.mark.slow) for text in MORE)])
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
    for name in "0123":
        lease = live.ask(name)
        live.tell(lease, people.say(lease))
    first = min(event.number for event in live.events() if event.kind == "decided")
    live.store._run("UPDATE event SET value = ? WHERE number = ?", ('["work",1]', first))
    live._state = None
    with pytest.raises(crowdopt.InputError, match="follows from the history"):
        live.ask("5")


def test_other_settings_are_refused(tmp_path):
    """The history belongs to a policy, a seed and a campaign."""
    instance, _ = small()
    crowdopt.live(instance, policy="greedy", store=tmp_path / "x.db")
    with pytest.raises(crowdopt.InputError, match="began with policy 'greedy'"):
        crowdopt.live(instance, policy="random", store=tmp_path / "x.db")
    with pytest.raises(crowdopt.InputError, match="another campaign"):
        crowdopt.live(small(1)[0], policy="greedy", store=tmp_path / "x.db")
    assert crowdopt.live(instance, policy="greedy", store=tmp_path / "x.db").ask("0") is not None


def test_gold_is_no_part_of_the_answers():
    """Gold tasks are the worker's exam: they are paid, and no answer rests on them."""
    live, people, _ = campaign("adaptive:gold=3")
    lease = live.ask("0")
    live.tell(lease, people.say(lease))
    assert live.labels()[0].gold and live.progress()["gold"] == 1
    assert not any(row.labels for row in live.answers())
    assert set(gold_table(2)["task"]).isdisjoint(row.task for row in live.answers())
