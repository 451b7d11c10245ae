"""No policy beats the lower bounds: held against optimal ones, found by brute force where that can be done."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from crowdopt import AssignmentInstance, certify, solve_program
from crowdopt.core.certificate import lagrangian_bound
from crowdopt.errors import InputError
from crowdopt.online import limits
from crowdopt.online.limits import groups_of, information, least
from crowdopt.programs import potential
from crowdopt.programs.potential import Potential
from tests.crowd.enumerated import coin

NONE, ZERO, ONE = -1, 0, 1


def crowd(accuracy, tasks: int = 2, capacity=9, epsilon: float = 0.3, **options) -> AssignmentInstance:
    skill = np.atleast_2d(accuracy)
    room = np.broadcast_to(capacity, skill.shape[1]).copy()
    return AssignmentInstance(skill, np.arange(tasks) % len(skill), room, epsilon, **options)


def best_policy(tasks: int, price: float, capacity, skills: list[tuple[float, tuple[float, ...]]]) -> float:
    """Least ``E labels + price * E wrong answers`` of any policy that may ask any worker any task at any time.

    ``skills`` is the prior over the workers' accuracies: known skills are one vector with probability 1. Every state
    is a table of labels; beliefs are worked out from scratch in each.
    """
    workers = len(skills[0][1])
    pairs = list(product(range(tasks), range(workers)))
    truths = list(product((ZERO, ONE), repeat=tasks))
    worlds = [(chance / len(truths), p, truth) for chance, p in skills for truth in truths]

    @cache
    def chances(state):
        """Of each world, and of this state in it."""
        seen = [(task, worker, label) for (task, worker), label in zip(pairs, state, strict=True) if label != NONE]
        return [
            weight * prod(p[worker] if label == truth[task] else 1 - p[worker] for task, worker, label in seen)
            for weight, p, truth in worlds
        ]

    @cache
    def value(state):
        """Of the best policy from here on, times the chance of getting here."""
        here, wrong = chances(state), 0.0
        for task in range(tasks):
            one = sum(w for w, (_, _, truth) in zip(here, worlds, strict=True) if truth[task] == ONE)
            wrong += min(one, sum(here) - one)
        best = price * wrong
        for k, (_, worker) in enumerate(pairs):
            done = sum(state[i] != NONE for i, (_, other) in enumerate(pairs) if other == worker)
            if state[k] == NONE and done < capacity[worker]:
                after = [(*state[:k], label, *state[k + 1 :]) for label in (ZERO, ONE)]
                best = min(best, sum(here) + sum(value(one) for one in after if sum(chances(one)) > 0))
        return best

    return value((NONE,) * len(pairs))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2]), st.sampled_from([0.15, 0.25, 0.35]))
def test_skills_known_is_below_every_policy(seed, room, epsilon):
    """LB0 at its own mu against the optimal policy that knows all skills and may ask anybody in any order."""
    rng = np.random.default_rng(seed)
    accuracy, capacity = rng.uniform(0.5, 0.95, 3).round(2), rng.integers(1, room + 1, 3)
    found = limits.skills_known(crowd(accuracy, 2, capacity, epsilon), solve_program)
    optimal = best_policy(2, found.mu, capacity, [(1.0, tuple(accuracy))]) - found.mu * 2 * epsilon
    proven = limits.held_with_skills_known(crowd(accuracy, 2, capacity, epsilon), found.potentials, found.mu)
    assert proven <= optimal + 1e-6 * max(1.0, found.mu)
    if np.isfinite(found.value):
        assert found.value == pytest.approx(max(0.0, proven))


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.3, 0.4]))
def test_skills_unknown_is_below_every_policy(seed, epsilon):
    """LB1 at its own mu against the optimal policy of two workers drawn from the prior, in all beliefs."""
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.uniform(0.45, 0.97, 2)).round(2)
    instance = crowd([low, high], 2, 2, epsilon)
    found = limits.skills_unknown(instance, solve_program, limits.skills_known(instance, solve_program))
    prior = [(0.25, pair) for pair in product((low, high), repeat=2)]
    optimal = best_policy(2, found.mu, [2, 2], prior) - found.mu * 2 * epsilon
    groups = groups_of(instance, np.zeros(instance.accuracy.shape, np.int64))
    proven = limits._stopped(instance, groups, found.potentials, found.mu)[0]
    assert proven <= optimal + 1e-6 * max(1.0, found.mu)


def test_any_potential_proves_something_and_the_program_finds_the_best():
    """The bound holds whatever V and mu are; the program's multipliers show that no V on these knots does better."""
    instance = crowd([0.5, 0.6, 0.7, 0.8] * 5, 40, 30, 0.1)
    best = limits.skills_known(instance, solve_program)
    rng = np.random.default_rng(0)
    for _ in range(20):
        shaken = [Potential(one.knots, one.value * rng.uniform(0.5, 1.5, one.value.size)) for one in best.potentials]
        other = limits.held_with_skills_known(instance, tuple(shaken), best.mu * rng.uniform(0.5, 2))
        assert other <= best.value + 1e-6
    program = potential.build(instance)
    solution = solve_program(program)
    assert certify(solution).proves_optimal(1e-6)
    assert -lagrangian_bound(program, solution.dual) == pytest.approx(best.value, rel=1e-3)


@pytest.mark.parametrize(
    ("accuracy", "epsilon", "known", "unknown"), [([0.5, 0.7], 0.1, 5373, 5732), ([0.6414], 0.1, 10768, 10768)]
)
def test_published_figures(accuracy, epsilon, known, unknown):
    """1000 tasks, 300 workers of 200 tasks: bounds that were found before on a grid without proof, within 1 %."""
    instance = crowd(np.resize(accuracy, 300), 1000, 200, epsilon)
    found = least(instance, solve_program)
    assert found.known == pytest.approx(known, rel=0.01) and found.unknown == pytest.approx(unknown, rel=0.01)
    assert found.independent and found.cost == max(found.known, found.unknown, found.information)
    curve = np.array(found.curve)
    assert (np.diff(curve[:, 1]) <= 1e-9).all()  # fewer errors never cost less
    assert np.interp(epsilon, *curve.T) == pytest.approx(found.cost, rel=0.05)


def wald(accuracy: float, epsilon: float) -> float:
    """``(1 - 2 eps) ln((1 - eps)/eps) / ((2p - 1) logit p)``: least labels per task of equal workers (Wald 1945)."""
    return (1 - 2 * epsilon) * np.log(1 / epsilon - 1) / ((2 * accuracy - 1) * np.log(accuracy / (1 - accuracy)))


def test_information_is_walds_closed_form_and_a_linear_program():
    """Equal workers: n times Wald's number. Priced ones with little capacity: the knapsack's LP."""
    equal = crowd([0.7] * 50, 20, 20, 0.1)
    assert information(equal) == pytest.approx(20 * wald(0.7, 0.1))
    rng = np.random.default_rng(1)
    accuracy, cost, room = rng.uniform(0.2, 0.9, 30), rng.uniform(1, 5, 30), rng.integers(1, 15, 30)
    instance = crowd(accuracy, 12, room, 0.2, cost=cost)
    rate = (2 * accuracy - 1) * np.log(accuracy / (1 - accuracy))
    need = 12 * wald(0.7, 0.2) * 0.4 * np.log(7 / 3)
    most = np.minimum(room, 12)
    expected = linprog(cost, A_ub=[-rate], b_ub=[-need], bounds=list(zip(np.zeros(30), most, strict=True))).fun
    assert information(instance) == pytest.approx(expected)
    assert information(crowd([1.0, 0.6], 4)) < 1e-6  # a label that is always right tells without limit
    assert information(crowd([0.55] * 3, 50, 2, 0.05)) == np.inf


def test_several_types_prices_and_priors():
    """Capacity is shared between types, dearer labels cost more, a known prior helps, nothing is needed for nothing.

    What cannot be done costs more than there is.
    """
    two = crowd([[0.7] * 10, [0.8] * 10], 20, 12, 0.2)
    alone = [crowd([p] * 10, 10, 10, 0.2) for p in (0.7, 0.8)]
    found = least(two, solve_program)
    apart = [limits.skills_known(one, solve_program).value for one in alone]
    assert 0 < found.known <= sum(apart) + 1e-6 and not found.independent
    assert found.cost == max(found.known, found.information)
    dear, told, plain = (
        limits.skills_known(crowd([0.7] * 20, 20, epsilon=0.2, **how), solve_program).value
        for how in ({"cost": 3.0}, {"prior": [0.7, 0.3]}, {})
    )
    assert dear == pytest.approx(3 * plain, rel=1e-3) and 0 < told < plain
    assert least(crowd([0.7] * 20, 20, epsilon=0.2, prior=[0.9, 0.1]), solve_program).cost == 0
    few = least(crowd([0.6] * 3, 40, 40, 0.01), solve_program)  # three weak workers, whatever the policy
    assert few.known == few.cost == np.inf
    with pytest.raises(InputError, match="2 classes"):
        limits.skills_known(crowd([0.7] * 3, classes=3), solve_program)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_information_falls_by_the_same_amount_whatever_is_believed(classes):
    """Bayes by hand on random beliefs: each label's expected gain is ``(p - u) ln(p / u)``, so Wald's count holds.

    Of all beliefs with the same error the one whose other classes are alike is the least, so what is needed is a bound.
    """
    rng = np.random.default_rng(classes)

    def told(belief):
        log = np.log(belief)
        pairs = product(range(classes), repeat=2)
        return sum((belief[k] - belief[m]) * (log[k] - log[m]) for k, m in pairs if k < m) / (classes - 1)

    for p in (0.15, 0.5, 0.7, 0.95):
        wrong, law = (1 - p) / (classes - 1), coin(p, classes)  # of a label, by class
        for belief in rng.dirichlet(np.ones(classes), 20):
            gained = sum(said @ belief * told(said * belief / (said @ belief)) for said in law.T) - told(belief)
            assert gained == pytest.approx((p - wrong) * np.log(p / wrong), abs=1e-9)
            assert told(belief) >= told(coin(belief.max(), classes)[0]) - 1e-12
    start = rng.dirichlet(np.full(classes, 5.0))
    one = crowd([0.7] * 30, 5, epsilon=0.05, classes=classes, prior=start, rule="bhattacharyya")
    rate = (0.7 - 0.3 / (classes - 1)) * np.log(0.7 * (classes - 1) / 0.3)
    assert information(one) == pytest.approx(5 * (told(coin(0.95, classes)[0]) - told(start)) / rate)
    assert least(one, solve_program).cost >= information(one)
