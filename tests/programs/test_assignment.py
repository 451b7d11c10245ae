"""The papers' programs: assignment with every option against brute force, its dual, its two other data."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, Options, Status, certify, recipe, relax, solve, solve_program
from crowdopt.core.certificate import FEASIBILITY, fraction, violation
from crowdopt.core.program import dualize
from crowdopt.crowd.vote_errors import breaches
from crowdopt.programs import approximated, assignment, assignment_dual, sampled
from tests.checkers.plans import broken, least_cost
from tests.draw import campaigns
from tests.programs.optima import optimum
from tests.small import instances

LINEAR = ("hoeffding", "bhattacharyya")


@settings(max_examples=15)
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


@settings(max_examples=20)
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
    program = assignment.build(recipe("HS:60x60"))
    assert (program.matrix.data != 0).all()
    assert program.matrix.nnz == 60 * 60 + 60 * 30


@pytest.mark.slow
def test_the_papers_dual_meets_the_lp_at_full_size():
    """Strong duality, 300,000 rows: equal to 1e-9, both by certificate."""
    instance, options = recipe("U:1000x300"), Options(time_limit=300)
    built = relax(assignment.build(instance)), assignment_dual.build(instance)
    primal, dual = (certify(solve_program(program, "highs-ipm", options)) for program in built)
    assert primal.proof == dual.proof == "certificate"
    assert primal.proves_optimal(1e-9) and dual.proves_optimal(1e-9)
    assert abs(primal.value + dual.value) <= 1e-9 * primal.value


@settings(max_examples=15)
@given(instances())
def test_the_papers_dual_is_the_mechanical_one(instance):
    """Where the paper's dual applies, its optimum is that of dualize(relax(assignment)), minus the LP's."""
    try:
        written = assignment_dual.build(instance)
    except InputError as error:
        assert "dualize(relax" in str(error)
        return
    linear = relax(assignment.build(instance))
    primal, dual, mechanical = solve_program(linear), solve_program(written), solve_program(dualize(linear))
    assert dual.status is mechanical.status
    assert (primal.status is Status.INFEASIBLE) == (dual.status is Status.UNBOUNDED)
    if primal.status is Status.OPTIMAL:
        assert certify(dual).value == pytest.approx(-certify(primal).value, abs=1e-8)
        assert certify(mechanical).value == pytest.approx(certify(dual).value, abs=1e-8)


def test_any_prices_bound_the_plan():
    """For any x, z >= 0 the best t is max(0, q x - z - c): the point is dual feasible, so it bounds the LP."""
    instance, rng = recipe("R10:60x20"), np.random.default_rng(5)
    program, best = assignment_dual.build(instance), optimum(relax(assignment.build(instance)))
    for _ in range(20):
        x, z = rng.exponential(2.0, instance.n_tasks), rng.exponential(0.5, instance.n_workers)
        value = instance.evidence[instance.task_type] * x[:, None] - instance.cost[instance.task_type]
        point = np.concatenate([x, z, np.maximum(0.0, value - z).reshape(-1)])
        assert (program.matrix @ point <= program.row_upper + 1e-9).all()
        assert -program.cost @ point <= best + 1e-9


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


def test_the_approximated_lp_states_its_conditions():
    """The theorem is for rule hoeffding and t < qmin/4; anything else is refused, not bent."""
    instance = recipe("R1:20x100")
    with pytest.raises(InputError, match="0 <= t < qmin/4"):
        approximated.transform(instance, 0.1, 0.4)
    with pytest.raises(InputError, match="proved for rule hoeffding"):
        approximated.transform(replace(instance, rule="bhattacharyya"), 0.01, 0.4)
    scaled = approximated.transform(instance, 0.05, 0.4)
    assert scaled.need == pytest.approx(2 * np.log(1 / 0.2 ** (1 - 4 * 0.05 / 0.4)))


def test_the_sampled_lp_is_the_lp_of_the_sample():
    """The whole crowd as its own sample, gamma = 1, is the LP itself; a sample keeps its workers' columns."""
    instance = recipe("R10:60x20", priced=True)
    assert optimum(sampled.build(instance, range(20), 1.0)) == pytest.approx(optimum(relax(assignment.build(instance))))
    some = sampled.transform(replace(instance, forbidden=[(0, 3), (1, 4)]), [4, 2], 0.1)
    assert np.array_equal(some.accuracy, instance.accuracy[:, [4, 2]])
    assert some.forbidden.tolist() == [[1, 0]] and np.allclose(some.need, 0.1 * instance.need)
    for sample, share, sentence in (
        ([], 0.3, "at least one"),
        ([1, 1], 0.3, "each once"),
        ([99], 0.3, "outside 0..19"),
        ([1], 0.0, "gamma"),
    ):
        with pytest.raises(InputError, match=sentence):
            sampled.transform(instance, sample, share)
