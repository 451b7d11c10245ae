"""Audits forged in draw.json and audit.json together: verify repeats no claim that the checks do not give.

Each forgery keeps everything else in order: its commitment is the one that was handed on.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.io.audits import commitment
from crowdopt.io.cells import write_csv
from crowdopt.recheck import audits
from crowdopt.verbs.verify import verify_audit
from tests.sampled import first_of
from tests.typed import column

N = 60
CLAIMED, WRONG = np.linspace(0.01, 0.6, N), np.arange(N) % 3 == 1
Said = dict[str, Any]


class Folder:
    """An audit of 60 answers, 20 of them wrong, whose documents can be written over."""

    def __init__(self, place: Path, name: str = "audit") -> None:
        self.place, self.answers, self.audit = place, place / "answers.csv", place / name
        self.draw: Said = json.loads((self.audit / "draw.json").read_text(encoding="utf-8"))
        self.claim: Said = json.loads((self.audit / "audit.json").read_text(encoding="utf-8"))

    @staticmethod
    def made(place: Path, claimed: np.ndarray = CLAIMED, wrong: np.ndarray = WRONG, **terms: Any) -> Folder:
        """Answers whose true labels are these."""
        tasks = [f"t{i:03}" for i in range(claimed.size)]
        write_csv(place / "answers.csv", ["task", "label", "error"], [tasks, ["a"] * len(tasks), claimed])
        return Folder.drawn(place, wrong=wrong, **{"target": 0.2, "seed": 1, "checks": 30, **terms})

    @staticmethod
    def drawn(place: Path, name: str = "audit", wrong: np.ndarray = WRONG, **terms: Any) -> Folder:
        """Draw, look, conclude."""
        crowdopt.audit(place / "answers.csv", place / name, **terms)
        listed = column(place / name / "check.csv")
        told = ["b" if wrong[int(task[1:])] else "a" for task in listed]
        write_csv(place / "checked.csv", ["task", "label"], [listed, told])
        crowdopt.audit(place / "answers.csv", place / name, checked=place / "checked.csv")
        return Folder(place, name)

    def commits(self, **changes: Any) -> Folder:
        """Write draw.json anew, with the commitment of what it says now; audit.json belongs to it."""
        self.draw.update(changes)
        self.draw["commitment"] = commitment(self.draw)
        (self.audit / "draw.json").write_text(json.dumps(self.draw), encoding="utf-8")
        same = {key: self.draw[key] for key in ("delta", "confidence", "answers", "target", "expert_error", "method")}
        return self.claims(commitment=self.draw["commitment"], **same)

    def claims(self, **changes: Any) -> Folder:
        """Write audit.json anew; the sentence follows the numbers unless it is given."""
        self.claim.update(changes)
        most, n = self.claim["wrong_at_most"], self.claim["answers"]
        if "sentence" not in changes:
            text = re.sub(r"at most \d+ of the \d+", f"at most {most} of the {n}", self.claim["sentence"])
            self.claim["sentence"] = re.sub(r"with \S+ %", f"with {100 * (1 - self.claim['delta']):g} %", text)
        (self.audit / "audit.json").write_text(json.dumps(self.claim), encoding="utf-8")
        return self

    def report(self, **options: Any) -> audits.AuditReport:
        return verify_audit(self.answers, self.audit, **{"commitment": self.draw["commitment"], **options})


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """One that holds."""
    folder = Folder.made(tmp_path_factory.mktemp("honest"))
    assert folder.report().holds
    return folder


@pytest.fixture
def folder(honest: Folder, tmp_path: Path) -> Folder:
    """A copy of it, to forge."""
    shutil.copytree(honest.place, tmp_path, dirs_exist_ok=True)
    return Folder(tmp_path)


def more_groups(draw: Said) -> Said:
    row = [[*errors, 0.5] for errors in draw["predicted"]["error"]]
    groups = [*draw["groups"], {**draw["groups"][-1], "size": 1}]
    return {"groups": groups, "predicted": {**draw["predicted"], "error": row}}


def groups(**changes: Any) -> Callable[[Said], Said]:
    """Other numbers of each group."""
    return lambda draw: {"groups": [{**group, **changes} for group in draw["groups"]]}


def rates(factor: float) -> Callable[[Said], Said]:
    return lambda draw: {"groups": [{**group, "rate": group["rate"] * factor} for group in draw["groups"]]}


def predicted(error: float) -> Callable[[Said], Said]:
    return lambda draw: {"predicted": {"weight": [1.0], "error": [[error] * len(draw["groups"])]}}


ONE = {"groups": [{"size": 1, "claim": 0.05, "rate": 1.0}], "predicted": {"weight": [1.0], "error": [[0.05]]}}
DRAWS: dict[str, Callable[[Said], Said]] = {
    "only the largest number is tested": lambda draw: {"numbers": [N]},
    "no number is tested": lambda draw: {"numbers": []},
    "numbers are not in order": lambda draw: {"numbers": [0, N, *range(1, N)]},
    "the first numbers are left out": lambda draw: {"numbers": draw["numbers"][25:]},
    "a number is above all": lambda draw: {"numbers": [0, N + 1]},
    "one group of one answer": lambda draw: ONE,
    "groups hold more than there are": more_groups,
    "groups hold fewer than there are": lambda draw: {"groups": draw["groups"][:-1]},
    "no group": lambda draw: {"groups": [], "predicted": {"weight": [], "error": []}},
    "rates that round everything away": rates(1e200),
    "rates that no float can add up": rates(1e308),
    "other rates, which order the draw otherwise": groups(rate=1.0),
    "errors that a prediction excludes": predicted(0.0),
    "errors that are predicted for sure": predicted(1.0),
    "predictions chosen after the checks": predicted(0.02),
    "a row of predictions is short": lambda draw: {"predicted": {"weight": [0.5, 0.5], "error": [[0.1], []]}},
    "no version has a weight": lambda draw: {
        "predicted": {**draw["predicted"], "weight": [0.0 for _ in draw["predicted"]["weight"]]}
    },
    "fewer answers than the table has": lambda draw: {"answers": 30},
    "more answers than the table has": lambda draw: {"answers": 6000},
    "more least sure answers than there are": lambda draw: {"least_sure": N + 5, "checks": N + 6},
    "least sure answers that are none": lambda draw: {"least_sure": 5},
    "another seed": lambda draw: {"seed": 8},
    "all the chance and an earlier audit's too": lambda draw: {"earlier": [{"commitment": "0" * 64, "delta": 0.01}]},
    "more chance than the confidence leaves": lambda draw: {"delta": 0.5},
    "an expert who errs on nearly all is left out of the sentence": lambda draw: {"expert_error": 0.19},
    "another method": lambda draw: {"method": "exact"},
    "claims of groups that the table does not have": groups(claim=0.001),
    "another error is assumed": lambda draw: {"assumed_error": 0.01},
}


@pytest.mark.parametrize("forgery", DRAWS)
def test_a_draw_that_proves_nothing_is_caught(folder: Folder, forgery: str) -> None:
    """The commitment was handed on, audit.json agrees: the bound's theorem, and the table, are what is violated."""
    forged = folder.commits(**DRAWS[forgery](folder.draw))
    report = forged.claims(wrong_at_most=0, certified=True, left=[0] * len(forged.claim["left"])).report()
    assert not report.holds and report.problems and not report.sentence


def test_what_is_chosen_is_caught_where_nothing_is_false(folder: Folder) -> None:
    """Wagers of any kind bound truly if chosen before the order is known; no one can show when, so none is chosen.

    One who kept the commitment sees that it is another draw, as where any other term was changed.
    """
    versions, handed_on = folder.draw["predicted"], folder.draw["commitment"]
    other = {**versions, "error": [[error * (1 + 1e-6) for error in row] for row in versions["error"]]}
    for changes in ({"predicted": other}, {"predicted": versions, "assumed_error": 0.01}):
        folder.commits(**changes)
        assert audits.verify_audit(folder.answers, folder.audit).holds
        assert "not those that the answers" in folder.report().problems[0]
        problems = folder.report(commitment=handed_on).problems
        assert "the draw is not the one whose commitment was handed on" in problems


CLAIMS: dict[str, Callable[[Said], Said]] = {
    "a confidence beyond the draw's": lambda claim: {"sentence": claim["sentence"].replace("95 %", "99.9 %")},
    "a sentence with more in it": lambda claim: {"sentence": claim["sentence"] + "; no task is hard"},
    "fewer checked, more corrected": lambda claim: {"sentence": re.sub(r"\(.*\)", "(60 checked)", claim["sentence"])},
    "fewer wrong": lambda claim: {"wrong_at_most": claim["wrong_at_most"] - 1},
    "the target is reached": lambda claim: {"certified": not claim["certified"]},
    "a number for a truth value": lambda claim: {"certified": True, "others_checked": False},
    "a path that fell earlier": lambda claim: {"left": [claim["left"][-1]] * len(claim["left"])},
    "a path of one step": lambda claim: {"left": claim["left"][-1:]},
    "no path": lambda claim: {"left": []},
    "groups in which nothing was wrong": lambda claim: {"groups": [{**group, "wrong": 0} for group in claim["groups"]]},
    "counts in all": lambda claim: {"checked": claim["checked"] + 1},
    "no earlier audit": lambda claim: {"earlier": -1},
    "another seed": lambda claim: {"seed": 5},
    "another table": lambda claim: {"answers_sha256": "0" * 64},
    "another draw": lambda claim: {"commitment": "0" * 64},
}


@pytest.mark.parametrize("forgery", CLAIMS)
def test_a_claim_that_the_checks_do_not_give_is_caught(folder: Folder, forgery: str) -> None:
    """audit.json alone is written over: what verify, and the page, say of it is counted again."""
    changes = CLAIMS[forgery](folder.claim)
    assert any(folder.claim.get(key) != value for key, value in changes.items())
    report = folder.claims(**changes).report()
    assert not report.holds and not report.sentence


@pytest.mark.parametrize(("first", "second"), [(1, 2), (3, 4), (6, 7), (29, 30)])
def test_the_list_is_in_the_order_of_the_draw(tmp_path: Path, first: int, second: int) -> None:
    """The least sure answers first, then as the seed draws: with two lines exchanged another answer was passed over."""
    folder = Folder.made(tmp_path, least_sure=4)
    assert folder.report().holds
    file = folder.audit / "check.csv"
    lines = file.read_text(encoding="utf-8").split()
    lines[first], lines[second] = lines[second], lines[first]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert folder.report().problems == ["check.csv does not list what the seed draws"]


@pytest.mark.parametrize(
    "terms", [{"confidence": 0.9999999}, {"method": "exact", "checks": 50}, {"expert_error": 0.1}, {"least_sure": 4}]
)
def test_the_sentence_is_computed(tmp_path: Path, terms: Said) -> None:
    """Two hands write the same words, for each method and with an expert who errs; none rounds a confidence up."""
    folder = Folder.made(tmp_path, **terms)
    report = folder.report()
    assert report.holds and report.sentence == folder.claim["sentence"] and "100 %" not in report.sentence


def test_an_earlier_audit_is_named_with_what_it_spent(tmp_path: Path) -> None:
    """Half is spent: a second audit of what is left holds, and one that names none, or less than it spent, is caught.

    One that is drawn anew in place names the one it replaces, too.
    """
    folder = Folder.made(tmp_path, share=0.5)
    first, draw = folder.audit, folder.draw
    crowdopt.audit(folder.answers, tmp_path / "other", target=0.2, seed=3)
    (problem,) = folder.report(after=[tmp_path / "other"]).problems
    assert "does not name" in problem
    second = Folder.drawn(tmp_path, "next", target=0.2, seed=3, after=[first])
    good = second.report(after=[first])
    assert good.holds and good.earlier == 1 and good.confidence == 0.95
    report = second.commits(earlier=[{**second.draw["earlier"][0], "delta": 0.001}]).report(after=[first])
    assert not report.holds and any("does not name" in problem for problem in report.problems)
    again = crowdopt.audit(folder.answers, first, target=0.2, seed=2, force=True)
    said = json.loads((first / "draw.json").read_text(encoding="utf-8"))
    assert said["earlier"] == [{"commitment": draw["commitment"], "delta": draw["delta"]}]
    assert again.draw.terms.delta == pytest.approx(0.025)


def test_a_forced_draw_spends_its_chance(folder: Folder) -> None:
    """Seeds are not rolled in place: the audit that would be replaced counts, and it has spent all."""
    with pytest.raises(InputError, match="have spent all"):
        crowdopt.audit(folder.answers, folder.audit, target=0.2, seed=2, force=True)
    assert folder.report().holds, "and it still stands"


@pytest.mark.parametrize("seed", first_of(range(12), 4))
def test_the_second_hand_accepts_whatever_the_first_one_claims(tmp_path: Path, seed: int) -> None:
    """Tables, targets and methods at random: the bound after every look is found again by other means."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 700))
    claimed = rng.beta(rng.choice([0.05, 0.3, 2.0]), rng.choice([0.5, 4.0, 30.0]), n)
    wrong = rng.random(n) < np.minimum(1, claimed * rng.choice([0.0, 1.0, 3.0]))
    method = str(rng.choice(["assisted", "assisted", "sequential", "exact"]))
    target = float(rng.uniform(0.01, 0.5))
    folder = Folder.made(tmp_path, claimed, wrong, method=method, target=target, seed=seed, checks=None)
    assert folder.report().holds, folder.report().problems
    above = [k for k, left in enumerate(folder.claim["left"]) if left > 0]
    if method != "exact" and above:
        folder.claim["left"][int(rng.choice(above))] -= 1
        assert not folder.claims().report().holds, "and none that is lower by one"


def test_claims_of_slices_are_held_against_the_checks(tmp_path: Path) -> None:
    """Fewer wrong ones than the looks show, a slice that is left out, and a recall of one's own are found."""
    folder = Folder.made(tmp_path, by="label")
    (honest,) = folder.claim["slices"]
    assert folder.report().holds
    for forged in ([{**honest, "wrong_at_most": 0, "left": 0}], [{**honest, "corrected": 0}], []):
        assert not folder.claims(slices=forged).report().holds
    assert not folder.claims(slices=[honest], recall={"a": 1.0, "b": 1.0}).report().holds
    assert not folder.commits(slices=[{**folder.draw["slices"][0], "numbers": [0]}]).report().holds
