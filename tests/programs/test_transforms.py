"""The approximated and the sampled LP, the missing evidence, the smallest coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance, InputError, Status, certify, recipe, relax, solve
from crowdopt.programs import approximated, assignment, missing, sampled, smallest_coverage
from tests.small import instances


def optimum(program) -> float:
    """The certified optimum of a linear program."""
    certificate = certify(solve(program))
    assert certificate.proves_optimal(1e-8)
    return certificate.value


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


def test_the_sampled_lp_is_the_lp_of_the_sample():
    """The whole crowd as its own sample, gamma = 1, is the LP itself; a sample keeps its workers' columns."""
    instance = recipe("R10:60x20", priced=True)
    assert optimum(sampled.build(instance, range(20), 1.0)) == pytest.approx(optimum(relax(assignment.build(instance))))
    some = sampled.transform(replace(instance, forbidden=[(0, 3), (1, 4)]), [4, 2], 0.1)
    assert np.array_equal(some.accuracy, instance.accuracy[:, [4, 2]])
    assert some.forbidden.tolist() == [[1, 0]] and np.allclose(some.need, 0.1 * instance.need)


@pytest.mark.parametrize(
    ("sample", "share", "sentence"),
    [([], 0.3, "at least one"), ([1, 1], 0.3, "each once"), ([99], 0.3, "outside 0..19"), ([1], 0.0, "gamma")],
)
def test_a_senseless_sample_is_refused(sample, share, sentence):
    """A sample is a non-empty set of workers and a share of the crowd."""
    with pytest.raises(InputError, match=sentence):
        sampled.transform(recipe("R10:60x20"), sample, share)


@settings(max_examples=60)
@given(instances())
def test_nothing_is_missing_exactly_where_the_lp_is_feasible(instance):
    """The elastic LP is always feasible; its optimum is 0 if and only if the LP has a point."""
    feasible = solve(relax(assignment.build(instance))).status is Status.OPTIMAL
    assert (optimum(missing.build(instance)) <= 1e-7) == feasible


@settings(max_examples=60)
@given(instances(options=False))
def test_the_smallest_coverage_is_the_threshold_of_feasibility(instance):
    """With the level that it returns as everybody's need the LP is feasible; with a little more it is not."""
    level = -optimum(smallest_coverage.build(instance))
    demand = level / replace(instance, demand=1.0).need
    at = relax(assignment.build(replace(instance, demand=np.maximum(0, demand - 1e-7))))
    above = relax(assignment.build(replace(instance, demand=demand + 1e-4)))
    assert solve(at).status is Status.OPTIMAL
    assert solve(above).status is Status.INFEASIBLE
