"""The program of potentials: what its rows say, and that it is certified like any other."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt import AssignmentInstance, certify, solve
from crowdopt.crowd.potentials import Potential, grid
from crowdopt.programs import potential


def crowd(accuracy, tasks: int = 30) -> AssignmentInstance:
    skill = np.atleast_2d(accuracy)
    return AssignmentInstance(skill, np.arange(tasks) % len(skill), np.full(skill.shape[1], 20), 0.1)


def point_of(program, potentials: tuple[Potential, ...], mu: float, gain, earn):
    """A point of the program from its parts."""
    parts = {"potential": np.stack([one.value for one in potentials]), "mu": [mu], "gain": gain, "earn": earn}
    return np.concatenate([np.ravel(parts[block.name]) for block in program.columns])


def test_a_potential_made_by_hand_is_a_point_and_its_value_what_it_proves():
    """``V = mu min(b, 1 - b)`` itself: gains as computed for the continuum satisfy every row, and no less does."""
    instance = crowd([0.6, 0.8, 0.8])
    program = potential.build(instance)
    target, level = potential.error_target(instance, 24)
    one = Potential(target.knots, 5.0 * (1 - target.knots))
    gain = one.most_gained(target.level_accuracy)
    rules = potential.everything(instance, level)
    earn = np.zeros(rules.size.size)
    np.maximum.at(earn, rules.group, rules.labels @ gain - rules.paid)
    point = point_of(program, (one,), 5.0, gain, earn)
    activity = program.matrix @ point
    assert (activity <= program.row_upper + 1e-9).all() and (activity >= program.row_lower - 1e-9).all()
    assert -program.cost @ point == pytest.approx(30 * 2.5 - 5.0 * 3.0 - rules.size @ earn)
    less = program.matrix @ point_of(program, (one,), 5.0, 0.99 * gain, earn)
    assert (less > program.row_upper + 1e-6).any()


@pytest.mark.parametrize("accuracy", [[0.7] * 9, [0.5, 0.6, 0.9] * 3, [[0.7, 0.5] * 4, [0.5, 0.8] * 4]])
def test_multipliers_certify_its_optimum(accuracy):
    """Weak duality closes the gap, as for every program of the house."""
    program = potential.build(crowd(accuracy))
    certificate = certify(solve(program))
    assert certificate.proof == "certificate" and certificate.proves_optimal(1e-5)


@pytest.mark.slow
def test_coarser_skills_promise_less_labels():
    """Levels are as good as their best: with fewer of them the crowd looks better, and the bound is lower."""
    instance = crowd(np.random.default_rng(0).uniform(0.5, 0.9, 40))
    values = [-certify(solve(potential.build(instance, levels))).value for levels in (3, 6, 40)]
    assert values[0] <= values[1] + 1e-6 and values[1] <= values[2] + 1e-6
    knots = grid(30)
    few = potential.error_target(instance, 40, knots)[0]
    rough = potential.of_rules(few, potential.everything(instance, potential.error_target(instance, 40, knots)[1]))
    assert -certify(solve(rough)).value <= values[2] + 1e-6  # fewer knots prove less
