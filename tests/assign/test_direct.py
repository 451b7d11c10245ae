"""The full program through a backend: strict plans whatever the solver's tolerance, honest statuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, Options, Status, recipe, solve, solve_program
from crowdopt.assign.direct import solve_full
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.rules import HOEFFDING
from crowdopt.crowd.vote_errors import breaches

SLACK = 1e-6  # what common solvers accept as feasible


@pytest.fixture
def knife_edge() -> AssignmentInstance:
    """One task, two cheap labels that are short of the need by half a solver's tolerance, and a dear third."""
    two_labels = -2 * np.log(0.36)
    epsilon = 0.5 * float(np.exp(-(two_labels + SLACK / 2) / 2))
    return AssignmentInstance([[0.9, 0.9, 0.9]], [0], [1, 1, 1], epsilon, rule="bhattacharyya", cost=[1.0, 1.0, 5.0])


def sloppy(program, backend="highs", options=None, listener=None):
    """A solver that takes every row to be kept within 1e-6, as most do."""
    loose = replace(program, row_lower=program.row_lower - SLACK)
    return replace(solve_program(loose, "highs", options or Options()), program=program)


def test_a_plan_short_by_a_solvers_tolerance_is_mended(knife_edge):
    """Two labels lack 5e-7 of evidence: the solver calls that feasible, the plan buys the third label.

    The tightened program's bound could exceed the optimum, so the first solve's stands.
    """
    plan = solve_full(knife_edge, "ip", sloppy, "highs", Options())
    assert plan.objective == 7.0 and not breaches(knife_edge, plan.pairs)
    assert plan.violation <= COVERAGE
    assert plan.bound <= 7.0 and plan.status is (Status.OPTIMAL if plan.bound == 7.0 else Status.FEASIBLE)


@pytest.mark.parametrize("method", ["exact", "highs"])
def test_a_plan_short_by_a_hair_is_no_plan(method):
    """Two labels lack 1e-9 and 8e-17 of evidence, just more than a plan may: the third is bought (5, not 4)."""
    accuracy = np.array([[0.97, 0.97, 0.9]])
    evidence = (2 * accuracy[0] - 1) ** 2
    need = evidence[0] + evidence[1] + 1e-9 + 8e-17
    instance = AssignmentInstance(
        accuracy, [0], [1, 1, 1], 0.4, rule="hoeffding", cost=[2.0, 2.0, 1.0], demand=need / HOEFFDING.need(0.4)
    )
    assert 1e-9 < instance.need[0] - instance.evidence[0, :2].sum() < 1e-9 + 1e-15
    plan = solve(instance, method=method, time_limit=5)
    assert plan.objective == 5.0 and not breaches(instance, plan.pairs) and plan.bound <= 5.0


def test_no_time_no_plan():
    """A limit too short for anything: UNDECIDED, nothing invented; without strict the best that is left, unproven."""
    plan = solve(recipe("R10:200x60"), require="served", method="highs", time_limit=0.02)
    assert plan.status is Status.UNDECIDED
    assert plan.pairs is None and plan.objective is None and plan.violation is None and plan.labels == 0
    plan = solve(recipe("R10:200x60"), method="highs", time_limit=0.02)
    assert plan.status in (Status.UNDECIDED, Status.FEASIBLE) and not plan.proven and plan.bound == -np.inf
    assert plan.found == (plan.short.size == 0) and not breaches(plan.instance, plan.pairs, short=plan.short)
