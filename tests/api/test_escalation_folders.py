"""Escalations from tables: drawn, looked at, concluded, verified; tiers in a row; forgeries."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.io.answers.audit_draw import commitment
from crowdopt.io.tables.cells import write_csv
from tests.typed import column

N = 300


class Desk:
    """Answers with claims, the truth, and an expert who looks at whatever is listed: two tiers in a row."""

    def __init__(self, place):
        self.place, rng = place, np.random.default_rng(3)
        claims = np.minimum(0.5, rng.beta(0.3, 2.4, N))
        tasks = [f"t{i:03}" for i in range(N)]
        self.truth = dict(zip(tasks, np.where(rng.random(N) < claims, "b", "a").tolist(), strict=True))
        write_csv(place / "answers.csv", ["task", "label", "confidence"], [tasks, ["a"] * N, 1 - claims])
        crowdopt.audit(place / "answers.csv", place / "one", escalate="expert=20,next=15,tiers=2", target=0.2, seed=1)
        self.first = self.ended("answers.csv", "one")
        up = column(place / "one" / "up.csv")
        better = [self.truth[task] if i % 20 else "c" for i, task in enumerate(up)]
        write_csv(place / "better.csv", ["task", "label", "error"], [up, better, np.full(len(up), 0.05)])
        after = [place / "one"]
        crowdopt.audit(place / "better.csv", place / "two", escalate="expert=20", after=after, seed=2)
        self.second = self.ended("better.csv", "two")

    def looks(self, folder, *more):
        tasks = column(self.place / folder / "check.csv") + [task for file in more for task in column(file)]
        write_csv(self.place / "checked.csv", ["task", "label"], [tasks, [self.truth[task] for task in tasks]])
        return self.place / "checked.csv"

    def ended(self, answers, folder):
        """Look as listed until no look is expected to save money."""
        while True:
            told = {"checked": self.looks(folder), "escalate": True}
            done = crowdopt.audit(self.place / answers, self.place / folder, **told)
            if done.escalated.finished:
                return done

    def wrong_standing(self, folder):
        rows = zip(*(column(folder / "answers.csv", name) for name in ("task", "label", "how")), strict=True)
        return sum(label != self.truth[task] for task, label, how in rows if how != "up")


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """An escalation of two tiers that have ended."""
    return Desk(tmp_path_factory.mktemp("honest"))


@pytest.fixture
def forged(honest, tmp_path):
    """A copy of it, to forge."""
    shutil.copytree(honest.place, tmp_path, dirs_exist_ok=True)
    return tmp_path


def rewritten(path, **changes):
    """A document with other entries, and the commitment of what it says now where it has one."""
    said = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    if path.name == "escalation.json":
        said["commitment"] = commitment(said)
    path.write_text(json.dumps(said), encoding="utf-8")
    return said


def test_an_escalation_holds_and_is_verified(honest):
    """What stands, what goes up, at which cost; recomputed; and the truth, which it does not miss at this seed."""
    folder, done = honest.place / "one", honest.first
    made = done.escalated
    assert honest.wrong_standing(folder) <= made.left <= 30 < made.stand < N
    assert len(column(folder / "up.csv")) == done.up
    report = crowdopt.verify(honest.place / "answers.csv", folder, commitment=done.commitment)
    assert report.holds and report.sentence == made.sentence, report.problems


def test_labels_for_what_goes_up_are_counted_and_change_no_claim(honest, forged):
    """The expert answers all that went up: nothing is left to go up, cost and claim stay."""
    told = honest.looks("two", forged / "two" / "up.csv")
    after = crowdopt.audit(forged / "better.csv", forged / "two", checked=told, escalate=True)
    assert after.up == 0 and after.cost == honest.second.cost
    assert after.escalated.sentence == honest.second.escalated.sentence
    assert crowdopt.verify(forged / "better.csv", forged / "two", after=[forged / "one"]).holds


def test_tiers_share_what_may_be_wrong_and_the_chance(honest):
    """What the first leaves is the second's; both verify, and the second names the first as it is."""
    first, second, place = honest.first, honest.second, honest.place
    assert first.draw.terms.allowed == 30 and second.draw.terms.allowed == 60 - first.escalated.left
    assert [one.draw.terms.delta for one in (first, second)] == pytest.approx([0.025, 0.025])
    assert crowdopt.verify(place / "better.csv", place / "two", after=[place / "one"]).holds
    wrong = honest.wrong_standing(place / "one") + honest.wrong_standing(place / "two")
    assert wrong <= first.escalated.left + second.escalated.left <= 60
    with pytest.raises(InputError, match="last tier before the expert"):
        crowdopt.audit(place / "better.csv", place / "three", escalate="", after=[place / "two"])


@pytest.mark.parametrize(
    "changes",
    [
        {"groups": 25},
        {"groups": None},
        {"wrong_at_most": 0},
        {"cost": 1.0},
        {"planned": {"groups": 0, "stand": 0, "checks": 0, "up": 0, "cost": 0.0}},
        {"passed": 0},
        {"finished": False},
        {"onward": {}},
        {"certified": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_stands_is_what_the_looks_give(forged, changes):
    """A threshold that has not passed, fewer wrong answers, a lower cost, another plan, further and damaged entries."""
    assert rewritten(forged / "one" / "standing.json", **changes)
    try:
        assert not crowdopt.verify(forged / "answers.csv", forged / "one").holds
    except InputError:
        return


@pytest.mark.parametrize(
    "changes",
    [
        {"allowed": 60},
        {"delta": 0.5},
        {"target": 0.5, "allowed": 150},
        {"seed": 6},
        {"first": 3000, "allowed": 240},
        {"confidence": 0.5, "delta": 0.5},
    ],
)
def test_a_forged_draw_is_refused(forged, honest, changes):
    """Also where its commitment is made to fit: the claim no longer follows, or the commitment is not the one known."""
    rewritten(forged / "one" / "escalation.json", **changes)
    assert not crowdopt.verify(forged / "answers.csv", forged / "one").holds
    known = honest.first.commitment
    assert not crowdopt.verify(forged / "answers.csv", forged / "one", commitment=known).holds


def test_a_tier_cannot_spend_the_chance_of_the_one_below_again(forged):
    """Not unseen, not with the tier below shown as it is, and not with that one's own document changed to fit."""
    second = json.loads((forged / "two" / "escalation.json").read_text(encoding="utf-8"))
    below = [{**second["below"][0], "delta": 1e-9}]
    said = rewritten(forged / "two" / "escalation.json", below=below, delta=round(0.05 - 1e-9, 14))
    stands = json.loads((forged / "two" / "standing.json").read_text(encoding="utf-8"))
    more = {"commitment": said["commitment"], "delta": said["delta"]}
    more["sentence"] = stands["sentence"].replace("97.5 %", f"{100 * (1 - said['delta']):.10g} %")
    rewritten(forged / "two" / "standing.json", **more)
    with pytest.raises(InputError, match="goes on after a tier below"):
        crowdopt.verify(forged / "better.csv", forged / "two")
    assert not crowdopt.verify(forged / "better.csv", forged / "two", after=[forged / "one"]).holds
    path = forged / "one" / "escalation.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "delta": 1e-9}), encoding="utf-8")
    report = crowdopt.verify(forged / "better.csv", forged / "two", after=[forged / "one"])
    assert not report.holds and any("was changed after it was written" in one for one in report.problems)


def test_what_went_up_is_not_taken_back(forged):
    """A list that lets an answer stand that went up is refused, by itself and as the tier below another one."""
    up = column(forged / "one" / "up.csv")
    write_csv(forged / "one" / "up.csv", ["task"], [up[1:]])
    assert not crowdopt.verify(forged / "answers.csv", forged / "one").holds
    report = crowdopt.verify(forged / "better.csv", forged / "two", after=[forged / "one"])
    assert not report.holds and any("what went up" in one for one in report.problems)


def test_bad_input_is_a_sentence(forged, tmp_path):
    """What is wrong, and what to do."""
    answers, one = forged / "answers.csv", forged / "one"
    write_csv(forged / "bare.csv", ["task", "label"], [["a"], ["b"]])
    for table, folder, words, options in (
        (answers, "new", "unknown word", {"escalate": "price=3"}),
        (answers, "new", "at least 1", {"escalate": "tiers=0"}),
        (answers, "new", "between 0 and 1", {"escalate": True, "target": 1.5}),
        (answers, "new", "below the target", {"escalate": True, "target": 0.05, "expert_error": 0.05}),
        (answers, "new", "tier below", {"escalate": True, "after": [tmp_path / "none"]}),
        (answers, "one", "already exists", {"escalate": True}),
        (answers, "one", "second draw", {"escalate": True, "force": True}),
        (answers, "one", "is an escalation", {"checked": forged / "checked.csv"}),
        (answers, "one", "no other option", {"checked": forged / "checked.csv", "escalate": True, "target": 0.2}),
        (forged / "bare.csv", "new", "claims no error", {"escalate": True}),
    ):
        with pytest.raises(InputError, match=words):
            crowdopt.audit(table, one.parent / folder, **options)
        assert not (forged / "new").exists()
