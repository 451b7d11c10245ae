"""Labels that come late, from elsewhere, or are taken back: each counts once, as what it is now."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.verbs.live import check_history
from tests.io import write_table
from tests.serving.people import People, campaign, gold_table, small
from tests.serving.scripts import LEASE, Clock, played


@pytest.mark.parametrize(
    "policy", ["greedy", "adaptive:gold=2:block=3", "least-covered", "kos:labels=200", "re-solve:gold=2"]
)
def test_a_slip_that_is_taken_back_at_once_leaves_no_trace(policy):
    """The same labels, decisions and answers as without it, gold and the last label of a decision included."""
    calls = [(verb, who, 0.1) for _ in range(12) for who in range(20) for verb in ("ask", "tell")]
    clean, slipped = (
        played(policy, [(slip if k % 6 == 5 else verb, *more) for k, (verb, *more) in enumerate(calls)])
        for slip in ("tell", "slip")
    )
    assert sum(event.kind == "corrected" for event in slipped.events()) > 20
    assert [row[:3] for row in slipped.labels()] == [row[:3] for row in clean.labels()]
    assert [row[:2] for row in slipped.answers()] == [row[:2] for row in clean.answers()]
    claims = [[row.claim or 0.0 for row in live.answers()] for live in (slipped, clean)]
    np.testing.assert_allclose(*claims, atol=1e-9)
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
    with pytest.raises(crowdopt.InputError, match="no label of this campaign"):
        live.correct(lease, "cat")
    with pytest.raises(crowdopt.InputError, match="takes no label back"):
        live.correct(lease, "1")
    assert [row.label for row in live.labels()] == ["0"]


def test_a_task_whose_labels_were_all_in_is_voted_on_anew():
    """Where tasks arrive."""
    live, _, _ = campaign("ls-ol", horizon=50)
    leases = live.arrive("first", "0")
    for lease in leases:
        live.tell(lease, "0")
    assert live.answers()[0].answer == "0"
    for lease in leases:
        live.correct(lease, "1")
    assert live.answers()[0].answer == "1" and {row.label for row in live.labels()} == {"1"}


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
