"""A label that is taken back counts as the one that takes its place, whatever the policy had learned by then."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.api.live import LiveTables
from tests.live.people import campaign, gold_table, small

OTHER = {"0": "1", "1": "0"}


def played(policy: str, slips: int, rounds: int = 12):
    """Workers in turn, each label of whom is right at once, or every so many first another one."""
    live, people, stream = campaign(policy)
    count = 0
    for _ in range(rounds):
        for worker in map(str, range(stream.instance.n_workers)):
            if (lease := live.ask(worker)) is None:
                continue
            label = people.say(lease)
            count += 1
            if slips and count % slips == 0:
                live.tell(lease, OTHER[label])
                assert live.correct(lease, label).label == label
            else:
                live.tell(lease, label)
    return live


@pytest.mark.parametrize(
    "policy", ["greedy", "adaptive:gold=2:block=3", "least-covered", "kos:labels=200", "re-solve:gold=2"]
)
def test_a_slip_that_is_taken_back_at_once_leaves_no_trace(policy):
    """The same labels, decisions and answers as without it, gold and the last label of a decision included."""
    slipped, clean = played(policy, 3), played(policy, 0)
    assert [row[:3] for row in slipped.labels()] == [row[:3] for row in clean.labels()]
    assert [row[:2] for row in slipped.answers()] == [row[:2] for row in clean.answers()]
    claims = [[row.claim or 0.0 for row in live.answers()] for live in (slipped, clean)]
    np.testing.assert_allclose(*claims, atol=1e-9)
    events = [[(e.worker, e.task) for e in live.events() if e.kind == "leased"] for live in (slipped, clean)]
    assert events[0] == events[1]


def test_beliefs_follow_what_a_label_is_now():
    """Agreement settles a worker's messages once more, so paths may part; votes are those of the labels that stand."""
    live = played("sequential:bootstrap=2:gold=2:most-gold=2", 3)
    with live.together() as turn:
        beliefs = turn.state.course.policy.beliefs
        task, worker, label = beliefs.table()
        places = {seat.worker: seat.number for seat in turn.state.course.seats}
    stand = {(places[row.worker], row.task): row.label for row in live.labels() if not row.gold}
    assert {
        (j, str(i)): str(c) for i, j, c in zip(task.tolist(), worker.tolist(), label.tolist(), strict=True)
    } == stand
    right = sum(row.label == "0" for row in live.labels() if row.gold)  # gold is class 0
    assert int(beliefs.right.sum()) == right > 0


@pytest.mark.parametrize("policy", ["sequential:bootstrap=2:gold=2:most-gold=2", "greedy"])
def test_a_process_that_starts_again_knows_what_was_taken_back(policy):
    """From the history and from a snapshot alike, byte for byte."""
    live = played(policy, 3)
    with live.together() as turn:
        whole = turn.state.snapshot()
    tables = LiveTables.of(small()[0], gold_table(2))
    again = tables.state(live.settings)
    for event in live.events():
        again.apply(event)
    assert again.snapshot() == whole
    other = tables.state(live.settings)
    other.restore(whole)
    assert other.snapshot() == whole


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
