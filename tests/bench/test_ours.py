"""Algorithm 1 as a subject: its multipliers prove the selection program's optimum, for any tallies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, Group, solve
from crowdopt.bench.harness.judge import PROVEN, judge_solution
from crowdopt.bench.harness.ours import exact_plan, multipliers, point
from crowdopt.bench.sources.recipe_cases import of_instance
from crowdopt.core.certificate import certify
from crowdopt.core.solution import Options, Status
from crowdopt.crowd.hiring.candidates import SelectionInstance
from crowdopt.hire.ranking import algorithm1
from crowdopt.programs import selection

TALLIES = st.lists(st.integers(0, 10), min_size=1, max_size=12)


@given(TALLIES, st.integers(1, 12), st.integers(2, 4))
def test_the_closed_form_dual_proves_the_integer_optimum(correct, most, classes):
    """The relaxation is tight (Li & Liu's problem (11) as sizes of prefixes), so the gap is rounding."""
    instance = SelectionInstance(correct=np.array(correct), asked=np.full(len(correct), 10), classes=classes, most=most)
    program = selection.build(instance)
    arrays = {"primal": point(program, algorithm1(instance).members), "dual": multipliers(program, instance)}
    found = judge_solution(program, "optimal", None, arrays)
    assert found.outcome == PROVEN, found
    assert abs(found.gap) <= 1e-12


@pytest.mark.parametrize("program", ["ip", "lp"])
def test_exact_takes_campaigns_with_groups(program):
    """At most one label of three workers: ``exact`` in a benchmark does what solve does, and meets HiGHS's optimum."""
    skill = np.random.default_rng(0).uniform(0.6, 0.95, (2, 9))
    groups = (Group("site", (0, 1, 2), max_per_task=1),)
    made = AssignmentInstance(skill, np.arange(8) % 2, np.full(9, 6), 0.2, rule="bhattacharyya", groups=groups)
    plan, best = exact_plan(made, program, Options(20.0)), solve(of_instance("groups", made).build(program))
    assert plan.status is Status.OPTIMAL and plan.objective == pytest.approx(certify(best).value)
