"""The method patterns: pricing overlooks nothing, bounds hold on both sides, and the bars of the specification."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, Status, assign, recipe, write_campaign, write_plan
from crowdopt.crowd.vote_errors import exact_errors
from crowdopt.recheck.verification import verify
from tests.assign.patterns.few_skills import least


def crowd(tasks, pools, capacity, epsilon, rule="exact-error"):
    """Tasks of one type, pools of (skill, workers)."""
    skills = np.concatenate([np.full(count, skill) for skill, count in pools])
    return AssignmentInstance(
        skills[None], np.zeros(tasks, np.int64), np.full(skills.size, capacity), epsilon, rule=rule
    )


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), pools=st.integers(1, 3))
def test_rounded_skills_bound_the_optimum_from_both_sides(seed: int, pools: int) -> None:
    """Rounded down the plan keeps every target under the workers' own skills; rounded up the bound still holds."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 5))
    rule = str(rng.choice(["exact-error", "mean-error"]))
    skills = rng.uniform(0.55, 0.95, (int(rng.integers(1, 3)), m))
    kinds = rng.integers(0, len(skills), 2)
    instance = AssignmentInstance(skills, kinds, rng.integers(1, 3, m), 0.25, rule=rule)
    plan, best = assign(instance, f"patterns:pools={pools}"), least(instance)
    if plan.found:
        errors = exact_errors(instance, plan.pairs)[0]
        assert (errors.mean() if rule == "mean-error" else errors.max()) <= 0.25 + 1e-12
        assert plan.bound <= best + 1e-9 <= plan.objective + 2e-9
    if best is not None:
        assert plan.bound <= best + 1e-9


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
    instance = crowd(1000, pools, capacity, epsilon)
    plan = assign(instance, "patterns", gap=0.0)
    assert plan.proven and plan.proof == "certificate" and plan.objective == each
    average = assign(replace(instance, rule="mean-error"), "patterns", gap=0.0)
    assert average.proven and average.objective == mean
    assert average.certified_bound >= mean - 1


@pytest.mark.parametrize("rule", ["exact-error", "mean-error"])
def test_verify_repeats_the_proof(rule: str, tmp_path) -> None:
    """The folder alone proves the bound; a higher claim, or a broken average, is caught."""
    instance = crowd(30, [(0.85, 4), (0.65, 12)], 9, 0.2, rule)
    write_campaign(instance, tmp_path / "c")
    plan = assign(instance, "patterns")
    write_plan(plan, tmp_path / "p")
    report = verify(tmp_path / "c", tmp_path / "p")
    assert report.holds, report.problems
    assert report.certified_bound == pytest.approx(plan.certified_bound) and report.certified_bound > 20
    claims = json.loads((tmp_path / "p" / "plan.json").read_text(encoding="utf-8"))
    for key, value in (("certified_bound", plan.certified_bound + 1), ("wrong_dual", 0), ("levels", -1)):
        (tmp_path / "p" / "plan.json").write_text(json.dumps({**claims, key: value}), encoding="utf-8")
        assert not verify(tmp_path / "c", tmp_path / "p").holds, key
    (tmp_path / "p" / "plan.json").write_text(json.dumps(claims), encoding="utf-8")
    lines = (tmp_path / "p" / "assignment.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "p" / "assignment.csv").write_text("\n".join(lines[:-4]) + "\n", encoding="utf-8")
    problems = verify(tmp_path / "c", tmp_path / "p").problems
    assert any("errs with probability" in problem for problem in problems)


def test_what_it_cannot_do_it_says() -> None:
    """Each refusal names the remedy."""
    instance = recipe("R1:40x60")
    with pytest.raises(InputError, match="choose rule exact-error or mean-error"):
        assign(instance, "patterns")
    with pytest.raises(InputError, match="patterns:pools=8"):
        assign(replace(instance, rule="exact-error"), "patterns")
    with pytest.raises(InputError, match="use method exact"):
        assign(replace(crowd(2, [(0.7, 3)], 2, 0.3), forbidden=[[0, 0]]), "patterns")
    with pytest.raises(InputError, match="plans task by task; use exact"):
        assign(replace(instance, rule="mean-error"), "highs")
    with pytest.raises(InputError, match="patterns takes pools="):
        assign(replace(instance, rule="exact-error"), "patterns:pools=0")
    with pytest.raises(InputError, match="ask for the program ip"):
        assign(crowd(2, [(0.7, 3)], 2, 0.3, "mean-error"), "patterns", program="lp")


def test_no_plan_is_proven() -> None:
    """Too little room for the labels that every task needs: the bound is more than every worker could be paid."""
    plan = assign(crowd(10, [(0.7, 12)], 4, 0.1), "patterns")
    assert not plan.found and plan.proven and plan.proof == "certificate"


@pytest.mark.parametrize("price", [(1.8, 0.2), (0.2, 1.8), (1.0, 1.0)])
def test_a_bound_above_what_all_labels_cost_leaves_no_plan(price):
    """Both of two workers have to label and err more than the target together: prices go up until that is proven."""
    skills, cost = np.array([[0.3, 0.6]]), np.array(price)
    instance = AssignmentInstance(
        skills, np.zeros(1, np.int64), 1, 0.39, cost=cost, classes=3, min_labels=2, rule="mean-error"
    )
    assert assign(instance, "patterns").status is Status.INFEASIBLE
    allowed = replace(instance, epsilon=np.full(1, 0.41))
    assert assign(allowed, "patterns").objective == pytest.approx(2.0)


def test_many_skills_and_prices_take_no_longer_than_they_may():
    """Forty pools of 300 workers: what is tried first was all the worst labels, some 30 seconds of one."""
    rng = np.random.default_rng(0)
    instance = AssignmentInstance(
        rng.uniform(0.55, 0.95, (3, 300)),
        rng.integers(0, 3, 1000),
        np.full(300, 100),
        0.2,
        cost=rng.integers(1, 6, 300).astype(float),
        rule="mean-error",
    )
    assign(instance, "patterns:pools=8", time_limit=1.0)  # compiles
    begin = time.monotonic()
    plan = assign(instance, "patterns:pools=8", time_limit=1.0)
    assert plan.found and time.monotonic() - begin < 5.0


@pytest.mark.parametrize("seed", range(3))
def test_what_all_labels_keep_has_a_plan(seed):
    """Skills in three pools are rounded down so far that no patterns of theirs keep what all labels keep."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(5, 9))
    skills = rng.uniform(0.55, 0.9, (2, m)) * np.array([[1], [0.85]])
    every = np.array(list(product(range(n), range(m))))

    def promising(error: float) -> AssignmentInstance:
        return AssignmentInstance(skills, np.arange(n) % 2, np.full(m, n), error, rule="mean-error")

    target = exact_errors(promising(0.2), every)[0].mean() + 1e-6
    plan = assign(promising(float(target)), "patterns:pools=3", time_limit=5, strict=True)
    assert plan.found and exact_errors(plan.instance, plan.pairs)[0].mean() <= target
    less = assign(promising(float(target) - 2e-6), "patterns:pools=3", time_limit=5, strict=True)
    assert not less.found
