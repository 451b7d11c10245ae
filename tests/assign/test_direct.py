"""The full program through a backend: strict plans whatever the solver's tolerance, honest statuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdopt import AssignmentInstance, InputError, Options, Status, recipe, solve, solve_program
from crowdopt.assign.direct import solve_full
from crowdopt.crowd.instance import COVERAGE
from crowdopt.crowd.rules import HOEFFDING
from crowdopt.crowd.vote_errors import breaches
from crowdopt.solvers import BackendMissing

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


@pytest.mark.parametrize("claim", ["zeros", "fractions", "nan", "nothing"])
def test_a_lying_solver_yields_no_plan(claim):
    """Bogus points under a claim of OPTIMAL: no plan, no proof."""
    instance = recipe("R10:20x20")

    def liar(program, backend="highs", options=None, listener=None):
        point = {
            "zeros": np.zeros_like(program.cost),
            "fractions": np.full_like(program.cost, 0.5),
            "nan": np.full_like(program.cost, np.nan),
            "nothing": None,
        }[claim]
        truth = solve_program(program, "highs", options or Options())
        return replace(truth, status=Status.OPTIMAL, primal=point, dual=None, claimed_bound=0.0)

    plan = solve_full(instance, "ip", liar, "highs", Options(time_limit=5))
    assert not plan.found and plan.status is Status.UNDECIDED and not plan.proven


def test_no_time_no_plan():
    """A limit too short for anything: UNDECIDED, nothing invented; without strict the best that is left, unproven."""
    plan = solve(recipe("R10:200x60"), require="served", method="highs", time_limit=0.02)
    assert plan.status is Status.UNDECIDED
    assert plan.pairs is None and plan.objective is None and plan.violation is None and plan.labels == 0
    plan = solve(recipe("R10:200x60"), method="highs", time_limit=0.02)
    assert plan.status in (Status.UNDECIDED, Status.FEASIBLE) and not plan.proven and plan.bound == -np.inf
    assert plan.found == (plan.short.size == 0) and not breaches(plan.instance, plan.pairs, short=plan.short)


def test_a_plan_for_some_tasks_is_no_plan_for_all():
    """Four labels, three tasks that one label is enough for and one out of reach: the three are served.

    That not all can be is proven, the task that is short is named, and ``strict`` hands out nothing.
    """
    out = AssignmentInstance([[0.9, 0.9]] * 2, [0, 0, 0, 1], [2, 2], [0.31] * 3 + [1e-6], rule="bhattacharyya")
    plan = solve(out, method="highs")
    assert plan.status is Status.INFEASIBLE and plan.proven and not plan.found
    assert plan.short.tolist() == [3] and np.bincount(plan.pairs[:, 0], minlength=4).all()
    assert not breaches(out, plan.pairs, short=plan.short) and breaches(out, plan.pairs)
    assert solve(out, require="served", method="highs").pairs is None


def test_a_loose_instance_needs_no_search():
    """Where the LP's point is already integer its own multipliers prove the optimum: nothing is left to trust."""
    instance = AssignmentInstance([[1.0, 0.9, 0.8]], [0, 0], [2, 2, 2], 0.1, min_labels=[1, 1])
    plan = solve(instance, method="highs")
    assert plan.proven and plan.proof == "certificate" and plan.bound == plan.certified_bound == plan.objective == 2


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"method": "cplex"}, BackendMissing, "there is no backend 'cplex'; there are .*highs"),
        ({"program": "qp"}, InputError, "program must be one of ip, lp"),
        ({"time_limit": 0}, InputError, "time_limit must be a positive"),
        ({"time_limit": float("nan")}, InputError, "time_limit"),
        ({"method": "highs-ipm"}, BackendMissing, "linear programs only"),
    ],
)
def test_senseless_arguments_are_refused(arguments, error, sentence):
    """Before anything is solved."""
    with pytest.raises(error, match=sentence):
        solve(recipe("R10:20x20"), **arguments)
