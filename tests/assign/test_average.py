"""A promise for the average: the bars of the specification, every plan of small campaigns, and what prices prove."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import (
    AssignmentInstance,
    InputError,
    Options,
    Status,
    recipe,
    solve,
    solve_program,
    verify,
    write_campaign,
    write_plan,
)
from crowdopt.assign.average import Averaging
from crowdopt.assign.choose import Chooser
from crowdopt.assign.master import Master
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.problem import SCALE
from crowdopt.core.certificate import Certificate
from crowdopt.core.clock import Clock
from crowdopt.crowd.instance import UNLIMITED
from crowdopt.crowd.vote_errors import broken
from crowdopt.recheck.bounds import JointPull, prove_sets
from tests.assign.by_hand import sets_of
from tests.sampled import first_of
from tests.small import brute_force
from tests.weighted import weighted_error

NEAR = 1e-9


def crowd(tasks, pools, capacity, epsilon, rule="mean-error"):
    """Tasks of one type, pools of (skill, workers)."""
    skills = np.concatenate([np.full(count, skill) for skill, count in pools])
    return AssignmentInstance(
        skills[None], np.zeros(tasks, np.int64), np.full(skills.size, capacity), epsilon, rule=rule
    )


def drawn(seed: int) -> AssignmentInstance:
    """A few tasks of some kinds, workers of few skills, priors and prices, room to spare or not."""
    rng = np.random.default_rng(seed)
    n, m, kinds = int(rng.integers(1, 4)), int(rng.integers(1, 5)), int(rng.integers(1, 3))
    share = float(rng.choice([0.5, 0.5, 0.3, 0.8]))
    fewest = rng.integers(0, 2, n) * int(rng.random() < 0.3)
    return AssignmentInstance(
        accuracy=rng.choice([0.6, 0.7, 0.9, 0.3, 0.5, 0.8], (kinds, m)),
        task_type=rng.integers(0, kinds, n),
        capacity=rng.integers(0, n + 1, m),
        epsilon=rng.choice([0.1, 0.2, 0.3, 0.35], n),
        rule="mean-error",
        cost=rng.integers(1, 4, m).astype(float) if rng.random() < 0.4 else 1.0,
        prior=[1 - share, share],
        min_labels=fewest,
        max_labels=np.where(rng.random(n) < 0.3, fewest + 2, UNLIMITED),
        budget=float(rng.integers(1, 12)) if rng.random() < 0.2 else None,
    )


@pytest.mark.parametrize("seed", first_of(range(60), 12))
def test_it_is_the_cheapest_of_all_plans_and_says_so(seed, tmp_path):
    """Against every set of pairs; the folder alone holds."""
    instance = drawn(seed)
    plan, best = solve(instance, gap=0.0), brute_force(instance)
    assert plan.found == (best is not None)
    assert plan.proven or not plan.found
    if best is not None:
        assert plan.objective == pytest.approx(best) and plan.certified_bound <= best + NEAR
    else:
        assert plan.status is Status.INFEASIBLE
    write_campaign(instance, tmp_path / "c")
    write_plan(plan, tmp_path / "p")
    report = verify(tmp_path / "c", tmp_path / "p")
    assert report.holds, report.problems


@pytest.mark.parametrize(
    ("pools", "capacity", "epsilon", "each", "mean"),
    [
        ([(0.7, 150), (0.5, 150)], 400, 0.1, 9000, 8914),
        ([(0.7, 150), (0.5, 150)], 400, 0.05, 17000, 15004),
        ([(0.85, 90), (0.65, 210)], 100, 0.05, 5000, 3630),
    ],
)
def test_the_true_minimum_of_a_thousand_tasks(pools, capacity, epsilon, each, mean) -> None:
    """Spec: 9, 17 and 5 labels a task, where hoeffding buys 29, 38 and 13; on average still fewer."""
    instance = crowd(1000, pools, capacity, epsilon, "exact-error")
    plan = solve(instance, gap=0.0)
    assert plan.proven and plan.proof == "certificate" and plan.objective == each
    average = solve(replace(instance, rule="mean-error"), gap=0.0)
    assert average.proven and average.objective == mean
    assert average.certified_bound >= mean - 1


def test_verify_repeats_the_proof(tmp_path) -> None:
    """The folder alone proves the bound; a higher claim, or a broken average, is caught."""
    instance = crowd(30, [(0.85, 4), (0.65, 12)], 9, 0.2)
    write_campaign(instance, tmp_path / "c")
    plan = solve(instance)
    write_plan(plan, tmp_path / "p")
    report = verify(tmp_path / "c", tmp_path / "p")
    assert report.holds, report.problems
    assert report.certified_bound == pytest.approx(plan.certified_bound) and report.certified_bound > 20
    claims = json.loads((tmp_path / "p" / "plan.json").read_text(encoding="utf-8"))
    for key, value in (("certified_bound", plan.certified_bound + 1), ("wrong_dual", 0)):
        (tmp_path / "p" / "plan.json").write_text(json.dumps({**claims, key: value}), encoding="utf-8")
        assert not verify(tmp_path / "c", tmp_path / "p").holds, key
    (tmp_path / "p" / "plan.json").write_text(json.dumps(claims), encoding="utf-8")
    lines = (tmp_path / "p" / "assignment.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "p" / "assignment.csv").write_text("\n".join(lines[:-4]) + "\n", encoding="utf-8")
    problems = verify(tmp_path / "c", tmp_path / "p").problems
    assert any("errs with probability" in problem for problem in problems)


def test_what_it_cannot_do_it_says() -> None:
    """Each refusal names the remedy."""
    with pytest.raises(InputError, match="plans task by task; use exact"):
        solve(replace(recipe("R1:40x60"), rule="mean-error"), "highs")
    with pytest.raises(InputError, match="knows no minimum loads; choose rule exact-error"):
        solve(replace(crowd(2, [(0.7, 3)], 2, 0.3), min_load=1))


@pytest.mark.parametrize("limit", [0.001, 0.01, 0.03, 0.1])
def test_however_little_time_there_is_the_plan_is_honest(limit, tmp_path) -> None:
    """Time may end before the first set, or before any bound worth a word."""
    instance = replace(recipe("R10:40x30"), rule="mean-error").with_epsilon(0.1)
    plan = solve(instance, time_limit=limit)
    assert plan.found
    write_campaign(instance, tmp_path / "c")
    write_plan(plan, tmp_path / "p")
    assert not verify(tmp_path / "c", tmp_path / "p").problems


def test_a_task_short_of_labels_breaks_no_average() -> None:
    """Errors of .1 keep an average of .15, whichever task lacks a label and whatever a task's own target is."""
    instance = replace(crowd(3, [(0.9, 3)], 3, 0.15), min_labels=[2, 0, 0], epsilon=np.array([0.2, 0.05, 0.2]))
    assert broken(instance, np.array([[0, 0], [1, 1], [2, 2]]), short=[0]) == ""
    assert "task 1 errs" in broken(replace(instance, rule="exact-error"), np.array([[0, 0], [1, 1], [2, 2]]), short=[0])


def test_no_plan_is_proven() -> None:
    """Too little room for the labels that the average needs: the bound is more than every worker could be paid."""
    plan = solve(crowd(10, [(0.7, 12)], 4, 0.1), require="served")
    assert not plan.found and plan.proven and plan.proof == "certificate"


@pytest.mark.parametrize("price", [(1.8, 0.2), (0.2, 1.8), (1.0, 1.0)])
def test_a_bound_above_what_all_labels_cost_leaves_no_plan(price):
    """Both of two workers have to label and err more than the target together: prices go up until that is proven."""
    skills, cost = np.array([[0.3, 0.6]]), np.array(price)
    instance = AssignmentInstance(
        skills, np.zeros(1, np.int64), 1, 0.39, cost=cost, classes=3, min_labels=2, rule="mean-error"
    )
    assert solve(instance).status is Status.INFEASIBLE
    allowed = replace(instance, epsilon=np.full(1, 0.41))
    assert solve(allowed).objective == pytest.approx(2.0)


def test_nothing_is_claimed_where_choices_were_left_out():
    """Branch and bound over some sets, or with a row of errors that was tightened, says nothing of other plans."""
    instance = crowd(6, [(0.9, 2), (0.7, 3)], 4, 0.15)
    options, told = Options(), []
    work = Averaging(instance, float(instance.epsilon.sum()), solve_program, options, Clock(20.0), told.append)
    climb = work.climbed()
    chooser = Chooser(Master(work.pool, climb.short), work.oracle, work.clock, work.rng, solve_program, options)
    every = chooser.best(work.pool.cost.size, work.duals)[0]
    assert every.bound == pytest.approx(solve(instance, gap=0.0).objective, rel=1e-6)
    assert chooser.best(2, work.duals)[0].bound == -np.inf
    assert chooser.best(work.pool.cost.size, work.duals, np.inf, 0.1)[0].bound == -np.inf


def one_task(skill, cost=1.0, epsilon=0.05, **more) -> AssignmentInstance:
    """One task, each worker with room for it."""
    skills = np.asarray(skill, dtype=float)[None]
    room = np.ones(skills.size, np.int64)
    return AssignmentInstance(skills, np.zeros(1, np.int64), room, epsilon, rule="mean-error", cost=cost, **more)


EXPERT = one_task(np.append(0.96, np.linspace(0.700, 0.708, 17)), np.append(30.0, np.ones(17)))


def test_many_cheap_labels_beat_an_expert():
    """Fifteen labels for 1 each do what an expert does for 30; the best fourteen err too much, so fifteen is least."""
    assert weighted_error(np.linspace(0.700, 0.708, 17)[3:]) > 0.05 >= weighted_error(np.linspace(0.700, 0.708, 17)[2:])
    for instance in (EXPERT, replace(EXPERT, rule="exact-error")):
        plan = solve(instance, time_limit=20)
        assert plan.objective == 15 and plan.bound <= 15 and plan.proof == "certificate"
    assert solve(one_task(np.full(13, 0.9), min_labels=13), time_limit=20).objective == 13  # no fewer are tried


def test_a_dear_expert_is_not_called_optimal(tmp_path):
    """The folder of a plan that pays the expert 30 and says that no plan costs less is refused."""
    instance = replace(EXPERT, rule="exact-error")
    known = Certificate(None, 30.0, "certificate", None, None)
    duals = Duals(np.zeros(1), np.zeros(18), np.zeros(1))
    plan = Plan.of(instance, "ip", known, 30.0, duals, np.array([[0, 0]]), method="exact", backend="highs")
    write_campaign(instance, tmp_path / "campaign")
    write_plan(plan, tmp_path / "plan")
    said = json.loads((tmp_path / "plan" / "plan.json").read_text(encoding="utf-8"))
    assert said["objective"] == 30 and said["proven"]
    report = verify(tmp_path / "campaign", tmp_path / "plan")
    assert not report.holds and not report.proven and report.certified_bound <= 15


def priced(seed: int) -> tuple[AssignmentInstance, np.ndarray, float]:
    """One task of up to eight workers, alike or not, dear or cheap, limits on labels or none; any prices."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 9))
    skills = (
        rng.uniform(0.5, 0.99, m),
        rng.uniform(0.68, 0.72, m),
        rng.choice([0.6, 0.65, 0.7, 0.9, 0.96, 0.3], m),
        np.where(rng.random(m) < 0.2, rng.uniform(0.85, 0.97, m), rng.uniform(0.6, 0.7, m)),
    )
    prices = np.ones(m), rng.integers(1, 9, m).astype(float), rng.uniform(0.1, 3, m)
    fewest = int(rng.integers(0, m + 1)) if rng.random() < 0.3 else 0
    most = {"max_labels": int(rng.integers(max(1, fewest), m + 1))} if rng.random() < 0.3 else {}
    share, target = float(rng.choice([0.5, 0.5, 0.3])), float(rng.choice([0.02, 0.05, 0.1, 0.2]))
    instance = one_task(
        skills[rng.integers(4)], prices[rng.integers(3)], target, prior=[1 - share, share], min_labels=fewest, **most
    )
    worker = rng.random(m) * float(rng.random() < 0.3)
    return instance, worker, float(rng.choice([5, 20, 100]))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_both_proofs_are_below_every_set(seed):
    """By every set of up to eight workers: the method's search and the second opinion's say the least, and no more."""
    instance, worker, wrong = priced(seed)
    labels, errors, serves = sets_of(instance, 0)
    all_prices = labels @ (instance.cost[0] + worker) + wrong * errors
    fixed = -float(worker.sum()) - wrong * float(instance.epsilon[0])  # one task: each worker has room for it alone
    best = float(all_prices[serves].min(initial=np.inf)) + fixed
    work = Averaging(instance, float(instance.epsilon.sum()), solve_program, Options(), Clock(60.0), lambda _: None)
    coupling = work.problem.coupling
    of_class = np.zeros(coupling.loads)
    np.maximum.at(of_class, work.problem.worker_class, worker)  # of workers alike the dearest, which only lowers it
    paid = of_class[work.problem.worker_class]
    work.duals = np.append(-of_class, -wrong / SCALE)
    proven, duals = work.proven()
    if (paid == worker).all():
        assert proven == pytest.approx(best, rel=1e-6, abs=1e-6)
    again = prove_sets(instance, -worker, 0.0, JointPull.none(instance), -wrong)
    assert again <= best + NEAR and again == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert proven <= prove_sets(instance, duals.worker, 0.0, JointPull.none(instance), duals.wrong) + NEAR
