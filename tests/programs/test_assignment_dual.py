"""The paper's dual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import InputError, Status, certify, recipe, relax, solve
from crowdopt.core.dual import dualize
from crowdopt.programs import assignment, assignment_dual
from tests.small import instances


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
    primal, dual, mechanical = solve(linear), solve(written), solve(dualize(linear))
    assert dual.status is mechanical.status
    assert (primal.status is Status.INFEASIBLE) == (dual.status is Status.UNBOUNDED)
    if primal.status is Status.OPTIMAL:
        assert certify(dual).value == pytest.approx(-certify(primal).value, abs=1e-8)
        assert certify(mechanical).value == pytest.approx(certify(dual).value, abs=1e-8)


def test_any_prices_bound_the_plan():
    """For any x, z >= 0 the best t is max(0, q x - z - c): the point is dual feasible, so it bounds the LP."""
    instance, rng = recipe("R10:60x20"), np.random.default_rng(5)
    program = assignment_dual.build(instance)
    optimum = certify(solve(relax(assignment.build(instance)))).value
    for _ in range(20):
        x, z = rng.exponential(2.0, instance.n_tasks), rng.exponential(0.5, instance.n_workers)
        value = instance.evidence[instance.task_type] * x[:, None] - instance.cost[instance.task_type]
        t = np.maximum(0.0, value - z)
        point = np.concatenate([x, z, t.reshape(-1)])
        assert (program.matrix @ point <= program.row_upper + 1e-9).all()
        assert -program.cost @ point <= optimum + 1e-9
