"""Escalations from tables: drawn, looked at, concluded, verified; tiers in a row; forgeries."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

import crowdopt
from crowdopt.api.verify import verify_audit
from crowdopt.errors import InputError
from crowdopt.io.answers.audit_draw import commitment
from crowdopt.io.tables.cells import write_csv

N = 300


def column(path, name="task"):
    with path.open() as file:
        return [row[name] for row in csv.DictReader(file)]


class Desk:
    """Answers with claims, and the truth; an expert who looks at whatever is listed."""

    def __init__(self, place, seed=3):
        self.place, rng = place, np.random.default_rng(seed)
        claims = np.minimum(0.5, rng.beta(0.3, 2.4, N))
        tasks = [f"t{i:03}" for i in range(N)]
        self.truth = dict(zip(tasks, np.where(rng.random(N) < claims, "b", "a").tolist(), strict=True))
        self.answers = place / "answers.csv"
        write_csv(self.answers, ["task", "label", "confidence"], [tasks, ["a"] * N, 1 - claims])

    def looks(self, folder, *more, name="checked.csv"):
        tasks = column(folder / "check.csv") + [task for file in more for task in column(file)]
        write_csv(self.place / name, ["task", "label"], [tasks, [self.truth[task] for task in tasks]])
        return self.place / name

    def ended(self, answers, folder):
        """Look as listed until no look is expected to save money."""
        while True:
            done = crowdopt.audit(answers, folder, checked=self.looks(folder), escalate=True)
            if done.escalated.finished:
                return done

    def wrong_standing(self, folder):
        rows = zip(*(column(folder / "answers.csv", name) for name in ("task", "label", "how")), strict=True)
        return sum(label != self.truth[task] for task, label, how in rows if how != "up")


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """An escalation that has ended."""
    desk = Desk(tmp_path_factory.mktemp("honest"))
    crowdopt.audit(desk.answers, desk.place / "one", escalate="expert=20", target=0.08, seed=5)
    desk.done = desk.ended(desk.answers, desk.place / "one")
    return desk


@pytest.fixture
def forged(honest, tmp_path):
    """A copy of it, to forge."""
    shutil.copytree(honest.place, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_an_escalation_holds_and_is_verified(honest):
    """What stands, what goes up, at which cost; recomputed; and the truth, which it does not miss at this seed."""
    folder, done = honest.place / "one", honest.done
    made = done.escalated
    assert honest.wrong_standing(folder) <= made.left <= 24
    assert 24 < made.stand < N
    up = column(folder / "up.csv")
    assert len(up) == done.up and done.cost == 20 * (made.wrong.size + done.up)
    report = verify_audit(honest.answers, folder, done.commitment)
    assert report.holds, report.problems
    assert report.sentence == made.sentence


def test_labels_for_what_goes_up_are_counted_and_change_no_claim(honest, forged):
    """The expert answers all that went up: nothing is left to go up, cost and claim stay."""
    before = honest.done
    told = honest.looks(forged / "one", forged / "one" / "up.csv", name="all.csv")
    after = crowdopt.audit(forged / "answers.csv", forged / "one", checked=told, escalate=True)
    assert after.up == 0 and after.cost == before.cost
    assert after.escalated.sentence == before.escalated.sentence
    assert honest.wrong_standing(forged / "one") <= after.escalated.left
    assert verify_audit(forged / "answers.csv", forged / "one").holds


def test_tiers_share_what_may_be_wrong_and_the_chance(tmp_path):
    """Two tiers: what the first leaves is the second's; both verify, and the second names the first as it is."""
    desk = Desk(tmp_path)
    first = crowdopt.audit(desk.answers, tmp_path / "one", escalate="expert=20,next=2,tiers=2", target=0.1, seed=1)
    assert first.draw.terms.allowed == 15 and first.draw.terms.delta == pytest.approx(0.025)
    first = desk.ended(desk.answers, tmp_path / "one")
    up = column(tmp_path / "one" / "up.csv")
    rng = np.random.default_rng(9)
    right = rng.random(len(up)) < 0.95
    write_csv(
        tmp_path / "better.csv",
        ["task", "label", "error"],
        [up, [desk.truth[t] if r else "c" for t, r in zip(up, right, strict=True)], np.full(len(up), 0.05)],
    )
    below = {"escalate": "expert=20", "after": [tmp_path / "one"], "seed": 2}
    second = crowdopt.audit(tmp_path / "better.csv", tmp_path / "two", **below)
    assert second.draw.terms.allowed == 30 - first.escalated.left
    assert second.draw.terms.delta == pytest.approx(0.025)
    second = desk.ended(tmp_path / "better.csv", tmp_path / "two")
    assert verify_audit(tmp_path / "better.csv", tmp_path / "two", after=[tmp_path / "one"]).holds
    wrong = desk.wrong_standing(tmp_path / "one") + desk.wrong_standing(tmp_path / "two")
    assert wrong <= first.escalated.left + second.escalated.left <= 30
    with pytest.raises(InputError, match="last tier before the expert"):
        crowdopt.audit(tmp_path / "better.csv", tmp_path / "three", escalate="", after=[tmp_path / "two"])


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("few enough", {"groups": 25}),
        ("wrong_at_most", {"wrong_at_most": 0}),
        ("cost", {"cost": 1.0}),
        ("planned", {"planned": {"groups": 0, "stand": 0, "checks": 0, "up": 0, "cost": 0.0}}),
    ],
)
def test_a_forged_claim_is_refused(forged, words, changes):
    """A threshold that has not passed, fewer wrong answers, a lower cost, another plan."""
    file = forged / "one" / "standing.json"
    said = json.loads(file.read_text(encoding="utf-8"))
    assert said["groups"] < 25
    said.update(changes)
    file.write_text(json.dumps(said), encoding="utf-8")
    report = verify_audit(forged / "answers.csv", forged / "one")
    assert not report.holds and any(words in problem for problem in report.problems)


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
def test_a_forged_draw_is_refused(forged, changes):
    """Also where its commitment is made to fit: the claim no longer follows, or the commitment is not the one known."""
    file = forged / "one" / "escalation.json"
    known = json.loads(file.read_text(encoding="utf-8"))
    said = {**known, **changes}
    said["commitment"] = commitment(said)
    file.write_text(json.dumps(said), encoding="utf-8")
    assert not verify_audit(forged / "answers.csv", forged / "one").holds
    assert not verify_audit(forged / "answers.csv", forged / "one", known["commitment"]).holds


def test_what_went_up_is_not_taken_back(forged):
    """A table that lets an answer stand that went up is refused."""
    up = column(forged / "one" / "up.csv")
    write_csv(forged / "one" / "up.csv", ["task"], [up[1:]])
    assert not verify_audit(forged / "answers.csv", forged / "one").holds


def test_bad_input_is_a_sentence(forged, tmp_path):
    """What is wrong, and what to do."""
    answers, one = forged / "answers.csv", forged / "one"
    for words, options in (
        ("unknown word", {"escalate": "price=3"}),
        ("at least 1", {"escalate": "tiers=0"}),
        ("above 0", {"escalate": "expert=0"}),
        ("between 0 and 1", {"escalate": True, "target": 1.5}),
        ("below the target", {"escalate": True, "target": 0.05, "expert_error": 0.05}),
        ("tier below", {"escalate": True, "after": [tmp_path / "none"]}),
    ):
        with pytest.raises(InputError, match=words):
            crowdopt.audit(answers, forged / "new", **options)
        assert not (forged / "new").exists()
    with pytest.raises(InputError, match="already exists"):
        crowdopt.audit(answers, one, escalate=True)
    with pytest.raises(InputError, match="second draw"):
        crowdopt.audit(answers, one, escalate=True, force=True)
    with pytest.raises(InputError, match="is an escalation"):
        crowdopt.audit(answers, one, checked=forged / "checked.csv")
    with pytest.raises(InputError, match="give no other option"):
        crowdopt.audit(answers, one, checked=forged / "checked.csv", escalate=True, target=0.2)
    write_csv(forged / "bare.csv", ["task", "label"], [["a"], ["b"]])
    with pytest.raises(InputError, match="claims no error"):
        crowdopt.audit(forged / "bare.csv", forged / "new", escalate=True)
