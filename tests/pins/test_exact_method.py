"""The exact method's pieces against values by hand: classes, cardinality, bounds, errors."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.assign.oracle import EffortParams, Oracle
from crowdopt.assign.problem import problem_of
from crowdopt.core.certificate import certify
from crowdopt.core.clock import Clock
from crowdopt.crowd.alike import classes_of
from crowdopt.crowd.vote_errors import exact_errors, fewest_exact
from crowdopt.programs import aggregated
from crowdopt.recheck.bounds import JointPull, prove, prove_sets

NEED = np.exp(-1.0)  # the target whose need is C = 2 under rule hoeffding


def instance(skills, tasks=4, capacity=4, **more):
    """Equal tasks with need 2, or as given."""
    given = {"epsilon": NEED, "rule": "hoeffding", **more}
    return crowdopt.AssignmentInstance(np.atleast_2d(skills), np.zeros(tasks, np.int64), capacity, **given)


FIVE = instance([0.9] * 5)


def test_classes_by_hand():
    """Workers .9, .9, .7 with room 4, 4, 4 and one .9 with room 1: three classes, of 2, 1 and 1."""
    found = classes_of(instance([0.9, 0.9, 0.7, 0.9], capacity=[4, 4, 4, 1]))
    assert found.worker_class.tolist() == [0, 0, 1, 2] and found.workers_in.tolist() == [2, 1, 1]
    assert found.tasks_in.tolist() == [4] and found.room.tolist() == [[2, 1, 1]]
    np.testing.assert_allclose(found.spread(np.array([[8.0, 4.0, 1.0]])), [[1.0, 1.0, 1.0, 0.25]] * 4)


def test_cardinality_by_hand():
    """Need 2: labels of .64 give .64, 1.28, 1.92, 2.56: four. Two of .81 and then .36: .81, 1.62, 1.98, 2.34: four.

    One more than there are: hopeless.
    """
    for skills in ([0.9] * 6, [0.95, 0.95, 0.8, 0.8, 0.8], [0.9] * 3):
        assert classes_of(instance(skills)).cardinality.tolist() == [4]


def test_the_aggregated_program_by_hand():
    """Four tasks, five workers of .64 with room 4: cover 4 * 2, load 5 * 4, at most 4 * 5 labels; optimum 8/.64 = 12.5;
    with cardinality rows 16. The box does not shrink with the capacity.
    """
    program, whole = aggregated.build(FIVE), aggregated.build(FIVE, whole=True)
    assert program.row_lower[0] == pytest.approx(8, abs=1e-6) and program.row_upper[1] == 20
    assert program.upper.tolist() == [20.0] and program.matrix.toarray().tolist() == [[pytest.approx(0.64)], [1.0]]
    assert certify(crowdopt.solve_program(program)).bound == pytest.approx(12.5, abs=1e-5)
    assert whole.row_lower[2] == 16.0
    assert certify(crowdopt.solve_program(whole)).bound == pytest.approx(16.0, abs=1e-6)
    tight = aggregated.build(instance([0.9] * 5, capacity=2))
    assert tight.upper.tolist() == [20.0] and tight.row_upper[1] == 10


def test_proofs_by_hand():
    """Four tasks, need 2, five workers of .64, room 4, price 1. x = 1/.64, w = 0: r = 0, so 4 * 2/.64 = 12.5. w = -.5
    makes r = .5: 12.5 - 20 * .5 = 2.5 by rows at that x; by sets four labels at 1.5 each: 24 - 10 = 14. Limits l = 1
    on the fewest labels, 4 of them: 16 + 4 * 5 * min(0, 1 - 1 - .64 x).
    """
    asked, x, none, five = instance([0.9] * 5, min_labels=4), np.full(4, 1 / 0.64), np.zeros(4), np.zeros(5)
    for of, task, worker, labels, bound in (
        (FIVE, x, five, none, 12.5),
        (FIVE, x, five - 0.5, none, 2.5),
        (asked, none, five, none + 1, 16),
        (FIVE, 2 * x, five, none, 25 - 20),
        (FIVE, -x, five + 1, none, 0),
    ):
        assert prove(of, task, worker, labels, 0.0) == pytest.approx(bound, abs=1e-6)
    for worker, bound in ((five - 0.5, 14), (five, 16)):
        assert prove_sets(FIVE, worker, 0.0, JointPull.none(FIVE)) == pytest.approx(bound, abs=1e-5)


def test_a_sweep_s_bound_by_hand():
    """Four tasks that cost 6 each at w = -.5, five workers of room 4: 24 - 20/2 = 14."""
    sweep = Oracle(problem_of(FIVE), 1).sweep(np.array([-0.5]), EffortParams(close=0.0), Clock(60.0))
    assert sweep.bound == pytest.approx(14.0, abs=1e-6)


def test_the_prior_leans_a_vote():
    """Class 1 has .9 beforehand: a task without labels errs .1, one label of .6 changes nothing."""
    one = instance([0.6] * 2, epsilon=0.05, rule="exact-error", prior=[0.1, 0.9])
    np.testing.assert_allclose(exact_errors(one, np.array([[0, 0]]))[0], 0.1, atol=1e-12)


def test_the_fewest_labels_for_an_exact_error():
    """P = .8, error at most .11: one vote errs .2, two .2, three .104, and none a half."""
    one = instance([0.8] * 5, epsilon=0.11, rule="exact-error")
    assert fewest_exact(one).tolist() == [3] * 4
    pairs = np.array([[0, 0], [0, 1], [0, 2], [1, 0]])
    np.testing.assert_allclose(exact_errors(one, pairs)[0], [0.104, 0.2, 0.5, 0.5], atol=1e-12)
