"""The method patterns: pricing overlooks nothing, bounds hold on both sides, and the bars of the specification."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, Status, assign, recipe, solve, write_campaign, write_plan
from crowdopt.assign.patterns.pricing import PatternPricing
from crowdopt.crowd.exactness import exact_errors
from crowdopt.crowd.votes.pattern_errors import Errors
from crowdopt.recheck.bounds.proofs import prove_patterns
from crowdopt.recheck.verification import verify
from tests.assign.patterns.few_skills import drawn, least


def crowd(tasks, pools, capacity, epsilon, rule="exact-error"):
    """Tasks of one type, pools of (skill, workers)."""
    skills = np.concatenate([np.full(count, skill) for skill, count in pools])
    return AssignmentInstance(
        skills[None], np.zeros(tasks, np.int64), np.full(skills.size, capacity), epsilon, rule=rule
    )


def test_ctrl_c_is_told_and_the_plan_kept(monkeypatch):
    """Where a search was cut short the plan says so, which makes the exit status 130; else it does not."""
    instance = crowd(20, [(0.7, 12), (0.6, 12)], 20, 0.2)
    assert not assign(instance, method="patterns").interrupted
    monkeypatch.setattr(
        sys.modules["crowdopt.api.assign_methods"], "solve", lambda *one: replace(solve(*one), interrupted=True)
    )
    plan = assign(instance, method="patterns")
    assert plan.interrupted and plan.found


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), soft=st.booleans())
def test_pricing_finds_every_pattern_below_a_limit(seed: int, soft: bool) -> None:
    """Against all patterns there are: nothing cheaper is overlooked, whatever the prices; nothing dearer comes back."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, rng.integers(1, 4))
    errors = Errors(rng.choice([0.55, 0.6, 0.7, 0.8, 0.9, 0.5], sizes.size), float(rng.choice([0.5, 0.3])))
    pricing = PatternPricing(errors, 1.0 if soft else float(rng.choice([0.1, 0.2, 0.3])), weight=20.0 if soft else 0.0)
    steps = [np.sort(rng.choice([0.5, 1.0, 2.0, rng.random()], size)) for size in sizes]
    every = np.array(list(product(*(range(size + 1) for size in sizes))))
    cost = sum(np.append(0, np.cumsum(steps[g]))[every[:, g]] for g in range(sizes.size))
    value = np.where(pricing.meets(every), cost + pricing.weight * errors.of(every), np.inf)
    limit = float(value.min()) + rng.random() if np.isfinite(value).any() else 5.0
    patterns, worth, floor = pricing.below(steps, limit)
    assert floor == np.inf and (worth <= limit).all()
    wanted = {tuple(row): v for row, v in zip(every.tolist(), value, strict=True) if v <= limit}
    found = {tuple(row): v for row, v in zip(patterns.tolist(), worth, strict=True)}
    assert found.keys() <= wanted.keys() and all(found[key] == pytest.approx(wanted[key]) for key in found)
    if wanted:
        assert min(found.values()) == pytest.approx(min(wanted.values()))
    for pattern in wanted.keys() - found.keys():  # left out: one with a label to spare
        assert not soft and any(all(a <= b for a, b in zip(other, pattern, strict=True)) for other in found)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_prices_prove_a_bound(seed: int) -> None:
    """``prove_patterns`` is below the least cost for multipliers of no meaning at all, and for skills rounded up."""
    instance = drawn(seed)
    best = least(instance)
    rng = np.random.default_rng(seed)
    worker = -rng.random(instance.n_workers) * rng.choice([0.1, 1.0, 5.0])
    for levels in (1, 2, 20):
        bound = prove_patterns(instance, worker, -rng.random(), -rng.random() * 10, levels)
        assert best is None or bound <= best + 1e-9


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


def test_a_dozen_skills() -> None:
    """U(.5, .95) rounded to twelve pools: as good as the exact method, with its own certificate."""
    instance = replace(recipe("R1:1000x300"), rule="exact-error").with_epsilon(0.05)
    plan = assign(instance, "patterns:pools=12")
    assert plan.proven and plan.proof == "certificate" and plan.objective == 3000


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


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_an_average_never_costs_more_than_a_promise_to_each(seed):
    """Whatever rounding loses: a plan that keeps the target for every task keeps it on average."""
    each = recipe("R10:60x40", seed)
    average = assign(replace(each, rule="mean-error"), method="patterns:pools=4", time_limit=120, gap=0.0)
    assert average.objective <= assign(replace(each, rule="exact-error"), time_limit=120, gap=0.0).objective


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
