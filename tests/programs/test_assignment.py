"""The papers' programs: assignment with every option against brute force, its dual, its two other data."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, Status, certify, recipe, relax, solve, solve_program
from crowdopt.core.certificate import FEASIBILITY, fraction, violation
from crowdopt.crowd.vote_errors import breaches
from crowdopt.programs import approximated, assignment, assignment_dual, sampled
from tests.checkers.plans import broken, least_cost
from tests.draw import campaigns
from tests.programs.optima import optimum
from tests.small import instances

LINEAR = ("hoeffding", "bhattacharyya")


@settings(max_examples=12)
@given(campaigns(8, LINEAR))
def test_feasible_points_are_the_plans_that_keep_every_limit(instance):
    """The program says with rows and bounds what a checker says by arithmetic: they agree on every 0-1 point."""
    program = assignment.build(instance)
    pairs = np.array(list(product(range(instance.n_tasks), range(instance.n_workers))))
    for chosen in product([0.0, 1.0], repeat=len(pairs)):
        point = np.array(chosen)
        assert (violation(program, point) <= FEASIBILITY) == (not broken(instance, pairs[point > 0]))
        assert program.cost @ point == pytest.approx(instance.prices(pairs[point > 0]).sum())
        assert fraction(program, point) == 0


@settings(max_examples=12)
@given(instances() | campaigns(10, LINEAR))
def test_the_plan_is_the_optimum_of_brute_force(instance):
    """The same cost as the best of all sets of pairs, or infeasible with them; the relaxation costs no more.

    Its bound is recomputed from multipliers, and so is its infeasibility.
    """
    best, plan = least_cost(instance), solve(instance, require="served", method="highs")
    linear = solve(instance, method="highs", program="lp")
    assert plan.proven and linear.proven and linear.proof == "certificate"
    if best == np.inf:
        assert plan.status is Status.INFEASIBLE and plan.pairs is None and plan.objective is None
        return
    assert plan.status is Status.OPTIMAL and plan.objective == pytest.approx(best, abs=1e-9)
    assert plan.certified_bound <= best + 1e-9 and not broken(instance, plan.pairs)
    assert linear.objective <= best + 1e-9 and abs(linear.gap) <= 1e-9
    assert not breaches(instance, linear.pairs, linear.amounts)


def test_evidence_too_small_for_a_solver_is_none():
    """HiGHS drops coefficients of at most 1e-9: the instance itself counts such evidence as 0, without an entry."""
    instance = AssignmentInstance([[0.5 + 1e-5, 0.9]], np.zeros(1, int), [1, 1], 0.4, rule="hoeffding")
    assert instance.evidence.tolist() == [[0.0, pytest.approx(0.64)]]
    assert assignment.build(instance).matrix.nnz == 3  # one of evidence, and each worker's load


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.floats(0.0, 0.04))
def test_the_approximated_lp_is_no_dearer(seed, error):
    """Ho et al. 2013, Theorem 3: with skills known to within t < qmin/4 its optimum is at most the true LP's."""
    rng = np.random.default_rng(seed)
    accuracy = rng.uniform(0.75, 0.95, (2, 12))
    true = AssignmentInstance(accuracy, rng.integers(0, 2, 8), rng.integers(4, 9, 12), 0.3, rule="hoeffding")
    solution = solve_program(relax(assignment.build(true)))
    if solution.status is Status.INFEASIBLE:
        return
    amount = solution.primal.reshape(8, 12)
    quality = (amount * true.evidence[true.task_type]).sum(axis=1) / amount.sum(axis=1)
    estimate = replace(true, accuracy=np.clip(accuracy + rng.uniform(-error, error, accuracy.shape), 0, 1))
    assert optimum(approximated.build(estimate, error, float(quality.min()))) <= certify(solution).value + 1e-7


BY_SUMS, CROWD = recipe("R1:20x100"), recipe("R10:60x20")


def test_a_sample_keeps_its_workers_columns():
    """What is then built is the program of that instance (tests/test_models.py)."""
    some = sampled.transform(replace(CROWD, forbidden=[(0, 3), (1, 4)]), [4, 2], 0.1)
    assert np.array_equal(some.accuracy, CROWD.accuracy[:, [4, 2]]) and some.forbidden.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("program", "given", "sentence"),
    [
        (approximated, (BY_SUMS, 0.1, 0.4), "0 <= t < qmin/4"),
        (approximated, (replace(BY_SUMS, rule="bhattacharyya"), 0.01, 0.4), "proved for rule hoeffding"),
        (assignment_dual, (replace(CROWD, budget=9.0),), "knows no .*; use dualize\\(relax"),
        (sampled, (CROWD, [], 0.3), "at least one"),
        (sampled, (CROWD, [1, 1], 0.3), "each once"),
        (sampled, (CROWD, [99], 0.3), "outside 0..19"),
        (sampled, (CROWD, [1], 0.0), "gamma"),
    ],
)
def test_what_a_theorem_does_not_hold_for_is_refused(program, given, sentence):
    """Refused, not bent."""
    with pytest.raises(InputError, match=sentence):
        (program.build if program is assignment_dual else program.transform)(*given)
