"""The assignment program with every option, held against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import AssignmentInstance, Status, assign, certify, recipe, relax, solve
from crowdopt.assign.plan import breaches
from crowdopt.core.certificate import FEASIBILITY, fraction, violation
from crowdopt.programs import assignment
from tests.small import brute_force, instances


@settings(max_examples=10)
@given(instances(most_pairs=8))
def test_feasible_points_are_the_plans_that_keep_every_limit(instance):
    """The program says with rows and bounds what ``breaches`` says in words: they agree on every 0-1 point."""
    program = assignment.build(instance)
    pairs = np.array(list(itertools.product(range(instance.n_tasks), range(instance.n_workers))))
    for chosen in itertools.product([0.0, 1.0], repeat=len(pairs)):
        point = np.array(chosen)
        keeps = violation(program, point) <= FEASIBILITY
        assert keeps == (not breaches(instance, pairs[point > 0], tolerance=FEASIBILITY))
        assert program.cost @ point == pytest.approx(instance.prices(pairs[point > 0]).sum())
        assert fraction(program, point) == 0


@settings(max_examples=37)
@given(instances())
def test_the_plan_is_the_optimum_of_brute_force(instance):
    """Over all options: the same cost as the best of all sets of pairs, or infeasible with them."""
    best, plan = brute_force(instance), assign(instance, method="highs", strict=True)
    assert plan.proven
    if best is None:
        assert plan.status is Status.INFEASIBLE and plan.pairs is None and plan.objective is None
    else:
        assert plan.status is Status.OPTIMAL
        assert plan.objective == pytest.approx(best, abs=1e-9)
        assert plan.certified_bound <= best + 1e-9
        assert not breaches(instance, plan.pairs)


@settings(max_examples=15)
@given(instances())
def test_the_lp_bounds_the_optimum_and_says_so_by_certificate(instance):
    """The relaxation costs no more; its bound is recomputed from multipliers, and so is its infeasibility."""
    plan, best = assign(instance, method="highs", program="lp"), brute_force(instance)
    assert plan.proof == "certificate" and plan.proven
    if best is not None:
        assert plan.objective <= best + 1e-9
        assert abs(plan.gap) <= 1e-9 and not breaches(instance, plan.pairs, plan.amounts)


def test_a_pair_without_evidence_has_no_entry():
    """A spammer's coefficient is absent, not a zero that some solver would drop with a warning."""
    program = assignment.build(recipe("HS:60x60"))
    assert (program.matrix.data != 0).all()
    assert program.matrix.nnz == 60 * 60 + 60 * 30


def test_evidence_too_small_for_a_solver_is_none():
    """HiGHS drops coefficients of at most 1e-9: the instance itself counts such evidence as exactly 0."""
    instance = AssignmentInstance([[0.5 + 1e-5, 0.9]], np.zeros(1, int), [1, 1], 0.4, rule="hoeffding")
    assert instance.evidence.tolist() == [[0.0, pytest.approx(0.64)]]


def test_labels_already_in_are_not_bought_again():
    """A collected label lowers the need, bars its pair, and counts towards the label limits."""
    given = {"accuracy": [[0.9, 0.8, 0.8]], "task_type": [0], "capacity": [1, 1, 1], "epsilon": 0.31}
    fresh = assign(AssignmentInstance(**given))
    after = assign(AssignmentInstance(**given, collected=[(0, 0)], max_labels=[2]))
    assert fresh.objective == 1 and fresh.pairs.tolist() == [[0, 0]]
    assert after.objective == 0 and len(after.pairs) == 0 and after.status is Status.OPTIMAL


@pytest.mark.slow
@pytest.mark.parametrize(("name", "labels"), [("HS:1000x300", 29000), ("U:1000x300", 58000)])
def test_the_papers_crowds_at_full_size(name, labels):
    """29 hammers' labels of evidence .16 are the fewest that reach 2 ln 10; for .6414 it takes 58."""
    plan = assign(recipe(name), method="highs", time_limit=120, gap=0.0)
    assert plan.status is Status.OPTIMAL and plan.objective == labels
    assert plan.proof == "solver" and plan.certified_bound < labels  # the LP stops short: only the search closes it
    assert plan.violation <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HS:1000x300", "U:1000x300"])
def test_the_papers_dual_meets_the_lp_at_full_size(name):
    """Strong duality, 300,000 rows: equal to 1e-9, both by certificate."""
    from crowdopt import Options
    from crowdopt.programs import assignment_dual

    options = Options(time_limit=300)
    primal = certify(solve(relax(assignment.build(recipe(name))), "highs-ipm", options))
    dual = certify(solve(assignment_dual.build(recipe(name)), "highs-ipm", options))
    assert primal.proof == dual.proof == "certificate"
    assert primal.proves_optimal(1e-9) and dual.proves_optimal(1e-9)
    assert abs(primal.value + dual.value) <= 1e-9 * primal.value
