"""What the printed paper gets wrong (models/README.md, "Errata"), each by its smallest example in numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import crowdopt
from crowdopt.core.program import relax
from crowdopt.crowd import bounds, gain
from crowdopt.crowd.evidence import HOEFFDING
from crowdopt.crowd.selection import SelectionInstance
from crowdopt.offline import ranking
from crowdopt.programs import assignment
from tests.models.reading import MODELS

TIE = 1e-7  # task values this close are equal: the weights come from a solver


def instance_with(evidence: np.ndarray, need: float, capacity: int) -> crowdopt.AssignmentInstance:
    """An instance under rule hoeffding with that evidence and need, one type per task."""
    return crowdopt.AssignmentInstance(
        accuracy=(1 + np.sqrt(evidence)) / 2,
        task_type=np.arange(len(evidence)),
        capacity=np.full(evidence.shape[1], capacity),
        epsilon=0.4,
        demand=need / HOEFFDING.need(np.array(0.4), 2),
        rule="hoeffding",
    )


def task_weights(instance: crowdopt.AssignmentInstance) -> np.ndarray:
    """x* of the relaxed program, certified optimal."""
    solution = crowdopt.solve(relax(assignment.build(instance)))
    assert crowdopt.certify(solution).proves_optimal(1e-9)
    return solution.program.row("cover").view(solution.dual)


def outcomes(weights: np.ndarray, evidence: np.ndarray, capacity: int) -> list[np.ndarray]:
    """What the Primal Approximation Algorithm (their Algorithm 1) may return: one 0-1 table per way to break ties."""
    choices = [_choices(weights * column - 1, capacity) for column in evidence.T]
    return [np.column_stack(columns) for columns in product(*choices)]


def _choices(values: np.ndarray, capacity: int) -> list[np.ndarray]:
    """One worker's possible sets of tasks: those of value >= 0, highest first, at most ``capacity``."""
    able = np.flatnonzero(values >= -TIE)
    if able.size <= capacity:
        return [np.isin(np.arange(values.size), able)]
    threshold = np.sort(values)[-capacity]
    sure = values > threshold + TIE
    tied = np.flatnonzero(np.abs(values - threshold) <= TIE)
    return [sure | np.isin(np.arange(values.size), rest) for rest in combinations(tied, capacity - int(sure.sum()))]


def integer_optimum(instance: crowdopt.AssignmentInstance) -> float:
    plan = crowdopt.assign(instance)
    assert plan.proven
    return plan.objective


SPLIT = np.array([[0.9, 0.7, 0.4, 0.5], [0.9, 0.6, 0.9, 0.4]])  # q: two tasks, four workers of capacity 1


@pytest.mark.parametrize("noise", [0.0, 1e-5, 1e-3, 1e-2])
def test_the_primal_approximation_algorithm_may_be_infeasible(noise: float) -> None:
    """Theorem 1 says that its output is feasible. The LP splits worker 1 between both tasks, so by complementary
    slackness her two values are equal at x*, perturb q as you will; whichever task she then gets, the other is short.
    """
    rng = np.random.default_rng(1)
    for _ in range(5 if noise else 1):
        evidence = SPLIT * (1 + noise * rng.uniform(-1, 1, SPLIT.shape))
        instance = instance_with(evidence, 1.39, 1)
        assert integer_optimum(instance) == 4
        weights = task_weights(instance)
        assert weights == pytest.approx([2, 2], rel=4 * noise + 1e-9)
        found = outcomes(weights, evidence, 1)
        assert len(found) == 2
        for plan in found:
            assert ((evidence * plan).sum(axis=1) < 1.39 - 0.1).any()


def test_the_excess_may_be_above_the_number_of_tasks() -> None:
    """Theorem 1 bounds the excess by min(m, n). One task has no other to tie with, so the perturbation assumption
    says nothing, and all ten equal workers have value 0: all are taken where six do. The bound m holds.
    """
    evidence = np.full((1, 10), 0.8**2)
    instance = crowdopt.AssignmentInstance(
        accuracy=np.full((1, 10), 0.9), task_type=[0], capacity=1, epsilon=0.2, rule="hoeffding"
    )
    (plan,) = outcomes(task_weights(instance), evidence, 1)
    best = integer_optimum(instance)
    assert (best, plan.sum()) == (6, 10)
    assert min(plan.shape) < plan.sum() - best <= plan.shape[1]


def test_the_excess_may_be_above_the_number_of_workers_where_types_tie_everything() -> None:
    """The bound m needs that each worker has at most one task at her threshold; equal tasks all sit there."""
    evidence = np.full((3, 10), 0.8**2)
    instance = crowdopt.AssignmentInstance(
        accuracy=np.full((1, 10), 0.9), task_type=[0, 0, 0], capacity=3, epsilon=0.2, rule="hoeffding"
    )
    (plan,) = outcomes(task_weights(instance), evidence, 3)
    assert (integer_optimum(instance), plan.sum()) == (18, 30)


def test_weights_against_the_truth_break_lemma_1() -> None:
    """Lemma 1 claims its bound for any weights; it squares sum w (2p - 1), which must not be negative for that."""
    weight, skill = -1.0, 0.9
    error = skill  # the vote is wrong whenever the label is right
    assert error > np.exp(-((weight * (2 * skill - 1)) ** 2) / weight**2 / 2)


def test_theorem_2_s_error_bound_says_nothing_at_usual_sizes() -> None:
    """Printed or mended, it exceeds 1 until gamma C passes (6 ln(2/delta))^2, about 323 at delta = .1."""
    epsilon, delta, gamma = 0.05, 0.1, 1.0
    root, spread = np.sqrt(gamma * HOEFFDING.need(epsilon, 2)), 6 * np.log(2 / delta)
    assert epsilon ** (1 - spread) / root > 1
    assert epsilon ** (1 - spread / root) > 1
    assert spread**2 == pytest.approx(323, abs=0.1)


def test_theorem_5_asks_for_thousands_of_gold_tasks() -> None:
    """8 ln(4 T (1 + gamma) m / delta) / qmin^2, where the paper's experiments use 10 and 20 (gamma = .3, m = 300)."""
    needed = 8 * np.log(4 * 1 * 1.3 * 300 / 0.1) / 0.16**2
    assert needed == pytest.approx(3017.2, abs=0.1)


def test_li_and_liu_s_theorem_1_fails_for_eight_classes() -> None:
    """One gold question, L = 8, w = .84, 69 workers: a weight is 7 with chance w, else -1. That one given wrong class
    beats the right one has probability e^-45.12, more than the printed bound e^-45.16 on all errors; every term of the
    convolution is positive, so float64 is exact to 13 digits. The corrected bound holds.
    """
    classes, skill, workers = 8, 0.84, 69
    other = (1 - skill) / (classes - 1)
    step = np.zeros(15)  # what a worker adds to the wrong class's score less the right one's: -7 to 7
    for weight, chance in ((classes - 1, skill), (-1, 1 - skill)):
        step[7 + weight] += chance * other
        step[7 - weight] += chance * skill
    step[7] += 1 - step.sum()
    law = np.ones(1)
    for _ in range(workers):
        law = np.convolve(law, step)
    beaten = law[7 * workers + 1 :].sum()
    score = np.sqrt(workers) * (classes * skill - 1) ** 2
    assert np.log(beaten) == pytest.approx(-45.12, abs=0.01)
    assert np.log(bounds.printed_linear_vote_bound(score, classes)) == pytest.approx(-45.16, abs=0.01)
    assert bounds.printed_linear_vote_bound(score, classes) < beaten
    assert (classes - 1) * law[7 * workers :].sum() <= bounds.linear_vote_bound(score, classes)


def test_theorem_3_does_not_cover_the_selected_set() -> None:
    """Workers who guess, two questions each: whoever is selected looks better than she is. For the best of 4000 the
    80 % interval misses the true score, 0, every time; for a set fixed in advance it covers it more than promised.
    """
    rng = np.random.default_rng(1)
    covered = {"selected": [], "fixed": []}
    for _ in range(40):
        instance = SelectionInstance(rng.binomial(2, 0.5, 4000), 2, 2)
        found = ranking.algorithm1(instance)
        low, high = found.interval(0.8)
        covered["selected"].append(low <= 0 <= high)
        first = replace(found, workers=np.arange(found.workers.size))
        low, high = first.interval(0.8)
        covered["fixed"].append(low <= 0 <= high)
        assert bounds.FIXED_IN_ADVANCE in found.warnings
    assert np.mean(covered["selected"]) == 0
    assert np.mean(covered["fixed"]) >= 0.8


def test_algorithm_1_hires_a_worker_whose_vote_weighs_nothing() -> None:
    """All shares 1/2, L = 2: G is negative for everybody, k* = 1, and the one hired has weight 0; we say so."""
    found = ranking.algorithm1(SelectionInstance([5, 5, 5], 10, 2))
    assert found.proven and found.workers.tolist() == [0]
    assert found.weights.tolist() == [0.0] and found.score < 0
    assert any("weigh nothing" in warning for warning in found.warnings)


def test_one_control_question_has_no_variance() -> None:
    """(10) divides by n - 1."""
    with pytest.raises(crowdopt.InputError, match="a variance needs two"):
        SelectionInstance([1, 0], 1, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        assert not np.isfinite(gain.reliability_variance(1, 1))


def test_float64_breaks_algorithm_1_s_ties_wrongly() -> None:
    """L = 2, n = 6, c = (6, 5, 5, 5): G is (1, 1/3, 1/3, 1/3), so F_1 = F_4 = 1 exactly and k* = 1, the smallest.

    With the gains (8), (10) in float64 F_4 comes out above F_1.
    """
    c, n = np.array([6, 5, 5, 5]), 6
    floats = gain.gain_from_estimates(gain.reliability(c, n), gain.reliability_variance(c, n), 2)
    scores = np.cumsum(floats) / np.sqrt(np.arange(1, 5))
    assert int(np.argmax(scores)) + 1 == 4
    assert ranking.algorithm1(SelectionInstance(c, n, 2)).workers.tolist() == [0]


def test_every_test_that_the_page_names_is_here() -> None:
    """A mathematician who reads models/README.md must find what it points to."""
    named = set(re.findall(r"`(test_\w+)`", (MODELS / "README.md").read_text(encoding="utf-8")))
    assert named - {"test_errata", "test_models"} <= set(globals())
