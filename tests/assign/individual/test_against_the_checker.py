"""Small instances with every option, each task taken by itself: brute force's optimum, proven to a second program."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from crowdopt import write_campaign, write_plan
from crowdopt.api.binding import SOLVERS
from crowdopt.assign.individual.own_stages import solve_individually
from crowdopt.core.solution import Options
from tests.checkers.folders import check
from tests.recheck.test_checker import used_types_only
from tests.small import brute_force, instances

SHARED = [HealthCheck.function_scoped_fixture]


def check_folders(folder, instance) -> None:
    """The plan is as cheap as brute force's, and the standard library alone proves as much as the plan claims."""
    instance = used_types_only(instance)
    best = brute_force(instance)
    plan = solve_individually(instance, SOLVERS, Options(time_limit=10.0), None).plan()
    assert plan.found == (best is not None)
    if best is None:
        return
    assert plan.objective == pytest.approx(best, rel=1e-9, abs=1e-9)
    write_campaign(instance, folder / "campaign", force=True, collected_labels=["x"] * len(instance.collected))
    write_plan(plan, folder / "plan", force=True)
    problems, bound = check(folder / "campaign", folder / "plan")
    assert problems is None
    assert plan.duals is None or plan.certified_bound <= bound + 1e-9 * max(1.0, abs(bound))


@settings(max_examples=8, deadline=None, suppress_health_check=SHARED)
@given(instances())
def test_the_standard_library_proves_what_plans_claim(tmp_path, instance):
    """Every option, prices to collected pairs: the second program shares no line with ours."""
    check_folders(tmp_path, instance)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=SHARED)
@given(instances())
def test_the_standard_library_proves_what_many_plans_claim(tmp_path, instance):
    """The same, many times over."""
    check_folders(tmp_path, instance)
