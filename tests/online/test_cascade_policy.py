"""The policy cascade: values that are a recursion's, and the first of them are the bound on any policy."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.online.beliefs.cascade_values import ComingWorkers, cascade_values, settled_values
from crowdopt.online.crowds import simulated_stream
from crowdopt.online.limits.least_cost import skills_known
from crowdopt.online.policies import named
from crowdopt.online.replay import replay

TASKS, WORKERS, CAPACITY, EPSILON = 200, 80, 60, 0.1


def hammers(seed):
    skill = np.random.default_rng([seed, 1]).choice([0.5, 0.8], WORKERS)[None, :]
    return crowdopt.AssignmentInstance(skill, np.zeros(TASKS, int), CAPACITY, EPSILON)


def test_values_are_a_fixed_point_below_stopping():
    """``V = min(mu (1 - b), c + E_p V(b'))`` at every knot; dearer errors never make a task cheaper."""
    knots = np.append(1 / (1 + np.exp(-np.linspace(0, 9, 79))), 1.0)
    values = settled_values(knots, 30.0, ((np.array([0.7, 0.9]), np.array([1.0, 3.0])),))
    stop, onward = values.stop(knots), values.best_onward(0, knots)
    assert values.value[0] == pytest.approx(np.minimum(stop, onward), abs=1e-6)
    assert (values.dearer(1.5).value >= values.value - 1e-9).all()


def test_the_first_values_are_the_bounds_program():
    """Before any label the values of all tasks less what errors may cost are the bound on any policy, but for rounding.

    Workers are alike and there is room, so the program of :mod:`crowdopt.online.limits.least_cost` has one level too.
    """
    instance = crowdopt.AssignmentInstance(np.full((1, WORKERS), 0.8), np.zeros(TASKS, int), CAPACITY, EPSILON)
    market = ComingWorkers(np.array([[0.8]]), np.array([float(WORKERS)]), float(CAPACITY), np.ones(1))
    values = cascade_values(np.zeros(TASKS, int), np.full(TASKS, 0.5), EPSILON * TASKS, market, crowdopt.solve)
    cost = TASKS * float(values.value[0, 0]) - values.mu * EPSILON * TASKS
    assert cost == pytest.approx(skills_known(instance, crowdopt.solve).value, rel=0.03)


@pytest.mark.parametrize("text", ["cascade:skills-from=known", "cascade"])
def test_it_ends_at_the_mean_target(text):
    """Whatever it asks, it goes on until its mean claim is the target's, within capacities."""
    instance = hammers(0)
    run = replay(named(text), simulated_stream(instance, (0, 2)), 0, crowdopt.solve)
    assert run.claims.mean() <= EPSILON + 1e-9 and run.over_capacity == 0 and not run.notes


def test_what_it_does_not_do_is_said():
    """More than two classes, unknown sources of skill."""
    with pytest.raises(InputError, match="skills-from"):
        named("cascade:skills-from=hope")
    instance = crowdopt.AssignmentInstance(np.full((1, 5), 0.8), np.zeros(4, int), 4, 0.2, classes=3)
    with pytest.raises(InputError, match="2 classes"):
        replay(named("cascade"), simulated_stream(instance, (0,)), 0, crowdopt.solve)
