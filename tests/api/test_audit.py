"""The audit from tables: drawn, looked at, claimed, checked again; and the cheating that a second opinion sees."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

import crowdopt
from crowdopt.api.verify import verify_audit
from crowdopt.errors import InputError
from crowdopt.io.tables.cells import write_csv

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


def column(path, name="task"):
    with path.open() as file:
        return [row[name] for row in csv.DictReader(file)]


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
    fixed = dict(
        zip(column(place / "audit" / "answers.csv"), column(place / "audit" / "answers.csv", "label"), strict=True)
    )
    left = sum(fixed[task] != truth[task] for task in truth)
    assert left <= done.wrong_at_most < N
    assert (
        json.loads((place / "audit" / "audit.json").read_text(encoding="utf-8"))["wrong_at_most"] == done.wrong_at_most
    )
    report = verify_audit(place / "answers.csv", place / "audit", done.commitment)
    assert report.holds, report.problems


def test_equal_seeds_write_equal_bytes(desk):
    """Nothing but the seed and the answers decides the draw."""
    place, _ = desk
    for name in ("one", "two"):
        crowdopt.audit(place / "answers.csv", place / name, seed=5)
    for file in ("draw.json", "check.csv"):
        assert (place / "one" / file).read_bytes() == (place / "two" / file).read_bytes()
    assert crowdopt.audit(place / "answers.csv", place / "three").draw.terms.seed != 5


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
    assert verify_audit(place / "answers.csv", place / "audit").holds


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
    assert verify_audit(place / "answers.csv", place / "audit").holds


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


def test_a_skipped_answer_is_refused(desk):
    """Looking, and leaving out what one does not like, would make the claim depend on the answers."""
    place, truth = desk
    crowdopt.audit(place / "answers.csv", place / "audit", target=0.1, seed=1, checks=30)
    tasks = column(place / "audit" / "check.csv")
    del tasks[7]
    write_csv(place / "told.csv", ["task", "label"], [tasks, [truth[task] for task in tasks]])
    with pytest.raises(InputError, match="drawn after it"):
        crowdopt.audit(place / "answers.csv", place / "audit", checked=place / "told.csv")


def edit(path, change):
    said = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(change(said)), encoding="utf-8")


def recommit(said, **changes):
    from crowdopt.io.answers.audit_draw import commitment

    said = {**said, **changes}
    return {**said, "commitment": commitment(said)}


CHEATS = {
    "the seed is changed": lambda place: edit(place / "audit/draw.json", lambda said: {**said, "seed": 9}),
    "the draw is made anew": lambda place: edit(place / "audit/draw.json", lambda said: recommit(said, seed=9)),
    "predictions are changed": lambda place: edit(
        place / "audit/draw.json", lambda said: recommit(said, predicted={"weight": [1.0], "error": [[0.001] * 8]})
    ),
    "the claim is lowered": lambda place: edit(
        place / "audit/audit.json",
        lambda said: {
            **said,
            "wrong_at_most": said["wrong_at_most"] - 1,
            "sentence": said["sentence"].replace(
                f"most {said['wrong_at_most']} ", f"most {said['wrong_at_most'] - 1} "
            ),
        },
    ),
    "the sentence is lowered": lambda place: edit(
        place / "audit/audit.json", lambda said: {**said, "sentence": said["sentence"].replace("at most ", "at most 1")}
    ),
    "a wrong answer is kept": lambda place: swap(place / "audit/answers.csv", ",b,yes", ",a,yes"),
    "what the expert says is changed": lambda place: swap(place / "audit/checked.csv", ",b", ",a"),
    "answers are swapped": lambda place: swap(place / "answers.csv", "t000,a", "t000,b"),
    "the list is cut": lambda place: (place / "audit/check.csv").write_text("task\n", encoding="utf-8"),
}


def swap(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """An audit that holds."""
    place, truth = answered(tmp_path_factory.mktemp("honest"))
    audited((place, truth), checks=80)
    assert verify_audit(place / "answers.csv", place / "audit").holds
    return place


@pytest.mark.parametrize("cheat", CHEATS)
def test_cheating_is_caught(honest, tmp_path, cheat):
    """Each change of what was drawn, told or claimed leaves something that does not fit."""
    place = shutil.copytree(honest, tmp_path / "desk")
    CHEATS[cheat](place)
    assert not verify_audit(place / "answers.csv", place / "audit").holds


def test_a_draw_made_after_the_fact_is_caught_by_its_commitment(desk):
    """All files fit together; what was handed on before the expert began does not."""
    place, _ = desk
    first = audited(desk, checks=60)
    shutil.rmtree(place / "audit")
    crowdopt.audit(place / "answers.csv", place / "audit", target=0.1, seed=2, checks=60)
    crowdopt.audit(place / "answers.csv", place / "audit", checked=look(desk))
    assert verify_audit(place / "answers.csv", place / "audit").holds
    report = verify_audit(place / "answers.csv", place / "audit", first.commitment)
    assert report.problems == ["the draw is not the one whose commitment was handed on"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, "one of assisted"),
        ({"target": 0}, "target must lie"),
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
