"""The cheapest adaptive plan by each promise: against a program over histories, as simulated, and round by round."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import crowdopt
from crowdopt import Adaptive, AssignmentInstance, InputError, solve, verify, write_campaign
from crowdopt.assign.cascade.cheapest_policy import onward_targets
from crowdopt.assign.cascade.panels import vote_panel
from tests.assign.cascade.panels import EXPERT, chances, drawn, least_by_histories, limited
from tests.chance import between, most, seeds
from tests.chance import rng as drawing
from tests.recheck.forged import Forged, made
from tests.sampled import first_of


def terms_of(one: AssignmentInstance, promise: str, seed: int) -> tuple[dict, dict]:
    """What solve takes, and what the program over histories does: limits of one class or of several."""
    if promise != "by class":
        return ({"given_votes": True},) * 2 if promise == "given votes" else ({}, {})
    rng = np.random.default_rng([seed, 9])
    share = float(one.epsilon[0]) * rng.uniform(0.3, 1.2, int(one.classes))
    share[1:][rng.random(share.size - 1) < 0.4] = np.inf
    named = {str(k): some for k, some in enumerate(share.tolist()) if np.isfinite(some)}
    return {"class_error": named}, {"class_error": tuple(share.tolist())}


@pytest.mark.parametrize("promise", ["mean", "given votes", "by class"])
@pytest.mark.parametrize("draw", [drawn, limited])
@pytest.mark.parametrize("seed", first_of(range(30), 6))
def test_it_is_the_least_of_all_policies(seed, draw, promise):
    """By a program over histories; where nothing keeps the limits all grow by one multiple; ``verify`` agrees."""
    one, expert = draw(seed), EXPERT if seed % 3 == 0 else None
    terms, same = terms_of(one, promise, seed)
    plan, least = solve(one, method=Adaptive(expert=expert, **terms)), partial(least_by_histories, one, expert, **same)
    report = verify(one, plan) if plan.objective is not None else None
    assert report is None or report.holds, report.problems
    assert report is None or report.given_votes == (promise == "given votes")
    for got, share in zip(plan.missed, same.get("class_error", ()), strict=False):
        assert got <= plan.times * share * (1 + 1e-7) + 1e-12
    if np.isfinite(least()):
        assert plan.proven and report.proven and plan.objective == pytest.approx(least(), rel=1e-7, abs=1e-7)
        return
    assert not plan.found
    assert solve(one, method=Adaptive(expert=expert, **terms), require="served").bound == np.inf
    if draw is drawn and plan.objective is not None:  # nothing must be had, so the least multiple is the targets' own
        assert plan.times > 1 and not np.isfinite(least(times=1 + 0.999 * (plan.times - 1)))
        assert least(times=plan.times * (1 + 1e-6)) <= plan.objective * (1 + 1e-6)


@pytest.mark.parametrize(("seed", "given_votes"), [(0, False), (1, True), (2, False)])
def test_more_rounds_cost_no_more_and_all_of_them_cost_what_one_by_one_does(seed, given_votes):
    """One round is fixed sets; as many rounds as judges are votes one by one."""
    one, costs = replace(drawn(seed, judges=3), budget=None), []
    for rounds in (1, 2, 3, None):
        plan = solve(one, method=Adaptive(rounds=rounds, expert=EXPERT, given_votes=given_votes))
        assert plan.proven and verify(one, plan).proven
        costs.append(plan.objective)
    assert costs == pytest.approx(sorted(costs, reverse=True)) and costs[2] == pytest.approx(costs[3])


@pytest.mark.parametrize("seed", range(2))
def test_workers_alike_cost_what_they_cost_one_by_one(seed):
    """Counts of votes are states enough: skills that differ by nothing that matters make each worker an asker."""
    skill = np.repeat(np.random.default_rng(seed).uniform(0.6, 0.9, 2), 2)
    one = AssignmentInstance([skill], [0] * 20, np.full(4, 14), 0.15)
    apart = replace(one, accuracy=[skill + np.array([0, 1e-9, 0, 1e-9])])
    for rounds in (1, 2, None):
        together, each = (solve(which, method=Adaptive(rounds=rounds, expert=EXPERT)) for which in (one, apart))
        assert len(together.askers.names) == 2 and len(each.askers.names) == 4
        assert together.objective == pytest.approx(each.objective, rel=1e-6) and verify(one, together).proven


@pytest.mark.chance
@pytest.mark.parametrize("promise", ["mean", "by class"])
@pytest.mark.parametrize("panels", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_tasks_that_follow_next_err_and_ask_as_often_as_their_plan_says(panels, promise):
    """4,000 tasks of each panel, labels by the instance's own law: errors, classes missed, loads; lots included."""
    for seed in seeds(panels):
        one, trials = drawn(seed), 4_000
        terms = terms_of(one, promise, seed)[0]
        plan = solve(one, method=Adaptive(expert=EXPERT if seed % 3 == 0 else None, **terms))
        rng, every = drawing(seed, 40), np.arange(one.n_workers)
        wrong, load = np.zeros((one.n_types, int(one.classes))), np.zeros(one.n_workers, np.int64)
        for task in rng.integers(one.n_tasks, size=trials).tolist() if plan.objective is not None else ():
            kind, truth, votes = int(one.task_type[task]), int(rng.choice(int(one.classes), p=one.prior)), {}
            parts = chances(one, kind, truth)
            heads = np.cumsum(parts[rng.choice(len(parts), p=[share for share, _ in parts])][1], axis=1)
            said = (rng.random(one.n_workers)[:, None] >= heads[:, :-1]).sum(axis=1)
            action, what = plan.next(votes, task=str(task))
            while action == "ask":
                load[every[int(what[0])]] += 1
                votes[what[0]] = str(said[int(what[0])])
                action, what = plan.next(votes, task=str(task))
            wrong[kind, truth] += action == "answer" and what != (str(truth),)
        share = np.bincount(plan.askers.kind) / one.n_tasks
        assert (wrong.sum(axis=1) <= [most(trials, float(rate) + 1e-12) for rate in share * plan.errors]).all(), seed
        missed = np.array(plan.missed or np.ones(int(one.classes))) * one.prior
        assert (wrong.sum(axis=0) <= [most(trials, float(min(rate, 0.99)) + 1e-12) for rate in missed]).all(), seed
        asked = np.zeros(one.n_workers)
        asked[[int(some[0]) for some in plan.askers.workers]] = plan.loads / one.n_tasks
        low, high = between(trials, np.clip(asked, 0, 1))
        assert plan.objective is None or ((low <= load) & (load <= high)).all(), seed


@pytest.mark.parametrize(("seed", "rounds"), [(0, None), (1, 2), (2, None), (3, 2)])
def test_the_targets_of_the_next_round_are_those_of_this_one_on_average(seed, rounds):
    """Over all ways in which the first votes can fall, errors given them average to the plan's own, class by class."""
    one = drawn(seed, judges=3)
    alike = {"task_type": 0 * one.task_type, "epsilon": np.asarray(0.3), "budget": None, "capacity": [99] * 3}
    one, classes = replace(one, **alike), np.arange(int(one.classes))
    plan = solve(one, method=Adaptive(rounds=rounds, expert=EXPERT, class_error={"0": 0.2}))
    panel, mean = vote_panel(one), np.zeros(classes.size)
    for row in (row for row in plan.rows if row.round == 0 and not row.votes):
        if row.action == "answer":
            mean += row.share * np.where(classes == row.what[0], 0.0, one.prior)
        reached, chances_of = panel.ahead(row.what if row.action == "ask" else (), np.zeros(1, int))
        for after, chance in zip(reached[0].tolist(), chances_of[0].tolist(), strict=True):
            if row.action == "ask" and chance > 0:
                now = replace(panel, standing=np.full(one.n_tasks, after))
                mean += row.share * chance * onward_targets(now, plan.rows, rounds)[1] * now.of_class / one.n_tasks
    assert mean / one.prior == pytest.approx(np.array(plan.missed), abs=1e-7)
    assert mean.sum() == pytest.approx(plan.errors[0], abs=1e-7)


def test_answers_are_the_policys_own_not_the_likeliest(tmp_path):
    """All labels are in and say "a": to miss few of "b" two in five of the items are answered with "b" all the same."""
    items = 30
    one = AssignmentInstance([[0.7]], [0] * items, [items], 0.47, workers=["w"], class_names=["a", "b"])
    write_campaign(
        replace(one, collected=[(i, 0) for i in range(items)]), tmp_path / "c", collected_labels=["a"] * items
    )
    plan = solve(tmp_path / "c", method=Adaptive(class_error={"b": 0.6}), output=tmp_path / "p")
    said = {row.what[0]: row.share for row in plan.rows}
    assert plan.proven and verify(tmp_path / "c", tmp_path / "p").proven and 0.4 - 1e-9 <= said[1] < 0.43
    (tmp_path / "l.csv").write_text("task,worker,label\n")
    answered = crowdopt.aggregate(tmp_path / "l.csv", plan=tmp_path / "p", campaign=tmp_path / "c")
    other = answered.answers.answer == 1
    assert abs(int(other.sum()) - said[1] * items) <= 1
    assert answered.answers.error == pytest.approx(np.where(other, 0.7, 0.3))


CLAIMS = {
    "a limit that is not kept": {"class_error": {"1": 0.02}},
    "a smaller share": {"missed": {"1": 0.01}},
    "a dearer class": {"class_dual": {"1": 1e3}},
    "without measure": {"class_dual": {"1": 1e300}},
    "no limits": {"class_error": None, "class_dual": None},
    "no shares": {"missed": None},
    "unreadable: below 0": {"class_dual": {"1": -1.0}},
    "unreadable: no limit": {"class_error": {"1": 0.0}},
    "unreadable: none of its own": {"class_dual": {}},
    "unreadable: no table": {"class_error": [0.1]},
}


@pytest.fixture(scope="module")
def by_class(tmp_path_factory):
    """Campaign and plan with a limit of one class."""
    one = AssignmentInstance([[0.94, 0.9, 0.76, 0.66]], [0] * 24, [18, 24, 24, 24], 0.08, cost=[3.0, 1.0, 0.4, 0.2])
    plan = solve(one, method=Adaptive(class_error={"1": 0.04}))
    assert plan.proven
    return made(tmp_path_factory.mktemp("classes"), one, plan)


@pytest.mark.parametrize("what", CLAIMS)
def test_forged_claims_of_classes_are_refused(what, by_class, tmp_path):
    """None takes a claim away."""
    forged = Forged(by_class, tmp_path).says(**CLAIMS[what])
    forged.claims = {key: said for key, said in forged.claims.items() if said is not None or key not in CLAIMS[what]}
    problems = forged.problems()
    assert problems and ("unreadable" not in what or "class_" in problems[0])


MANY = AssignmentInstance(np.random.default_rng(0).uniform(0.6, 0.9, (1, 700)), [0] * 9, [9] * 700, 0.1)
MEAN = AssignmentInstance([[0.9, 0.8]], [0, 0], [2, 2], 0.2, rule="mean-error")
REFUSED = [
    (MANY, "adaptive:given-votes", "plan with fewer judges"),
    (MEAN, "adaptive:class-error=maybe=.1", "no class 'maybe'"),
    (MEAN, "adaptive:class-error=0=.1:given-votes", "leave one of them out"),
    (MEAN, "adaptive:class-error=0", "a class and a share"),
    (MEAN, "adaptive:rounds=1:each-task", "mean"),
    (MANY, "adaptive:each-task:rounds=1:expert=9", "each-task"),
    (replace(MEAN, rule="probit"), "adaptive", "promises errors themselves, not rule probit"),
]


@pytest.mark.parametrize(("one", "method", "said"), REFUSED)
def test_where_a_promise_says_nothing_it_is_refused(one, method, said):
    with pytest.raises(InputError, match=said):
        solve(one, method)
