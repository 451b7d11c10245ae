"""The fewest wrong answers: tangents lie below the curve, so no plan that the money buys has fewer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crowdopt import AssignmentInstance
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import aggregated, fewest_wrong
from tests.programs.optima import optimum


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_no_way_to_spend_the_money_is_below_the_program(seed):
    """A random point of the aggregated LP within the budget, valued by the curve itself, is never below the optimum."""
    rng = np.random.default_rng(seed)
    instance = AssignmentInstance(rng.uniform(0.55, 0.9, (2, 6)), rng.integers(0, 2, 8), rng.integers(1, 6, 6), 0.4)
    classes = classes_of(replace(instance, budget=12.0, demand=np.asarray(0.0)))
    held = rng.uniform(0, 1, classes.need.size)
    touched = [held + more for more in (0.0, 0.5, 2.0)]
    tangents = [fewest_wrong.Tangents(a, np.exp(-a / 2), -np.exp(-a / 2) / 2) for a in touched]
    least = optimum(fewest_wrong.of_tangents(classes, held, tangents))
    base = aggregated.of_classes(classes)
    point = rng.uniform(base.lower, base.upper)
    excess = (base.matrix @ point) / np.where(np.isfinite(base.row_upper), base.row_upper, np.inf)
    point /= max(1.0, excess.max())
    assume((base.matrix @ point <= base.row_upper + 1e-9).all())
    amounts = base.column("u").view(point)
    evidence = held + (classes.evidence * amounts).sum(axis=1) / classes.tasks_in
    assert classes.tasks_in @ np.exp(-evidence / 2) >= least - 1e-7
