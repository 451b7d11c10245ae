"""A promise for the average: the bars of the specification, every plan of small campaigns, and what prices prove."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, Options, Status, recipe, solve, solve_program
from crowdopt.assign.average import Averaging
from crowdopt.assign.choose import Chooser
from crowdopt.assign.master import Master
from crowdopt.assign.plan import Duals, Plan
from crowdopt.assign.problem import SCALE
from crowdopt.core.certificate import Certificate
from crowdopt.core.clock import Clock
from crowdopt.crowd.vote_errors import broken
from crowdopt.recheck.bounds import JointPull, prove_sets
from tests.assign.by_hand import report_on, sets_of
from tests.checkers.plans import least_cost
from tests.draw import campaigns
from tests.recheck.forged import Forged, made
from tests.sampled import first_of
from tests.weighted import weighted_error

NEAR = 1e-9
WISHES = ("least-labels", "most-labels", "budget", "prior", "prices", "prices-by-type", "forbidden", "collected")


def crowd(tasks, pools, capacity, epsilon, rule="mean-error"):
    """Tasks of one type, pools of (skill, workers)."""
    skills = np.concatenate([np.full(count, skill) for skill, count in pools])
    return AssignmentInstance(
        skills[None], np.zeros(tasks, np.int64), np.full(skills.size, capacity), epsilon, rule=rule
    )


@settings(max_examples=10)
@given(campaigns(12, ["mean-error"], WISHES))
def test_it_is_the_cheapest_of_all_plans_and_says_so(tmp_path_factory, instance):
    """Against every set of pairs; the folder alone holds."""
    plan, best = solve(instance, gap=0.0), least_cost(instance)
    assert plan.found == np.isfinite(best) == (plan.status is not Status.INFEASIBLE)
    if plan.found:
        assert plan.proven and plan.objective == pytest.approx(best) and plan.certified_bound <= best + NEAR
    report = report_on(instance, plan, tmp_path_factory.mktemp("mean"))
    assert report.holds, report.problems


@pytest.mark.parametrize(
    ("pools", "capacity", "epsilon", "each", "mean"),
    first_of(
        [
            ([(0.7, 150), (0.5, 150)], 400, 0.05, 17000, 15004),
            ([(0.7, 150), (0.5, 150)], 400, 0.1, 9000, 8914),
            ([(0.85, 90), (0.65, 210)], 100, 0.05, 5000, 3630),
        ]
    ),
)
def test_the_true_minimum_of_a_thousand_tasks(pools, capacity, epsilon, each, mean) -> None:
    """Spec: 17, 9 and 5 labels a task, where hoeffding buys 38, 29 and 13; on average still fewer."""
    instance = crowd(1000, pools, capacity, epsilon, "exact-error")
    plan = solve(instance, gap=0.0)
    assert plan.proven and plan.proof == "certificate" and plan.objective == each
    average = solve(replace(instance, rule="mean-error"), gap=0.0)
    assert average.proven and average.objective == mean
    assert average.certified_bound >= mean - 1


def test_verify_repeats_the_proof(tmp_path) -> None:
    """The folder alone proves the bound; a higher claim, or a broken average, is caught."""
    instance = crowd(30, [(0.85, 4), (0.65, 12)], 9, 0.2)
    plan = solve(instance)
    folder = made(tmp_path, instance, plan)
    report = Forged(folder, tmp_path / "honest").report()
    assert report.certified_bound == pytest.approx(plan.certified_bound) and report.certified_bound > 20
    for key, value in (("certified_bound", plan.certified_bound + 1), ("wrong_dual", 0)):
        assert Forged(folder, tmp_path / key).says(**{key: value}).problems()
    cut = Forged(folder, tmp_path / "cut").changed("assignment", lambda rows: rows.__delitem__(slice(-4, None)))
    assert any("errs with probability" in problem for problem in cut.problems())


def test_what_it_cannot_do_it_says() -> None:
    """Each refusal names the remedy."""
    with pytest.raises(InputError, match="plans task by task; use exact"):
        solve(replace(recipe("R1:40x60"), rule="mean-error"), "highs")
    with pytest.raises(InputError, match="knows no minimum loads; choose rule exact-error"):
        solve(replace(crowd(2, [(0.7, 3)], 2, 0.3), min_load=1))


@pytest.mark.parametrize("limit", [0.001, 0.03])
def test_however_little_time_there_is_the_plan_is_honest(limit, tmp_path) -> None:
    """Time may end before the first set, or before any bound worth a word."""
    instance = replace(recipe("R10:40x30"), rule="mean-error").with_epsilon(0.1)
    plan = solve(instance, time_limit=limit)
    assert plan.found and not report_on(instance, plan, tmp_path).problems


def test_a_task_short_of_labels_breaks_no_average() -> None:
    """Errors of .1 keep an average of .15, whichever task lacks a label and whatever a task's own target is."""
    instance = replace(crowd(3, [(0.9, 3)], 3, 0.15), min_labels=[2, 0, 0], epsilon=np.array([0.2, 0.05, 0.2]))
    assert broken(instance, np.array([[0, 0], [1, 1], [2, 2]]), short=[0]) == ""
    assert "task 1 errs" in broken(replace(instance, rule="exact-error"), np.array([[0, 0], [1, 1], [2, 2]]), short=[0])


def test_no_plan_is_proven() -> None:
    """Too little room for the labels that the average needs: the bound is more than every worker could be paid."""
    plan = solve(crowd(10, [(0.7, 12)], 4, 0.1), require="served")
    assert not plan.found and plan.proven and plan.proof == "certificate"


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
    return AssignmentInstance(skills, [0], np.ones(skills.size, int), epsilon, cost=cost, rule="mean-error", **more)


def test_many_cheap_labels_beat_an_expert(tmp_path):
    """Fifteen labels for 1 each do what an expert does for 30; the best fourteen err too much, so fifteen is least.

    The folder of a plan that pays the expert 30 and says that no plan costs less is refused.
    """
    cheap = np.linspace(0.700, 0.708, 17)
    expert = one_task(np.append(0.96, cheap), np.append(30.0, np.ones(17)))
    assert weighted_error(cheap[3:]) > 0.05 >= weighted_error(cheap[2:])
    each = replace(expert, rule="exact-error")
    for instance in (expert, each):
        plan = solve(instance, time_limit=20)
        assert plan.objective == 15 and plan.bound <= 15 and plan.proof == "certificate"
    assert solve(one_task(np.full(13, 0.9), min_labels=13), time_limit=20).objective == 13  # no fewer are tried
    known, duals = Certificate(None, 30.0, "certificate", None, None), Duals(np.zeros(1), np.zeros(18), np.zeros(1))
    dear = Plan.of(each, "ip", known, 30.0, duals, np.array([[0, 0]]), method="exact", backend="highs")
    report = report_on(each, dear, tmp_path)
    assert dear.proven and not report.holds and not report.proven and report.certified_bound <= 15


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


@settings(max_examples=20)
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
