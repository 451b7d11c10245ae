"""What a plan promises is kept, whatever made it; how good it is said to be is so; something legal is handed out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import Adaptive
from crowdopt.crowd.vote_errors import broken
from crowdopt.errors import OwnFault
from tests.checkers.plans import errors, table
from tests.sampled import first_of
from tests.typed import run


def languages(seed):
    """Tasks in languages that only some workers speak: more than 400 tasks have barred pairs."""
    rng = np.random.default_rng(seed)
    n, m, kinds = int(rng.integers(402, 500)), int(rng.integers(6, 15)), int(rng.integers(2, 5))
    skill, speaks = np.round(rng.uniform(0.6, 0.9, (kinds, m)), 2), rng.random((kinds, m)) < 0.6
    speaks[:, :2] = True
    kind, target = rng.integers(0, kinds, n), float(rng.choice([0.1, 0.15]))
    return crowdopt.AssignmentInstance(skill, kind, np.full(m, n), target, forbidden=np.argwhere(~speaks[kind]))


@pytest.mark.parametrize("seed", first_of(range(4)))
def test_plans_of_many_barred_tasks_keep_their_targets(seed):
    instance = languages(seed)
    plan = crowdopt.solve(instance, time_limit=1.0)
    chosen = table(instance, plan.pairs)
    assert not (chosen & table(instance, instance.forbidden)).any()
    served = np.setdiff1d(np.arange(instance.n_tasks), plan.short)
    assert (errors(instance, served, chosen[served]) <= instance.epsilon[served] + 1e-9).all()
    if plan.found:
        assert plan.bound <= plan.objective + 1e-6


def small(**limits):
    return crowdopt.AssignmentInstance(
        [[0.9, 0.8, 0.7, 0.6]], [0, 0, 0], **{"capacity": [3] * 4, "epsilon": 0.12, **limits}
    )


def test_a_plan_that_breaks_its_promise_is_not_handed_out():
    plan = crowdopt.solve(small())
    with pytest.raises(OwnFault, match="fault of crowdopt"):
        plan.held_against(small(budget=1.0))
    false = replace(plan, certificate=replace(plan.certificate, bound=plan.objective + 1))
    with pytest.raises(OwnFault, match="its own multipliers prove"):
        false.held_against(small())


def test_a_fault_of_our_own_is_exit_status_3(tmp_path, monkeypatch):
    from crowdopt.assign.plan import Plan

    def fails(self, stated):
        raise OwnFault("the plan that was found does not hold")

    assert run("init", tmp_path / "birds").exit_code == 0
    monkeypatch.setattr(Plan, "held_against", fails)
    ended = run("solve", tmp_path / "birds", "-o", tmp_path / "plan")
    assert ended.exit_code == 3 and "does not hold" in ended.output
    assert not (tmp_path / "plan").exists()


def test_the_gap_is_a_share_of_the_optimum():
    """A search without a node: whatever its cost and bound, the cost is at most so far above what is least."""
    rng = np.random.default_rng(0)
    cost = np.round(rng.uniform(1, 9, (5, 9)), 3) * 0.002
    skill, kind = rng.uniform(0.6, 0.95, (5, 9)), rng.integers(0, 5, 15)
    instance = crowdopt.AssignmentInstance(skill, kind, np.full(9, 6), 0.1, cost=cost)
    plan = crowdopt.solve(instance, gap=10.0, nodes=1)
    least = crowdopt.solve(instance, gap=0.0, time_limit=3.0)
    assert plan.found and plan.gap == pytest.approx(plan.objective / plan.bound - 1)
    assert plan.objective <= least.objective * (1 + plan.gap) + 1e-9


def test_at_most_is_rounded_up():
    from crowdopt.notebooks import at_most

    assert [at_most(x) for x in (0.0, 0.12341, 0.001, 0.34699)] == ["0 %", "12.4 %", "0.1 %", "34.7 %"]


def test_least_loads_at_prices_are_a_matter_of_who():
    """Papers want three reviewers, reviewers two papers: the price of each pair decides, and a flow knows the least."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(0)
    papers, reviewers = 12, 16
    cost = np.round(rng.uniform(0, 1, (papers, reviewers)), 2)
    three, two = np.full(papers, 3), np.full(reviewers, 2)
    instance = crowdopt.AssignmentInstance(
        *(np.full((papers, reviewers), 0.99), np.arange(papers), 4, 0.4),
        cost=cost,
        min_labels=three,
        max_labels=three,
        min_load=two,
    )
    loads, rows = np.kron(np.ones(papers), np.eye(reviewers)), np.kron(np.eye(papers), np.ones(reviewers))
    both = np.concatenate([loads, -loads]), np.repeat([4.0, -2.0], reviewers)
    least = linprog(cost.ravel(), *both, rows, three, (0, 1))
    plan = crowdopt.solve(instance, time_limit=10.0, gap=0.0)
    assert plan.objective == pytest.approx(least.fun)


@pytest.mark.parametrize("seed", first_of(range(3)))
def test_something_legal_is_handed_out_in_no_time(seed):
    """Groups and shares tie all labels: with hardly any time there are labels all the same, and they keep them."""
    rng = np.random.default_rng(seed)
    n, m = 150, 60
    limits = {"min_per_task": 1}, {"max_per_task": 2}, {"max_share": 0.5}
    groups = [crowdopt.Group("abc"[k], range(20 * k, 20 * k + 20), **limit) for k, limit in enumerate(limits)]
    skill, kind, target = rng.uniform(0.6, 0.95, (3, m)), rng.integers(0, 3, n), rng.uniform(0.05, 0.2, n)
    instance = crowdopt.AssignmentInstance(
        *(skill, kind, np.full(m, 15), target),
        cost=np.round(rng.uniform(0.5, 2, m), 2),
        groups=groups,
        forbidden=np.argwhere(rng.random((n, m)) < 0.2),
        min_labels=np.full(n, 2),
    )
    plan = crowdopt.solve(instance, time_limit=1.0)
    assert plan.pairs is not None and len(plan.pairs) and plan.short.size < n / 2
    assert broken(instance, plan.pairs, None, plan.short) == ""


def test_who_gets_no_label_is_told_the_true_reason(tmp_path):
    """Money out, nobody with capacity left, nobody who may: three campaigns, three sentences."""
    from crowdopt.verbs.plans_said import what_falls_short

    skill, kind = np.array([[0.95] * 2 + [0.7] * 4]), np.zeros(40, int)
    cost = np.array([1.5, 1.5, 0.1, 0.1, 0.1, 0.1])
    few = crowdopt.AssignmentInstance(skill, kind, np.full(6, 40), 0.1, cost=cost, budget=6.0)
    full = crowdopt.AssignmentInstance(skill, kind, np.array([4, 4, 0, 0, 0, 0]), 0.1)
    barred = crowdopt.AssignmentInstance(skill, kind, np.full(6, 40), 0.1, forbidden=[(0, j) for j in range(6)])
    for instance, says in ((few, "more money"), (full, "more capacity"), (barred, "ask an expert")):
        plan = crowdopt.solve(instance, time_limit=5.0)
        said = " ".join(what_falls_short(plan))
        given = [one for one in ("more money", "more capacity", "ask an expert") if one in said]
        assert plan.short.size and given == [says]


@pytest.mark.slow
def test_an_adaptive_plan_of_the_sample_has_a_bound_soon(tmp_path):
    """Ten judges make 59,049 states of votes: some of them are asked, and the bound is of all ten."""
    assert run("init", tmp_path / "birds").exit_code == 0
    plan = crowdopt.solve(tmp_path / "birds", method=Adaptive(), time_limit=30.0)
    assert plan.found and plan.objective < 48
    assert plan.proof == "certificate" and plan.objective <= 1.2 * plan.bound
