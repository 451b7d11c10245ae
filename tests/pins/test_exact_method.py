"""The exact method's pieces against values by hand and brute force: classes, cardinality, bounds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import crowdopt
from crowdopt.assign.oracle import EffortParams, Oracle
from crowdopt.assign.problem import problem_of
from crowdopt.core.certificate import certify
from crowdopt.core.clock import Clock
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.vote_errors import exact_errors, fewest_exact
from crowdopt.labelers.sets import plurality_accuracies
from crowdopt.online.task_prices import prices
from crowdopt.programs import aggregated
from crowdopt.programs.market import Market
from crowdopt.recheck.bounds import JointPull, prove, prove_sets
from tests.majorities import majority_accuracy
from tests.weighted import weighted_error

NEED = np.exp(-1.0)  # the target whose need is C = 2 under rule hoeffding


def instance(skills, tasks=4, capacity=4, **more):
    """Equal tasks with need 2, or as given."""
    given = {"epsilon": NEED, "rule": "hoeffding", **more}
    return crowdopt.AssignmentInstance(np.atleast_2d(skills), np.zeros(tasks, np.int64), capacity, **given)


def test_classes_by_hand():
    """Workers .9, .9, .7 with room 4, 4, 4 and one .9 with room 1: three classes, of 2, 1 and 1."""
    found = classes_of(instance([0.9, 0.9, 0.7, 0.9], capacity=[4, 4, 4, 1]))
    assert found.worker_class.tolist() == [0, 0, 1, 2] and found.workers_in.tolist() == [2, 1, 1]
    assert found.tasks_in.tolist() == [4] and found.room.tolist() == [[2, 1, 1]]
    spread = found.spread(np.array([[8.0, 4.0, 1.0]]))
    np.testing.assert_allclose(spread, [[1.0, 1.0, 1.0, 0.25]] * 4)


def test_cardinality_by_hand():
    """Need 2: labels of .64 give .64, 1.28, 1.92, 2.56: four. Two of .81 and then .36: .81, 1.62, 1.98, 2.34: four."""
    assert classes_of(instance([0.9] * 6)).cardinality.tolist() == [4]
    mixed = [0.95, 0.95, 0.8, 0.8, 0.8]
    assert classes_of(instance(mixed)).cardinality.tolist() == [4]
    assert classes_of(instance([0.9] * 3)).cardinality.tolist() == [4]  # one more than there are: hopeless


def test_the_aggregated_program_by_hand():
    """Four tasks, five workers of .64 with room 4: cover 4 * 2, load 5 * 4, at most 4 * 5 labels; optimum 8/.64 = 12.5;
    with cardinality rows 16.
    """
    one = instance([0.9] * 5)
    program = aggregated.build(one)
    assert program.row_lower[0] == pytest.approx(8, abs=1e-6) and program.row_upper[1] == 20
    assert program.upper.tolist() == [20.0] and program.matrix.toarray().tolist() == [[pytest.approx(0.64)], [1.0]]
    assert certify(crowdopt.solve_program(program)).bound == pytest.approx(12.5, abs=1e-5)
    whole = aggregated.build(one, whole=True)
    assert whole.row_lower[2] == 16.0
    assert certify(crowdopt.solve_program(whole)).bound == pytest.approx(16.0, abs=1e-6)
    tight = aggregated.build(instance([0.9] * 5, capacity=2))
    assert tight.upper.tolist() == [20.0] and tight.row_upper[1] == 10  # the box does not shrink with the capacity


def brute(one):
    """The least cost of a plan of whole labels by trying all of them."""
    n, m = one.n_tasks, one.n_workers
    best = np.inf
    for bits in product((0, 1), repeat=n * m):
        plan = np.array(bits).reshape(n, m)
        if (plan.sum(axis=0) <= one.capacity).all():
            covered = (plan * one.evidence[one.task_type]).sum(axis=1)
            if (covered >= one.need - 1e-9).all():
                best = min(best, float((plan * one.cost[one.task_type]).sum()))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_plans_and_bounds_by_brute_force(seed):
    """Three tasks of two types, five workers, prices: the plan is the best there is, and every proof stays below it."""
    rng = np.random.default_rng(seed)
    one = crowdopt.AssignmentInstance(
        rng.uniform(0.6, 0.97, (2, 5)),
        [0, 1, 1],
        rng.integers(1, 4, 5),
        rng.uniform(0.35, 0.45, 3),
        cost=rng.integers(1, 5, (2, 5)),
        rule="hoeffding",
    )
    wanted, plan = brute(one), crowdopt.solve(one)
    if np.isinf(wanted):
        assert not plan.found
        return
    assert plan.objective == wanted and plan.proven
    duals = crowdopt.solve(one, program="lp").duals
    none = np.zeros(one.n_tasks)
    linear = prove(one, duals.task, duals.worker, none, 0.0)
    assert linear == pytest.approx(crowdopt.solve(one, program="lp").objective, abs=1e-5)
    for scale in (0.0, 0.5, 1.0, 2.0):
        rows = prove(one, scale * duals.task, scale * duals.worker, none, 0.0)
        whole = prove_sets(one, scale * duals.worker, 0.0, JointPull.none(one))
        assert rows <= wanted + 1e-6 and whole <= wanted + 1e-6
    assert prove_sets(one, duals.worker, 0.0, JointPull.none(one)) >= linear - 1e-6


def test_proofs_by_hand():
    """Four tasks, need 2, five workers of .64, room 4, price 1. x = 1/.64, w = 0: r = 0, so 4 * 2/.64 = 12.5. w = -.5
    makes r = .5: 12.5 - 20 * .5 = 2.5 by rows at that x; by sets four labels at 1.5 each: 24 - 10 = 14. Limits l = 1
    on the fewest labels, 4 of them: 16 + 4 * 5 * min(0, 1 - 1 - .64 x).
    """
    one = instance([0.9] * 5)
    x, none, five = np.full(4, 1 / 0.64), np.zeros(4), np.zeros(5)
    assert prove(one, x, five, none, 0.0) == pytest.approx(12.5, abs=1e-6)
    assert prove(one, x, five - 0.5, none, 0.0) == pytest.approx(2.5, abs=1e-6)
    asked = instance([0.9] * 5, min_labels=4)
    assert prove(asked, none, five, none + 1, 0.0) == pytest.approx(16, abs=1e-6)
    assert prove(one, 2 * x, five, none, 0.0) == pytest.approx(25 - 20, abs=1e-6)
    assert prove(one, -x, five + 1, none, 0.0) == pytest.approx(0.0, abs=1e-6)
    nothing = JointPull.none(one)
    assert prove_sets(one, five - 0.5, 0.0, nothing) == pytest.approx(4 * 4 * 1.5 - 20 * 0.5, abs=1e-5)
    assert prove_sets(one, five, 0.0, nothing) == pytest.approx(16, abs=1e-5)


def test_exact_errors_by_hand():
    """Three votes of .8: .8^3 + 3 * .8^2 * .2 = .896. Of .9 and .6 the first decides. Two equal: a coin."""
    assert majority_accuracy([0.8] * 3) == pytest.approx(0.896, abs=1e-12)
    assert majority_accuracy([0.8] * 2) == pytest.approx(0.64 + 0.32 / 2, abs=1e-12)
    assert weighted_error([0.8] * 3) == pytest.approx(0.104, abs=1e-12)
    assert weighted_error([0.9, 0.6]) == pytest.approx(0.1, abs=1e-12)
    assert weighted_error([0.8, 0.8]) == pytest.approx(0.2, abs=1e-12)
    assert weighted_error([0.6], prior=0.9) == pytest.approx(0.1, abs=1e-12)  # the prior outweighs the label
    assert weighted_error([0.9], [-1.0], bias=0.0) == pytest.approx(0.9, abs=1e-12)
    assert plurality_accuracies([0.7, 0.7], [1.0, 1.0], 3)[-1] == pytest.approx(0.7, abs=1e-12)


def test_a_sweep_s_bound_by_hand():
    """Four tasks that cost 6 each at w = -.5, five workers of room 4: 24 - 20/2 = 14."""
    oracle = Oracle(problem_of(instance([0.9] * 5)), 1)
    assert oracle.sweep(np.array([-0.5]), EffortParams(close=0.0), Clock(60.0)).bound == pytest.approx(14.0, abs=1e-6)


def test_the_prior_leans_a_vote():
    """Class 1 has .9 beforehand: a task without labels errs .1, one label of .6 changes nothing."""
    one = instance([0.6] * 2, epsilon=0.05, rule="exact-error", prior=[0.1, 0.9])
    np.testing.assert_allclose(exact_errors(one, np.array([[0, 0]]))[0], 0.1, atol=1e-12)


def test_the_fewest_labels_for_an_exact_error():
    """P = .8, error at most .11: one vote errs .2, two .2, three .104. With two labels in, one more is asked for."""
    one = instance([0.8] * 5, epsilon=0.11, rule="exact-error")
    assert fewest_exact(one).tolist() == [3] * 4
    pairs = np.array([[0, 0], [0, 1], [0, 2], [1, 0]])
    np.testing.assert_allclose(exact_errors(one, pairs)[0], [0.104, 0.2, 0.5, 0.5], atol=1e-12)
    assert crowdopt.solve(one).objective == 12


def test_a_market_of_two_kinds_by_hand():
    """A worker of .5 and .2 on the two kinds, another of .1 and .4; room 4 each, one task a kind with need .2
    and .2: x = (2, 2.5), for each has room.
    """
    market = Market(
        np.array([[0.5, 0.2], [0.1, 0.4]]), np.ones((2, 2)), np.array([4, 4]), np.array([1, 1]), np.full(2, 0.2)
    )
    assert prices(market, crowdopt.solve_program).price.tolist() == pytest.approx([2.0, 2.5], rel=1e-9)
