"""Limits by true class: of the tasks that are truly of a class only so many are answered otherwise, in expectation."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from shlex import split

import numpy as np
import pytest
from click.testing import CliRunner

import crowdopt
from crowdopt import AssignmentInstance, InputError, assign, verify, write_campaign
from crowdopt.assign.cascade.panels import vote_panel
from crowdopt.cli import main
from tests.assign.cascade.small_panels import EXPERT, drawn, least_by_histories
from tests.chance import most
from tests.chance import rng as drawing
from tests.sampled import first_of


def limits(one: AssignmentInstance, seed: int) -> tuple[float, ...]:
    """Of one class or of several."""
    rng = np.random.default_rng([seed, 9])
    share = float(one.epsilon[0]) * rng.uniform(0.3, 1.2, int(one.classes))
    share[rng.random(share.size) < 0.4] = np.inf
    share[0] = min(share[0], 0.5 * float(one.epsilon[0]))
    return tuple(share.tolist())


def by_name(shares: tuple[float, ...]) -> dict[str, float]:
    """What assign takes."""
    return {str(k): share for k, share in enumerate(shares) if np.isfinite(share)}


@pytest.mark.parametrize("seed", first_of(range(50), 12))
def test_it_costs_what_the_program_over_histories_does(seed):
    """Every class may be answered after every history; where nothing keeps the limits all grow by one multiple."""
    one, expert = drawn(seed), EXPERT if seed % 3 == 0 else None
    shares = limits(one, seed)
    plan = assign(one, adaptive=True, expert=expert, class_error=by_name(shares))
    least = partial(least_by_histories, one, expert, class_error=shares)
    report = verify(one, plan)
    assert report.holds and report.class_error == by_name(shares), report.problems
    held = [(got, share) for got, share in zip(plan.missed, shares, strict=True) if np.isfinite(share)]
    assert all(got <= plan.times * share * (1 + 1e-7) + 1e-12 for got, share in held)
    if np.isfinite(least()):
        assert plan.proven and report.proven and plan.objective == pytest.approx(least(), rel=1e-7, abs=1e-7)
        return
    assert not plan.found and not np.isfinite(least(times=1 + 0.999 * (plan.times - 1)))
    assert least(times=plan.times * (1 + 1e-6)) <= plan.objective * (1 + 1e-6)


def test_a_limit_that_is_kept_anyway_costs_nothing_and_one_that_binds_does():
    """Half of what the free plan misses of a class; its own share, and the targets stay."""
    one = AssignmentInstance([[0.9, 0.8, 0.75, 0.7]], [0] * 40, [40] * 4, 0.1, cost=[4.0, 1.0, 0.5, 0.4])
    free = assign(one, adaptive=True, class_error={"1": 1.0})
    assert free.objective == pytest.approx(assign(one, adaptive=True).objective)
    tight = assign(one, adaptive=True, class_error={"1": 0.5 * free.missed[1]})
    assert tight.proven and tight.objective > free.objective * 1.01 and tight.proof_of.classes[1] > 0
    assert tight.missed[1] == pytest.approx(0.5 * free.missed[1]) and tight.errors[0] <= 0.1 * (1 + 1e-9)


@pytest.mark.chance
def test_simulated_tasks_of_each_class_are_missed_as_often_as_said():
    """By ``next``, lots included."""
    accuracy, items = np.array([0.95, 0.85, 0.8, 0.7]), 2000
    one = AssignmentInstance([accuracy], [0] * 100, [60, 90, 100, 100], 0.08, cost=[3.0, 1.0, 0.4, 0.2])
    plan, rng = assign(one, adaptive=True, class_error={"1": 0.03}), drawing()
    assert plan.proven
    for truth in range(2):
        missed = 0
        for _ in range(items):
            votes: dict[str, str] = {}
            action, what = plan.next(votes)
            while action == "ask":
                votes[what[0]] = str(truth if rng.random() < accuracy[int(what[0])] else 1 - truth)
                action, what = plan.next(votes)
            missed += what != (str(truth),)
        assert missed <= most(items, plan.missed[truth] * (1 + 1e-9))


NAMED = AssignmentInstance(
    [[0.94, 0.9, 0.76, 0.66], [0.98, 0.88, 0.86, 0.82]],
    np.arange(24) % 2,
    [12, 24, 24, 24],
    0.08,
    cost=[3.0, 1.0, 0.4, 0.2],
    workers=["large", "medium", "small", "tiny"],
    class_names=["no way", "yes=1"],
)


def run(*words: str):
    return CliRunner().invoke(main, list(words))


def test_round_by_round_the_share_still_expected_is_the_next_limit(tmp_path):
    """Each round verifies; shares of classes are those that the plan before still comes to, given its votes."""
    here, plan = tmp_path / "c", tmp_path / "p0"
    write_campaign(NAMED, here)
    words = ["--adaptive", "--class-error", "yes=1=.04"]
    done = run("solve", str(here), *words, "-o", str(plan))
    assert done.exit_code == 0 and "yes=1 4 % (limit 4)" in done.output
    assert "within the limits of classes" in done.output
    for k in range(1, 12):
        labels, after = tmp_path / f"l{k}.csv", tmp_path / f"a{k}"
        crowdopt.rehearse(here, plan, output=labels, truth=tmp_path / "truth.csv", seed=k)
        answered = crowdopt.answers(labels, plan, campaign=here, output=after)
        if not answered.onward.asks:
            break
        options = split(answered.onward.options)
        assert options[:2] == ["--adaptive", "--class-error"] and options[2].startswith("yes=1=")
        here, plan = after / "campaign", tmp_path / f"p{k}"
        assert run("solve", str(here), *options, "-o", str(plan)).exit_code == 0
        facts = json.loads(run("verify", str(here), str(plan), "--json").output)
        assert facts["holds"] and facts["class_error"]["yes=1"] == pytest.approx(float(options[2].rpartition("=")[2]))
    assert 1 < k < 11
    done = run("explain", str(tmp_path / "c"), str(tmp_path / "p0"))
    assert done.exit_code == 0 and "one vote at a time" in done.output


def test_the_next_limits_are_those_of_this_plan_on_average(tmp_path):
    """Over all ways in which the first vote can fall, tasks missed of a class average to the plan's own."""
    one = AssignmentInstance([[0.9, 0.8, 0.75]], [0], [1, 1, 1], 0.12, cost=[3.0, 1.0, 0.4], class_names=["a", "b"])
    write_campaign(one, tmp_path / "c")
    plan = assign(tmp_path / "c", adaptive=True, class_error={"b": 0.08}, output=tmp_path / "p")
    panel, missed = vote_panel(one), 0.0
    for row in (row for row in plan.rows if not row.votes):
        assert row.action == "ask"
        for after in panel.ahead(row.what, np.array([0]))[0][0].tolist():
            table, ((worker, label, _),) = tmp_path / f"{row.what}{after}.csv", panel.votes(after)
            table.write_text(f"task,worker,label\n0,{worker},{'ab'[label]}\n")
            answered = crowdopt.answers(table, tmp_path / "p", campaign=tmp_path / "c")
            missed += row.share * float(panel.joint[after, 1]) * float(answered.onward.options.rpartition("=")[2])
    assert missed == pytest.approx(0.5 * plan.missed[1], rel=1e-6)


def test_answers_are_the_policys_own_not_the_likeliest(tmp_path):
    """All labels are in and say "a": to miss few of "b" two in five of the items are answered with "b" all the same."""
    items = 30
    one = AssignmentInstance([[0.7]], [0] * items, [items], 0.47, workers=["w"], class_names=["a", "b"])
    one = replace(one, collected=[(i, 0) for i in range(items)])
    write_campaign(one, tmp_path / "c", collected_labels=["a"] * items)
    plan = assign(tmp_path / "c", adaptive=True, class_error={"b": 0.6}, output=tmp_path / "p")
    said = {row.what[0]: row.share for row in plan.rows}
    assert plan.proven and verify(tmp_path / "c", tmp_path / "p").proven and 0.4 - 1e-9 <= said[1] < 0.43
    (tmp_path / "l.csv").write_text("task,worker,label\n")
    answered = crowdopt.answers(tmp_path / "l.csv", tmp_path / "p", campaign=tmp_path / "c", output=tmp_path / "a")
    other = answered.answers.answer == 1
    assert abs(int(other.sum()) - said[1] * items) <= 1
    assert answered.answers.error == pytest.approx(np.where(other, 0.7, 0.3))
    assert (tmp_path / "a" / "answers.csv").read_text(encoding="utf-8").count(",b,") == other.sum()


REFUSED = [
    ({"adaptive": True, "class_error": {"maybe": 0.1}}, "no class 'maybe'"),
    ({"adaptive": True, "class_error": {"no way": 1.5}}, "above 0, to 1"),
    ({"adaptive": True, "class_error": {"no way": 0.1}, "given_votes": True}, "leave one of them out"),
    ({"class_error": {"no way": 0.1}}, "belong to an adaptive plan"),
]


def test_what_makes_no_sense_is_refused(tmp_path):
    """Also words that are no share; and where nothing is known: many workers who differ."""
    for words, said in REFUSED:
        with pytest.raises(InputError, match=said):
            assign(NAMED, **words)
    write_campaign(NAMED, tmp_path / "c")
    done = run("solve", str(tmp_path / "c"), "--adaptive", "--class-error", "yes", "-o", str(tmp_path / "p"))
    assert done.exit_code == 2 and not (tmp_path / "p").exists()
    many = AssignmentInstance(np.random.default_rng(0).uniform(0.6, 0.9, (1, 30)), [0] * 9, [9] * 30, 0.1)
    with pytest.raises(InputError, match="plan with fewer judges"):
        assign(many, adaptive=True, class_error={"0": 0.1})


FORGED = {
    "a limit that is not kept": lambda claims: claims["class_error"].update({"yes=1": 0.02}),
    "a smaller share": lambda claims: claims["missed"].update({"yes=1": 0.01}),
    "a dearer class": lambda claims: claims["class_dual"].update({"yes=1": 2 * claims["class_dual"]["yes=1"]}),
    "a class too many": lambda claims: claims["missed"].update({"perhaps": 0.0}),
    "no limits": lambda claims: [claims.pop(name) for name in ("class_error", "class_dual")],
    "without measure": lambda claims: claims["class_dual"].update({"yes=1": 1e300}),
    "no shares": lambda claims: claims.pop("missed"),
}
UNREADABLE = {
    "below 0": {"class_dual": {"yes=1": -1.0}},
    "no limit": {"class_error": {"yes=1": 0.0}},
    "another class": {"class_error": {"perhaps": 0.1}},
    "none of its own": {"class_dual": {}},
    "no table": {"class_error": [0.1]},
}


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    place = tmp_path_factory.mktemp("classes")
    write_campaign(replace(NAMED, capacity=np.array([20, 24, 24, 24])), place / "c")
    assert assign(place / "c", adaptive=True, class_error={"yes=1": 0.04}, output=place / "p").proven
    return place


@pytest.mark.parametrize("what", [*FORGED, *UNREADABLE])
def test_forged_claims_are_refused(what, planned):
    """As other multipliers and figures are."""
    path = planned / "p" / "plan.json"
    honest = path.read_text(encoding="utf-8")
    claims = json.loads(honest)
    if what in FORGED:
        FORGED[what](claims)
    else:
        claims |= UNREADABLE[what]
    path.write_text(json.dumps(claims), encoding="utf-8")
    try:
        if what in UNREADABLE:
            with pytest.raises(InputError, match="class_"):
                verify(planned / "c", planned / "p")
            return
        report = verify(planned / "c", planned / "p")
        assert not report.holds and not report.proven
    finally:
        path.write_text(honest, encoding="utf-8")
