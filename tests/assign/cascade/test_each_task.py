"""Sets asked at once, each of which keeps its task's target: whole tasks, against a program over sets written apart."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks.cascade import panel
from crowdopt import AssignmentInstance, InputError, assign, verify, write_campaign
from crowdopt.cli import main
from crowdopt.crowd.vote_errors import likeliest_errors
from crowdopt.io.campaign.campaign_reading import read_with_labels
from tests.assign.cascade.small_panels import drawn, joint
from tests.sampled import first_of

TERMS = {"adaptive": True, "rounds": 1, "each_task": True}


def set_error(one: AssignmentInstance, kind: int, judges: tuple[int, ...], had: dict[int, int] | None = None) -> float:
    """Error of the likeliest class after these judges' votes, before they are seen; had: labels that are in."""
    start = [(had or {}).get(judge, -1) for judge in range(one.n_workers)]
    wrong = 0.0
    for said in product(range(int(one.classes)), repeat=len(judges)):
        votes = list(start)
        for judge, label in zip(judges, said, strict=True):
            votes[judge] = label
        law = joint(one, kind, tuple(votes))
        wrong += law.sum() - law.max()
    return float(wrong / joint(one, kind, tuple(start)).sum())


def least_of_sets(one: AssignmentInstance, times: float = 1.0) -> float:
    """The cheapest whole numbers of tasks with sets that each keep the target; inf where there are none."""
    cost, rows, kinds = [], [], []
    for kind in range(one.n_types):
        most = int(min(one.max_labels[one.task_type == kind][0], one.n_workers))
        for size in range(most + 1):
            for judges in combinations(range(one.n_workers), size):
                if set_error(one, kind, judges) <= times * one.epsilon[0] * (1 + 1e-9):
                    cost.append(sum(one.cost[kind, judge] for judge in judges))
                    rows.append(np.isin(np.arange(one.n_workers), judges))
                    kinds.append(np.arange(one.n_types) == kind)
    count = np.bincount(one.task_type, minlength=one.n_types)
    if not cost or not np.any(kinds, axis=0).all():
        return np.inf
    limits = [LinearConstraint(np.array(rows, float).T, -np.inf, one.capacity)]
    limits.append(LinearConstraint(np.array(kinds, float).T, count, count))
    if one.budget is not None:
        limits.append(LinearConstraint(np.array([cost]), -np.inf, one.budget))
    found = milp(np.array(cost, float), constraints=limits, integrality=np.ones(len(cost)), bounds=Bounds(0, np.inf))
    return float(found.fun) if found.success else np.inf


def sets_of(plan) -> list[tuple[int, ...]]:
    """The workers that the first round asks about each task."""
    return [tuple(plan.pairs[plan.pairs[:, 0] == i, 1].tolist()) for i in range(plan.instance.n_tasks)]


@pytest.mark.parametrize("seed", first_of(range(50), 12))
def test_it_is_the_least_of_all_sets_and_each_task_keeps_its_target(seed):
    """Hard tasks, confusion tables, three classes, priors, money; out of reach: the least multiple of the targets."""
    one = replace(drawn(seed), rule="exact-error") if drawn(seed).confusion is None else drawn(seed)
    plan, least = assign(one, **TERMS), least_of_sets(one)
    if plan.objective is None:
        assert not np.isfinite(least_of_sets(one, 0.5 / one.epsilon[0]))
        return
    report = verify(one, plan)
    assert report.holds and report.each_task and report.proven == plan.proven, report.problems
    target = plan.times * one.epsilon[0] * (1 + 1e-8)
    for i, judges in enumerate(sets_of(plan)):
        assert set_error(one, int(one.task_type[i]), judges) <= target
    assert np.isfinite(least) == plan.found
    assert plan.objective == pytest.approx(least_of_sets(one, plan.times * (1 + 1e-9)), rel=1e-7, abs=1e-7)
    assert plan.bound <= plan.objective * (1 + 1e-9) + 1e-9
    if not plan.found:
        assert not np.isfinite(least_of_sets(one, 1 + 0.999 * (plan.times - 1)))


def run(*words: str):
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def test_tasks_that_have_labels_get_sets_that_keep_the_target_given_these(tmp_path):
    """After a round of one vote each: sets by where a task stands."""
    skills = [[0.95, 0.9, 0.8, 0.7], [0.99, 0.88, 0.8, 0.8]]
    one = AssignmentInstance(
        skills, [0] * 15 + [1] * 15, [20, 30, 30, 30], 0.04, cost=[3, 1, 0.4, 0.2], rule="exact-error"
    )
    here = tmp_path / "campaign"
    write_campaign(one, here)
    run("solve", str(here), "--adaptive", "-o", str(tmp_path / "p"))
    run("rehearse", str(here), str(tmp_path / "p"), "--seed", "3", "-o", str(tmp_path / "labels.csv"))
    words = ["--plan", str(tmp_path / "p"), "--campaign", str(here), "-o", str(tmp_path / "a")]
    run("aggregate", str(tmp_path / "labels.csv"), *words)
    onward = tmp_path / "a" / "campaign"
    plan = assign(onward, epsilon=0.1, output=tmp_path / "q", **TERMS)
    assert plan.found and verify(onward, tmp_path / "q").holds
    known = read_with_labels(onward)
    had = [dict[int, int]() for _ in range(one.n_tasks)]
    for (i, j), label in zip(known.instance.collected.tolist(), known.indices().tolist(), strict=True):
        had[i][j] = label
    assert any(had) and len(set(sets_of(plan))) > 1
    for i, judges in enumerate(sets_of(plan)):
        assert set_error(one, int(one.task_type[i]), judges, had[i]) <= 0.1 * (1 + 1e-8)


@pytest.mark.parametrize("seed", first_of(range(10), 1))
def test_sets_keep_each_tasks_target_by_a_law_learned_from_gold_votes(seed, tmp_path):
    """Families of two who repeat each other: independent sets err more than the target by it, these do not."""
    rng, here = np.random.default_rng(seed), tmp_path / "campaign"
    one = AssignmentInstance([[0.85] * 6], [0] * 60, [60] * 6, 0.1, cost=[3, 2, 1, 1, 0.5, 0.4], rule="exact-error")
    write_campaign(one, here)
    rows = ["item,worker,label,truth"]
    for item in range(200):
        truth, right = rng.integers(2), rng.random(6) < 0.85
        right[1::2] = np.where(rng.random(3) < 0.8, right[::2], right[1::2])
        rows += [f"{item},{one.worker_id(j)},{truth if ok else 1 - truth},{truth}" for j, ok in enumerate(right)]
    (here / "gold_votes.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for name in ("skills.csv", "gold.csv"):
        (here / name).unlink(missing_ok=True)
    plan = assign(here, output=tmp_path / "plan", **TERMS)
    assert plan.instance.vote_law is not None and plan.found and verify(here, tmp_path / "plan").holds
    errors = likeliest_errors(plan.instance, plan.pairs)
    assert errors is not None and errors.max() <= 0.1 * (1 + 1e-8)
    mean = assign(here, adaptive=True, rounds=1)
    spread = likeliest_errors(mean.instance, mean.pairs)
    assert mean.objective <= plan.objective and spread is not None and spread.mean() < spread.max()
    assert plan.bound <= plan.objective <= 1.1 * plan.bound


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Campaign and plan of the page's panel."""
    place = tmp_path_factory.mktemp("panel")
    plan = assign(panel(place / "judges"), **TERMS, output=place / "plan")
    assert plan.proven and plan.objective == pytest.approx(608)
    return place / "judges", place / "plan"


ROW = "facts,0,,ask,medium small tiny,1.0,160.0\n"
THIRD = ROW.replace("1.0,160.0", "0.33,52.8") + ROW.replace("1.0,160.0", "0.67,107.2")
SURE = "facts,1,medium=1 small=1 tiny=1,answer,1"
FORGED = {
    "a third of the tasks": ("policy.csv", lambda text: text.replace(ROW, THIRD), "not whole"),
    "a set too small": ("policy.csv", lambda text: text.replace(ROW, ROW + "facts,0,,ask,tiny,0.0,0.0\n"), "errs more"),
    "the other class": ("policy.csv", lambda text: text.replace(SURE, SURE[:-1] + "0"), "errs more"),
    "a task without its set": (
        "assignment.csv",
        lambda text: re.sub(r"\nitem-1,.*", "", text),
        "where the policy asks",
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_claim_that_the_policy_does_not_keep_is_refused(what, made, tmp_path):
    """Shares of tasks and unlikely answers; sets are kept exactly, where shares of others are up to a task."""
    (here, plan), (name, change, problem) = made, FORGED[what]
    shutil.copytree(plan, tmp_path / "plan")
    path = tmp_path / "plan" / name
    text = path.read_text(encoding="utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")
    assert any(problem in one for one in verify(here, tmp_path / "plan").problems)


@pytest.mark.parametrize(("rounds", "problem"), [(1, "not whole"), (2, "one round")])
def test_a_plan_of_another_promise_does_not_keep_this_one(rounds, problem, made, tmp_path):
    """Of the mean, or of two rounds; what is no truth value is refused; without the claim multipliers prove less."""
    assign(made[0], adaptive=True, rounds=rounds, output=tmp_path / "plan")
    path = tmp_path / "plan" / "plan.json"
    said = json.loads(path.read_text())
    path.write_text(json.dumps(said | {"each_task": True}), encoding="utf-8")
    assert any(problem in one for one in verify(made[0], tmp_path / "plan").problems)
    path.write_text(json.dumps(said | {"each_task": 1}), encoding="utf-8")
    with pytest.raises(InputError, match="each_task"):
        verify(made[0], tmp_path / "plan")
    if rounds == 1:
        claims = json.loads((made[1] / "plan.json").read_text())
        shutil.copytree(made[1], tmp_path / "less")
        (tmp_path / "less" / "plan.json").write_text(json.dumps({k: v for k, v in claims.items() if k != "each_task"}))
        report = verify(made[0], tmp_path / "less")
        assert not report.holds and report.certified_bound < 604


def test_where_it_says_nothing_it_is_refused():
    """More rounds, an expert, limits given the votes or by class, a mean of all tasks, fixed sets."""
    one = drawn(0, judges=3)
    for terms in ({}, {"rounds": 2}, {"rounds": 1, "expert": 9.0}, {"rounds": 1, "given_votes": True}):
        with pytest.raises(InputError, match="each_task"):
            assign(one, adaptive=True, each_task=True, **terms)
    with pytest.raises(InputError, match="mean"):
        assign(AssignmentInstance([[0.9, 0.8]], [0, 0], [2, 2], 0.2, rule="mean-error"), **TERMS)
    with pytest.raises(InputError, match="belong to an adaptive plan"):
        assign(one, each_task=True)
