"""Audits and escalations from tables: drawn, looked at, concluded, verified; tiers in a row; what verify refuses."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.io.audits import commitment
from crowdopt.io.cells import write_csv
from tests.typed import column

N = 300


class Desk:
    """Answers with claims, the truth, and an expert who looks at whatever is listed."""

    def __init__(self, place):
        self.place, rng = place, np.random.default_rng(3)
        claims = np.minimum(0.5, rng.beta(0.3, 2.4, N))
        self.tasks = [f"t{i:03}" for i in range(N)]
        self.truth = dict(zip(self.tasks, np.where(rng.random(N) < claims, "b", "a").tolist(), strict=True))
        write_csv(place / "answers.csv", ["task", "label", "confidence"], [self.tasks, ["a"] * N, 1 - claims])

    def audit(self, folder="audit", answers="answers", **options):
        return crowdopt.audit(self.place / f"{answers}.csv", self.place / folder, **options)

    def verify(self, folder="audit", answers="answers", **options):
        return crowdopt.verify(self.place / f"{answers}.csv", self.place / folder, **options)

    def told(self, tasks):
        write_csv(self.place / "checked.csv", ["task", "label"], [tasks, [self.truth[task] for task in tasks]])
        return self.place / "checked.csv"

    def listed(self, folder="audit", file="check"):
        return column(self.place / folder / f"{file}.csv")

    def looked(self, folder="audit", answers="answers", more=(), **options):
        """The expert looks at what is listed."""
        return self.audit(folder, answers, checked=self.told([*self.listed(folder), *more]), **options)

    def wrong(self, folder="audit"):
        """Wrong ones among the answers that are left to stand."""
        rows = zip(self.listed(folder, "answers"), column(self.place / folder / "answers.csv", "label"), strict=True)
        return sum(label not in ("", self.truth[task]) for task, label in rows)

    def ended(self, folder, answers):
        """Looks until no further one is expected to save money."""
        while True:
            done = self.looked(folder, answers, escalate=True)
            if done.escalated.finished:
                return done


@pytest.fixture
def desk(tmp_path):
    """A desk of its own for each test."""
    return Desk(tmp_path)


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """An audit, and an escalation of two tiers that have ended."""
    desk = Desk(tmp_path_factory.mktemp("honest"))
    desk.audit(target=0.2, seed=1)
    desk.looked()
    desk.audit("one", escalate="expert=20,next=15,tiers=2", target=0.2, seed=1)
    desk.first = desk.ended("one", "answers")
    up = desk.listed("one", "up")
    better = [desk.truth[task] if i % 20 else "c" for i, task in enumerate(up)]
    write_csv(desk.place / "better.csv", ["task", "label", "error"], [up, better, np.full(len(up), 0.05)])
    desk.audit("two", "better", escalate="expert=20", after=[desk.place / "one"], seed=2)
    desk.second = desk.ended("two", "better")
    return desk


@pytest.fixture
def forged(honest, tmp_path):
    """A copy of these, to forge."""
    desk = Desk(shutil.copytree(honest.place, tmp_path, dirs_exist_ok=True))
    desk.one, desk.below = tmp_path / "one", {"after": [tmp_path / "one"]}
    return desk


def rewritten(path, **changes):
    """A document with other entries, and the commitment of what it says now where it has one."""
    said = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    if path.name == "escalation.json":
        said["commitment"] = commitment(said)
    path.write_text(json.dumps(said), encoding="utf-8")
    return said


def test_an_audit_that_falls_short_lists_more(desk):
    """check.csv goes on in the same order, nothing is spent for it, and what was claimed stays."""
    desk.audit(target=0.03, seed=1, checks=20)
    before, first = desk.listed(), desk.looked()
    assert not first.audited.certified and desk.listed()[:20] == before and len(desk.listed()) == first.checks > 20
    assert (desk.looked().audited.left[:20] == first.audited.left).all() and desk.verify().holds


def test_the_least_sure_go_first_and_leave_the_population(desk):
    """Those not looked at count as wrong; corrections chosen freely lower the claim by what was wrong, and no more."""
    desk.audit(target=0.4, seed=1, least_sure=10, checks=70)
    whole, tasks = desk.looked().wrong_at_most, desk.listed()
    assert desk.audit(checked=desk.told(tasks[4:])).wrong_at_most == whole + 4
    rest = [task for task in desk.tasks if task not in tasks][:30]
    wrong = sum(desk.truth[task] != "a" for task in rest)
    assert wrong and desk.looked(more=rest).wrong_at_most == whole - wrong and desk.verify().holds


def test_cheating_is_caught(forged):
    """A change of what was told, answered, or further claimed leaves something that does not fit."""
    assert forged.verify().holds
    for name, old, new in (
        ("audit/checked.csv", ",b", ",a"),
        ("answers.csv", "t000,a", "t000,b"),
        ("audit/audit.json", "{", '{"worst_group": 0.0, '),
    ):
        path = forged.place / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert old in text and not forged.verify().holds, name
        path.write_text(text, encoding="utf-8")


def test_tiers_hold_are_verified_and_share_what_may_be_wrong_and_the_chance(honest):
    """What stands, what goes up, recomputed, and the truth at these seeds; what the first leaves is the second's."""
    first, second, below = honest.first, honest.second, [honest.place / "one"]
    assert honest.wrong("one") <= first.escalated.left <= 30 < first.escalated.stand < N
    assert len(honest.listed("one", "up")) == first.up
    report = honest.verify("one", commitment=first.commitment)
    assert report.holds and report.sentence == first.escalated.sentence, report.problems
    assert first.draw.terms.allowed == 30 and second.draw.terms.allowed == 60 - first.escalated.left
    assert [one.draw.terms.delta for one in (first, second)] == pytest.approx([0.025, 0.025])
    assert honest.verify("two", "better", after=below).holds
    assert honest.wrong("one") + honest.wrong("two") <= first.escalated.left + second.escalated.left <= 60
    with pytest.raises(InputError, match="last tier before the expert"):
        honest.audit("three", "better", escalate="", after=[honest.place / "two"])


def test_labels_for_what_goes_up_are_counted_and_change_no_claim(honest, forged):
    """The expert answers all that went up: nothing is left to go up, cost and claim stay."""
    after = forged.looked("two", "better", forged.listed("two", "up"), escalate=True)
    assert after.up == 0 and after.cost == honest.second.cost
    assert after.escalated.sentence == honest.second.escalated.sentence
    assert forged.verify("two", "better", **forged.below).holds


@pytest.mark.parametrize(
    ("document", "changes"),
    [("standing", one) for one in ({"groups": 25}, {"wrong_at_most": 0}, {"cost": 1.0}, {"passed": 0}, {"onward": {}})]
    + [("standing", {"certified": True}), ("standing", {"finished": False}), ("escalation", {"allowed": 60})]
    + [("escalation", one) for one in ({"delta": 0.5}, {"seed": 6}, {"target": 0.5, "allowed": 150})]
    + [("escalation", {"first": 3000, "allowed": 240}), ("escalation", {"confidence": 0.5, "delta": 0.5})],
    ids=str,
)
def test_a_forged_escalation_is_refused(forged, document, changes):
    """A claim that the looks do not give, or another draw, also where its commitment is made to fit."""
    rewritten(forged.one / f"{document}.json", **changes)
    try:
        assert not forged.verify("one").holds
    except InputError:
        return


def test_a_tier_cannot_spend_the_chance_of_the_one_below_again(forged):
    """Not unseen, not with the tier below shown as it is, and not with that one's own document changed to fit."""
    two = forged.place / "two"
    below = json.loads((two / "escalation.json").read_text(encoding="utf-8"))["below"][0]
    said = rewritten(two / "escalation.json", below=[{**below, "delta": 1e-9}], delta=round(0.05 - 1e-9, 14))
    stands = json.loads((two / "standing.json").read_text(encoding="utf-8"))
    sentence = stands["sentence"].replace("97.5 %", f"{100 * (1 - said['delta']):.10g} %")
    rewritten(two / "standing.json", commitment=said["commitment"], delta=said["delta"], sentence=sentence)
    with pytest.raises(InputError, match="goes on after a tier below"):
        forged.verify("two", "better")
    assert not forged.verify("two", "better", **forged.below).holds
    path = forged.one / "escalation.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "delta": 1e-9}), encoding="utf-8")
    assert any("was changed after" in one for one in forged.verify("two", "better", **forged.below).problems)


def test_what_went_up_is_not_taken_back(forged):
    """A list that lets an answer stand that went up is refused, by itself and as the tier below another one."""
    write_csv(forged.one / "up.csv", ["task"], [forged.listed("one", "up")[1:]])
    assert not forged.verify("one").holds
    assert any("what went up" in one for one in forged.verify("two", "better", **forged.below).problems)


def test_bad_input_is_a_sentence(forged):
    """What is wrong, and what to do; nothing is written. A target chosen after the answers are known is no target."""
    write_csv(forged.place / "bare.csv", ["task", "label"], [["a"], ["b"]])
    rows, escalate = {"checked": forged.told(forged.listed())}, {"escalate": True}
    skipped, none = forged.place / "skipped.csv", forged.place / "none.csv"
    for file, tasks in ((skipped, forged.listed()[1:]), (none, [])):
        write_csv(file, ["task", "label"], [tasks, ["a"] * len(tasks)])
    for answers, folder, words, options in (
        ("answers", "new", "one of assisted", {"method": "best"}),
        ("answers", "new", "confidence must lie", {"confidence": 1.0}),
        ("answers", "new", "cannot certify", {"expert_error": 0.2}),
        ("answers", "new", "number of checks", {"checks": N + 1}),
        ("bare", "new", "need a claimed error", {"method": "assisted"}),
        ("answers", "audit", "fixed by its draw", {**rows, "target": 0.2}),
        ("answers", "audit", "drawn after it", {"checked": skipped}),
        ("answers", "audit", "at least one is needed", {"checked": none}),
        ("answers", "new", "at least 1", {"escalate": "tiers=0"}),
        ("answers", "new", "below the target", {**escalate, "target": 0.05, "expert_error": 0.05}),
        ("answers", "new", "tier below", {**escalate, "after": [forged.place / "none"]}),
        ("answers", "one", "already exists", escalate),
        ("answers", "one", "second draw", {**escalate, "force": True}),
        ("answers", "one", "no other option", {**rows, **escalate, "target": 0.2}),
        ("answers", "one", "at least one is needed", {**escalate, "checked": none}),
        ("bare", "new", "claims no error", escalate),
    ):
        with pytest.raises(InputError, match=words):
            forged.audit(folder, answers, **options)
        assert not (forged.place / "new").exists()
