"""The approximated LP: never dearer than the true one, under the theorem's conditions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, Status, certify, recipe, relax, solve
from crowdopt.programs import approximated, assignment
from tests.programs.optima import optimum


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(0.0, 0.04))
def test_the_approximated_lp_is_no_dearer(seed, error):
    """Ho et al. 2013, Theorem 3: with skills known to within t < qmin/4 its optimum is at most the true LP's."""
    rng = np.random.default_rng(seed)
    accuracy = rng.uniform(0.75, 0.95, (2, 12))
    true = AssignmentInstance(accuracy, rng.integers(0, 2, 8), rng.integers(4, 9, 12), 0.3, rule="hoeffding")
    solution = solve(relax(assignment.build(true)))
    if solution.status is Status.INFEASIBLE:
        return
    amount = solution.primal.reshape(8, 12)
    quality = (amount * true.evidence[true.task_type]).sum(axis=1) / amount.sum(axis=1)
    estimate = replace(true, accuracy=np.clip(accuracy + rng.uniform(-error, error, accuracy.shape), 0, 1))
    least = float(quality.min())
    assert optimum(approximated.build(estimate, error, least)) <= certify(solution).value + 1e-7


def test_the_approximated_lp_states_its_conditions():
    """The theorem is for rule hoeffding and t < qmin/4; anything else is refused, not bent."""
    instance = recipe("R1:20x100")
    with pytest.raises(InputError, match="0 <= t < qmin/4"):
        approximated.transform(instance, 0.1, 0.4)
    with pytest.raises(InputError, match="proved for rule hoeffding"):
        approximated.transform(replace(instance, rule="bhattacharyya"), 0.01, 0.4)
    scaled = approximated.transform(instance, 0.05, 0.4)
    assert scaled.need == pytest.approx(2 * np.log(1 / 0.2 ** (1 - 4 * 0.05 / 0.4)))
