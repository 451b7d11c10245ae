"""Labels that come late, from elsewhere, or are taken back count once, as what they are now; and an expert's looks."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.online.policies import named
from crowdopt.online.replay import replay
from crowdopt.serving.stores import MEMORY, SQLiteStore
from crowdopt.verbs.live import check_history
from tests.io import write_table
from tests.serving.scripts import LEASE, Clock, People, begun, campaign, few, gold_table, in_turn, looked, played, small


@pytest.mark.parametrize(
    "policy", ["greedy", "adaptive:gold=2:block=3", "least-covered", "kos:labels=200", "re-solve:gold=2"]
)
def test_a_slip_that_is_taken_back_at_once_leaves_no_trace(policy):
    """The same labels, decisions and answers as without it, gold and the last label of a decision included."""
    calls = [(verb, who, 0.1) for _ in range(8) for who in range(20) for verb in ("ask", "tell")]
    clean, slipped = (
        played(policy, [(slip if k % 6 == 5 else verb, *more) for k, (verb, *more) in enumerate(calls)])
        for slip in ("tell", "slip")
    )
    assert sum(event.kind == "corrected" for event in slipped.events()) > 20
    assert [row[:3] for row in slipped.labels()] == [row[:3] for row in clean.labels()]
    assert [row[:2] for row in slipped.answers()] == [row[:2] for row in clean.answers()]
    np.testing.assert_allclose(*[[row.claim or 0.0 for row in live.answers()] for live in (slipped, clean)], atol=1e-9)
    events = [[(e.worker, e.task) for e in live.events() if e.kind == "leased"] for live in (slipped, clean)]
    assert events[0] == events[1]


def test_what_cannot_be_taken_back_is_a_sentence():
    """A lease without a label, a label that is no class, and a policy that does not unlearn."""
    live, _, _ = campaign("entropy")
    lease = live.ask("3")
    with pytest.raises(crowdopt.InputError, match="has no label yet"):
        live.correct(lease, "0")
    live.tell(lease, "0")
    assert live.correct(lease, "0").repeated
    for label, why in (("cat", "no label of this campaign"), ("1", "takes no label back")):
        with pytest.raises(crowdopt.InputError, match=why):
            live.correct(lease, label)
    assert [row.label for row in live.labels()] == ["0"]


def test_a_task_whose_labels_were_all_in_is_voted_on_anew():
    """Where tasks arrive."""
    live, _, _ = campaign("ls-ol", horizon=50)
    leases = live.arrive("first", "0")
    for label, say in (("0", live.tell), ("1", live.correct)):
        for lease in leases:
            say(lease, label)
        assert live.answers()[0].answer == label and {row.label for row in live.labels()} == {label}


@pytest.mark.parametrize("policy", ["greedy", "sequential:bootstrap=0", "adaptive:gold=2"])
def test_a_late_label_is_heard(policy):
    """It is evidence: alone it makes the answer, and the policy claims something of it."""
    clock, (instance, stream) = Clock(), small()
    gold = None if policy == "greedy" else gold_table(2)
    live, people = crowdopt.live(instance, policy=policy, lease=LEASE, clock=clock, gold=gold), People(stream)
    while (lease := live.ask("0")).task.startswith("gold"):
        live.tell(lease, people.say(lease))
    clock.now += 2 * LEASE
    assert live.tell(lease, "1").late
    live.ask("19")  # what was meant for others is free again, so that the policy has been told of all labels
    (row,) = (row for row in live.answers() if row.labels)
    assert (row.task, row.answer, row.labels) == (lease.task, "1", 1) and row.claim < 0.49
    assert [row.late for row in live.labels() if not row.gold] == [True]


def test_a_label_that_was_given_elsewhere_counts_once(tmp_path):
    """Asked for or not, told twice or changed: the pair is one label; what makes no sense is refused."""
    crowdopt.init(tmp_path / "birds", classes=["yes", "no"])
    store = tmp_path / "campaign.db"
    live = crowdopt.live(tmp_path / "birds", policy="greedy", store=store, newcomers=5)
    lease, other = live.ask("ada"), live.answers()[3].task
    for task, label in (("no such task", "yes"), (other, "perhaps")):
        with pytest.raises(crowdopt.InputError, match="there is no task|'perhaps' is no label"):
            live.bring("ada", task, label)
    assert live.bring("ada", lease.task, "yes") and live.bring("ada", lease.task, "yes")
    assert live.bring("new", other, "yes") and live.bring("new", other, "no")
    assert [tuple(row[:3]) for row in live.labels()] == [("ada", lease.task, "yes"), ("new", other, "no")]
    assert live.ask("ada") != lease
    assert check_history(tmp_path / "birds", store).labels == 2
    write_table(tmp_path / "birds" / "gold_tasks.csv", "task,label,type", "g1,yes,plant", "g2,no,bird")
    live = crowdopt.live(tmp_path / "birds", policy="sampled-lp:gold=1:gamma=.1", newcomers=5)
    assert not live.bring("ada", other, "yes") and live.labels() == [], "others are tested before ada is met"


EPSILON = 0.2
POLICIES = ("sequential:bootstrap=2:gold=2:most-gold=2", "adaptive:gold=2:block=3", "greedy", "kos:labels=200")


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
    assert bool(tasks) == (after["claimed_error"] is not None) and (after["claimed_error"] or 0.0) <= EPSILON


@pytest.mark.parametrize("policy", POLICIES[1:3])
def test_neither_a_slip_nor_a_restart_of_looks_leaves_a_trace(policy):
    """Started again in the middle and at the end: the same history. A slip: the same answers and claims after it."""
    ends = []
    for slips, restarts in ((False, False), (True, False), (True, True)):
        (instance, stream), store = small(), SQLiteStore(MEMORY)
        live, people = begun(instance, policy, store, gold_table(2)), People(stream)
        few(live, people, 6)
        live.skip(live.look())
        lease = live.look()
        right = int(stream.truth[int(lease.task)])
        if slips:
            live.tell(lease, 1 - right)
        if restarts:
            live = begun(instance, policy, store, gold_table(2))
        (live.correct if slips else live.tell)(lease, right)
        looked(live, stream.truth, 5)
        live.retarget(0.05)
        in_turn(live, people)
        if restarts:
            live = begun(instance, policy, store, gold_table(2))
        ends.append((live.answers(), live.looks(), live.progress(), live.events()))
    clean, slipped, again = ends
    assert slipped == again and slipped[1] == clean[1]
    assert [row[:2] for row in slipped[0]] == [row[:2] for row in clean[0]]
    np.testing.assert_allclose(*[[row.claim for row in answers] for answers, *_ in (slipped, clean)], atol=1e-12)


def test_looks_wait_for_labels_and_stop_at_the_money():
    """Nothing is drawn while workers are expected; a budget that is used up buys no look, and the price is reserved."""
    live, people, stream = campaign("greedy", money=100.0)
    lease = live.ask("0")
    live.shut_doors()
    assert live.look() is None
    live.tell(lease, people.say(lease))
    few(live, people, 2)
    assert live.look() is not None and live.progress()["reserved"] > live.progress()["paid"]
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
