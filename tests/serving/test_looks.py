"""An expert looks at answers: what is drawn and what is unsure, what it costs, and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.serving.stores import MEMORY, SQLiteStore
from tests.serving.people import People, campaign, gold_table, in_turn, looked, small
from tests.serving.scripts import begun

EPSILON = 0.2
POLICIES = ("sequential:bootstrap=2:gold=2:most-gold=2", "adaptive:gold=2:block=3", "greedy", "kos:labels=200")


def few(live, people: People, workers: int) -> None:
    """So many workers come, and again while the end is mended, but no others: tasks are left unsure."""
    for last in (False, True):
        asked = True
        while asked:
            asked = False
            for name in map(str, range(workers)):
                while (lease := live.ask(name)) is not None:
                    live.tell(lease, people.say(lease))
                    asked = last
        live.shut_doors()


@pytest.mark.parametrize("policy", POLICIES[:2])
def test_what_is_drawn_is_what_compare_has_looked_at(policy):
    """The same answers at the same price; what is looked at later is what is unsure."""
    live, people, stream = campaign(policy)
    run = replay(named(policy), stream, 0, crowdopt.solve_program)
    in_turn(live, people)
    assert live.look() is not None
    drawn = [int(row.task) for row in live.looks()]
    other = replay(named(f"{policy}:checks=0"), stream, 0, crowdopt.solve_program)
    assert len(drawn) == run.labels["check"] > 0 and other.total_labels + len(drawn) == run.total_labels
    looked(live, stream.truth, len(drawn))
    assert len(live.labels()) + len(drawn) == run.total_labels and (run.claims[drawn] == 0).all()
    assert live.progress()["paid"] == pytest.approx(sum(run.cost.values()))


@pytest.mark.parametrize("policy", POLICIES)
def test_the_expert_tells_the_answer(policy):
    """Of what was looked at the answer is the expert's and claimed to be right; at the end the target is met."""
    live, people, stream = campaign(policy)
    few(live, people, 6)
    before = live.progress()
    tasks = looked(live, stream.truth)
    rows = {row.task: row for row in live.answers()}
    assert len(set(tasks)) == len(tasks) == live.progress()["looks"]
    for task in tasks:
        assert rows[task].looked and rows[task].answer == str(stream.truth[int(task)]) and not rows[task].claim
    after = live.progress()
    assert after["labels"] == before["labels"]
    assert after["paid"] == pytest.approx(before["paid"] + sum(row.paid for row in live.looks()))
    if policy == "greedy":  # each task is to be sure; the others promise a mean, or claim nothing
        assert after["unsure"] == 0 and len(tasks) == before["unsure"] > 0
    if after["claimed_error"] is not None:
        assert after["claimed_error"] <= EPSILON and tasks
    else:
        assert not tasks


@pytest.mark.parametrize("policy", POLICIES[1:3])
def test_a_history_with_looks_leads_to_the_same_state(policy):
    """Started again in the middle of it and at its end, with an answer that was changed and a task given back."""
    ends = []
    for restarts in (False, True):
        (instance, stream), store = small(), SQLiteStore(MEMORY)
        live, people = begun(instance, policy, store, gold_table(2)), People(stream)
        few(live, people, 6)
        live.skip(live.look())
        lease = live.look()
        live.tell(lease, 1 - int(stream.truth[int(lease.task)]))
        if restarts:
            live = begun(instance, policy, store, gold_table(2))
        live.correct(lease, int(stream.truth[int(lease.task)]))
        looked(live, stream.truth, 5)
        live.retarget(0.05)
        in_turn(live, people)
        if restarts:
            live = begun(instance, policy, store, gold_table(2))
        ends.append((live.events(), live.answers(), live.progress(), live.looks()))
    assert ends[0] == ends[1]


def test_a_correction_of_the_expert_is_as_if_it_had_been_said_at_once():
    """Answers and claims do not remember the slip."""
    rows = []
    for slips in (False, True):
        live, people, stream = campaign(POLICIES[1])
        in_turn(live, people)
        lease = live.look()
        right = int(stream.truth[int(lease.task)])
        if slips:
            live.tell(lease, 1 - right)
            live.correct(lease, right)
        else:
            live.tell(lease, right)
        rows.append(live.answers())
    assert [row[:2] for row in rows[0]] == [row[:2] for row in rows[1]]
    np.testing.assert_allclose(*[[row.claim for row in one] for one in rows], atol=1e-12)


def test_looks_wait_for_labels_and_stop_at_the_money():
    """Nothing is drawn while workers are expected; a budget that is used up buys no look, and the price is reserved."""
    live, people, stream = campaign("greedy", money=100.0)
    lease = live.ask("0")
    live.shut_doors()
    assert live.look() is None
    live.tell(lease, people.say(lease))
    few(live, people, 2)
    first, before = live.look(), live.progress()
    assert first is not None and before["reserved"] > before["paid"]
    live.tell(first, int(stream.truth[int(first.task)]))
    looked(live, stream.truth)
    progress = live.progress()
    assert progress["paid"] <= 100 and progress["unsure"] > 0


def test_what_an_expert_does_not_do_is_a_sentence():
    """Labels of a task that was judged stay; a task given back is gone; no expert looks where tasks arrive."""
    live, people, _ = campaign("greedy")
    few(live, people, 6)
    lease = live.look()
    live.skip(lease)
    with pytest.raises(crowdopt.InputError, match="given that task back"):
        live.tell(lease, "0")
    other = live.look()
    assert other.task != lease.task
    live.tell(other, "0")
    assert live.tell(other, "1").repeated
    row = next(one for one in live.labels() if one.task == other.task)
    leased = next(event for event in live.events() if (event.worker, event.task) == (row.worker, row.task))
    with pytest.raises(crowdopt.InputError, match="has looked at this task"):
        live.correct(leased.lease or leased.number, "10"[int(row.label)])
    arriving, _, _ = campaign("ls-ol", horizon=50)
    with pytest.raises(crowdopt.InputError, match="no expert looks"):
        arriving.look()
