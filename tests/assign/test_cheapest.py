"""Plans under every rule and mix of limits: the cheapest by brute force where small, else bounds that others prove."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Status, relax, solve, solve_program
from crowdopt.assign import search
from crowdopt.assign.search import SearchParams
from crowdopt.programs import assignment
from tests.assign.by_hand import report_on
from tests.checkers.plans import broken, cost_of, least_cost
from tests.draw import campaign, campaigns, planned
from tests.sampled import first_of


@settings(max_examples=40)
@given(campaigns(12), st.booleans())
def test_small_campaigns_have_the_cheapest_plan(one, whole):
    """Found where there is one, proven wherever it is the cheapest by what is said, bounds below it.

    Against every set of labels, by arithmetic that imports no package; with and without the search of the whole
    program that small instances begin with.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not whole:
            patch.setattr(search, "SearchParams", lambda: SearchParams(small=0))
        plan = solve(one, require="served", gap=0.0)
    best = least_cost(one)
    assert plan.bound <= best + 1e-6 * max(1.0, best)
    assert plan.found == np.isfinite(best) == (plan.status is not Status.INFEASIBLE)
    if plan.found:
        assert broken(one, plan.pairs) == []
        assert plan.objective == pytest.approx(cost_of(one, plan.pairs))
        assert plan.objective >= best - 1e-9 and plan.certified_bound <= best + 1e-6
        assert plan.objective <= best + 1e-9 * max(1.0, best) or (not plan.proven and plan.objective < 1.5 * best)


LARGE = {
    "shares": "most-share least-share prices",
    "sites": "most-per-task budget prices",
    "a senior": "least-per-task fixed forbidden",
    "overlapping": "overlapping most-labels least-labels",
    "pairs": "forbidden fixed collected least-loads prices-by-type",
    "families": "families own-row most-share",
    "targets": "targets prior most-labels least-loads",
}


@pytest.mark.filterwarnings("ignore::crowdopt.errors.TableWarning")
@pytest.mark.parametrize("what", LARGE)
@pytest.mark.parametrize("seed", first_of(range(6)))
def test_larger_campaigns_have_plans_and_bounds_that_hold(seed, what, tmp_path):
    """Every limit is kept, what is claimed is proven anew from the folders, and no bound is above the hidden plan."""
    rule = ("bhattacharyya", "exact-error")[(seed + len(what)) % 2]
    n, m = (40, 12) if rule == "exact-error" else (120, 30)
    made = planned(seed, n, m, f"{rule} {LARGE[what]}")
    plan = solve(made.instance, require="served", time_limit=60, nodes=2, gap=0.05)
    assert plan.found and broken(made.instance, plan.pairs) == []
    assert plan.bound <= min(plan.objective, cost_of(made.instance, made.plan)) + 1e-6
    report = report_on(made.instance, plan, tmp_path)
    assert report.holds, report.problems


@pytest.mark.parametrize("seed", first_of(range(8)))
def test_another_solver_says_the_same_of_tasks_that_all_differ(seed):
    """Accuracies, prices, targets, pairs and limits of their own: bounds of either are below the plan of the other."""
    wishes = "bhattacharyya forbidden fixed collected least-labels most-labels least-loads targets prices-by-type"
    one = campaign(seed, 40, 12, wishes, skills="each")
    plan, other = (solve(one, method, time_limit=5, gap=0.01) for method in ("exact", "highs"))
    assert plan.found and other.found and plan.gap < 0.05
    assert plan.bound <= other.objective + 1e-6 and other.bound <= plan.objective + 1e-6


@pytest.mark.parametrize("seed", first_of(range(8)))
@pytest.mark.parametrize("skills", ["each", "six-own", "three"])
def test_shares_of_labels_are_the_linear_program_s(seed, skills, tmp_path):
    """Its optimum, proven, whether tasks differ or are alike."""
    one = campaign(seed, 60, 12, "bhattacharyya forbidden targets prices most-labels least-loads", skills=skills)
    full = solve_program(relax(assignment.build(one)), "highs-simplex")
    best, plan = float(full.program.cost @ full.primal), solve(one, program="lp", time_limit=30)
    assert plan.objective == pytest.approx(best, rel=1e-6) and plan.certified_bound == pytest.approx(best, rel=1e-6)
    assert report_on(one, plan, tmp_path).holds


def test_labels_that_tell_nothing_count_as_labels():
    """Guessers fill up what a task must have at least: no set of those who know anything is as large."""
    accuracy = np.where(np.arange(23) < 9, 0.7, 0.5) * np.ones((2, 1))
    one = AssignmentInstance(accuracy, None, np.full(23, 2), 0.2, rule="exact-error", min_labels=[17, 7])
    assert solve(one, time_limit=20).objective == 24


@pytest.mark.slow
def test_a_hundred_thousand_tasks_have_a_plan_near_its_bound() -> None:
    """Each task with skills of its own, prices that differ, and capacities that bind."""
    rng = np.random.default_rng(1)
    accuracy, cost = rng.uniform(0.6, 0.95, (100_000, 20)), rng.uniform(0.5, 2, 20)
    one = AssignmentInstance(accuracy, None, np.full(20, 7_500), 0.1, rule="exact-error", cost=cost)
    plan = solve(one, time_limit=300, gap=0.04)
    assert plan.found and broken(one, plan.pairs) == [] and plan.gap < 0.05
