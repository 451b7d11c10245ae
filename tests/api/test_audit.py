"""The audit from tables: drawn, looked at, claimed, checked again; and the cheating that a second opinion sees."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.io.tables.cells import write_csv
from tests.typed import column, said

N = 200


@pytest.fixture
def desk(tmp_path):
    """A desk of its own for each test."""
    return answered(tmp_path)


def answered(place):
    """Answers with claims, and the truth: about one in twenty is wrong."""
    rng = np.random.default_rng(3)
    claims = rng.beta(0.2, 3.8, N)
    wrong = rng.random(N) < claims
    tasks = [f"t{i:03}" for i in range(N)]
    write_csv(place / "answers.csv", ["task", "label", "confidence"], [tasks, ["a"] * N, 1 - claims])
    truth = dict(zip(tasks, np.where(wrong, "b", "a").tolist(), strict=True))
    return place, truth


def look(desk, folder="audit", count=None, name="checked.csv"):
    """The expert labels the first tasks of check.csv."""
    place, truth = desk
    tasks = column(place / folder / "check.csv")[:count]
    write_csv(place / name, ["task", "label"], [tasks, [truth[task] for task in tasks]])
    return place / name


def audited(desk, **options):
    place, _ = desk
    crowdopt.audit(place / "answers.csv", place / "audit", **{"target": 0.1, "seed": 1, **options})
    return crowdopt.audit(place / "answers.csv", place / "audit", checked=look(desk))


@pytest.mark.parametrize("method", ["assisted", "sequential", "exact"])
def test_an_audit_holds_and_is_verified(desk, method):
    """Claim, corrections, second opinion; and the truth, which the claim must not miss at this seed."""
    place, truth = desk
    done = audited(desk, method=method)
    fixed = [column(place / "audit" / "answers.csv", name) for name in ("task", "label")]
    left = sum(label != truth[task] for task, label in zip(*fixed, strict=True))
    assert left <= done.wrong_at_most < N
    said = json.loads((place / "audit" / "audit.json").read_text(encoding="utf-8"))
    assert said["wrong_at_most"] == done.wrong_at_most
    report = crowdopt.verify(place / "answers.csv", place / "audit", commitment=done.commitment)
    assert report.holds, report.problems


def test_one_by_one_or_in_batches_is_the_same_claim(desk):
    """Each prefix of the expert's answers may be told; the last claim does not depend on how they came."""
    place, _ = desk
    done = crowdopt.audit(place / "answers.csv", place / "audit", target=0.1, seed=1, checks=60)
    claims = []
    for count in (1, 2, 10, 33, 60):
        told = look(desk, count=count)
        claims.append(crowdopt.audit(place / "answers.csv", place / "audit", checked=told).audited)
    path = claims[-1].left
    assert [one.left[-1] for one in claims] == [path[k - 1] for k in (1, 2, 10, 33, 60)]
    assert done.draw.order[:60].tolist() == claims[-1].draw.order[:60].tolist()


def test_an_audit_that_falls_short_lists_more(desk):
    """check.csv goes on in the same order, nothing is spent for it."""
    place, _ = desk
    crowdopt.audit(place / "answers.csv", place / "audit", target=0.03, seed=1, checks=20)
    before = column(place / "audit" / "check.csv")
    done = crowdopt.audit(place / "answers.csv", place / "audit", checked=look(desk))
    after = column(place / "audit" / "check.csv")
    assert not done.audited.certified and after[:20] == before and len(after) == done.checks > 20
    done = crowdopt.audit(place / "answers.csv", place / "audit", checked=look(desk))
    assert crowdopt.verify(place / "answers.csv", place / "audit").holds


def test_the_least_sure_go_first_and_leave_the_population(desk):
    """Those not looked at count as wrong; corrections chosen freely lower the claim by what was wrong, and no more."""
    place, truth = desk
    crowdopt.audit(place / "answers.csv", place / "audit", target=0.1, seed=1, least_sure=10, checks=70)
    whole = crowdopt.audit(place / "answers.csv", place / "audit", checked=look(desk))
    tasks = column(place / "audit" / "check.csv")
    told = place / "some.csv"
    write_csv(told, ["task", "label"], [tasks[4:], [truth[task] for task in tasks[4:]]])
    fewer = crowdopt.audit(place / "answers.csv", place / "audit", checked=told)
    assert fewer.wrong_at_most == whole.wrong_at_most + 4
    rest = [task for task in truth if task not in set(tasks)]
    write_csv(told, ["task", "label"], [[*tasks, *rest[:30]], [truth[task] for task in [*tasks, *rest[:30]]]])
    more = crowdopt.audit(place / "answers.csv", place / "audit", checked=told)
    wrong = sum(truth[task] != "a" for task in rest[:30])
    assert more.wrong_at_most == whole.wrong_at_most - wrong
    assert crowdopt.verify(place / "answers.csv", place / "audit").holds


def test_an_expert_who_errs_widens_the_claim(desk):
    """By their share of all tasks, and the sentence says so."""
    plain = audited(desk, checks=100)
    place, _ = desk
    crowdopt.audit(place / "answers.csv", place / "second", target=0.1, seed=1, checks=100, expert_error=0.02)
    wide = crowdopt.audit(place / "answers.csv", place / "second", checked=look(desk, "second"))
    assert wide.wrong_at_most == plain.wrong_at_most + 4
    assert "if the expert errs on at most 2 % of the tasks" in wide.audited.sentence


def test_audits_of_the_same_answers_share_their_chance(desk):
    """A second draw spends what the first left over; after all is spent there is none."""
    place, _ = desk
    first = crowdopt.audit(place / "answers.csv", place / "one", share=0.5, seed=1)
    second = crowdopt.audit(place / "answers.csv", place / "two", after=[place / "one"], seed=2)
    assert first.draw.terms.delta == second.draw.terms.delta == 0.025
    with pytest.raises(InputError, match="have spent all"):
        crowdopt.audit(place / "answers.csv", place / "three", after=[place / "two"])
    done = crowdopt.audit(place / "answers.csv", place / "two", checked=look(desk, "two"))
    report = crowdopt.verify(place / "answers.csv", place / "two")
    assert report.holds and done.audited.sentence in report.sentence


def test_a_skipped_answer_is_refused(desk):
    """Looking, and leaving out what one does not like, would make the claim depend on the answers."""
    place, truth = desk
    crowdopt.audit(place / "answers.csv", place / "audit", target=0.1, seed=1, checks=30)
    tasks = column(place / "audit" / "check.csv")
    del tasks[7]
    write_csv(place / "told.csv", ["task", "label"], [tasks, [truth[task] for task in tasks]])
    with pytest.raises(InputError, match="drawn after it"):
        crowdopt.audit(place / "answers.csv", place / "audit", checked=place / "told.csv")


def damaged(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


CHEATS = {  # those of draw.json and audit.json are in tests/recheck/test_audit_forgeries.py
    "a wrong answer is kept": ("audit/answers.csv", ",b,yes", ",a,yes"),
    "what the expert says is changed": ("audit/checked.csv", ",b", ",a"),
    "answers are swapped": ("answers.csv", "t000,a", "t000,b"),
    "a further entry would be read as part of what was verified": ("audit/audit.json", "{", '{"worst_group": 0.0, '),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """An audit that holds."""
    place, truth = answered(tmp_path_factory.mktemp("honest"))
    audited((place, truth), checks=80)
    assert crowdopt.verify(place / "answers.csv", place / "audit").holds
    return place


@pytest.mark.parametrize("cheat", CHEATS)
def test_cheating_is_caught(honest, tmp_path, cheat):
    """Each change of what was answered, told or claimed leaves something that does not fit."""
    place = shutil.copytree(honest, tmp_path / "desk")
    name, old, new = CHEATS[cheat]
    damaged(place / name, old, new)
    assert not crowdopt.verify(place / "answers.csv", place / "audit").holds


def test_a_draw_made_after_the_fact_is_caught_by_its_commitment(desk):
    """All files fit together; what was handed on before the expert began does not."""
    place, _ = desk
    first = audited(desk, checks=60)
    shutil.rmtree(place / "audit")
    crowdopt.audit(place / "answers.csv", place / "audit", target=0.1, seed=2, checks=60)
    crowdopt.audit(place / "answers.csv", place / "audit", checked=look(desk))
    assert crowdopt.verify(place / "answers.csv", place / "audit").holds
    words = ("verify", place / "answers.csv", place / "audit", "--commitment", first.commitment)
    assert "the draw is not the one whose commitment was handed on" in said(*words, code=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, "one of assisted"),
        ({"confidence": 1.0}, "confidence must lie"),
        ({"expert_error": 0.2}, "cannot certify"),
        ({"least_sure": N}, "leave at least one"),
        ({"checks": N + 1}, "number of checks"),
        ({"share": 0}, "share of the chance"),
    ],
)
def test_bad_terms_are_one_sentence(desk, options, message):
    """What, where, remedy."""
    place, _ = desk
    with pytest.raises(InputError, match=message):
        crowdopt.audit(place / "answers.csv", place / "audit", **options)
    assert not (place / "audit").exists()


def test_terms_are_not_changed_once_the_draw_is_made(desk):
    """A target chosen after the answers are known is no target."""
    place, _ = desk
    crowdopt.audit(place / "answers.csv", place / "audit", target=0.1, seed=1)
    with pytest.raises(InputError, match="fixed by its draw"):
        crowdopt.audit(place / "answers.csv", place / "audit", checked=look(desk), target=0.2)
