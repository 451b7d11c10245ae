"""Whole amounts: they miss nothing at a plan's price, and where they must miss something no plan has that price."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from crowdopt import certify, recipe, solve
from crowdopt.core.certificate import lagrangian_bound
from crowdopt.core.solution import Options
from crowdopt.crowd.classes import classes_of
from crowdopt.programs import aggregated, whole_amounts
from tests.small import brute_force, instances


def missing(program) -> float:
    """Evidence that whole labels must miss; infinite where the other rows leave none."""
    value = certify(solve(program, "highs", Options())).value
    return np.inf if value is None else value


@settings(max_examples=10)
@given(instances())
def test_no_plan_costs_what_amounts_cannot_be_had_for(instance):
    """Against all plans, with every option: nothing is missing at the optimum's price; boxes change no optimum."""
    best, classes = brute_force(instance), classes_of(instance)
    relaxed = aggregated.of_classes(classes, whole=True)
    linear = solve(relaxed, "highs-simplex", Options())
    for money in [0.0, 1.0, 3.0] + ([] if best is None else [best, best + 1.0]):
        program = whole_amounts.of_classes(classes, money)
        least = missing(program)
        if best is not None and money >= best:
            assert least == pytest.approx(0.0, abs=1e-6)
        if linear.dual is None:
            continue
        bound = lagrangian_bound(relaxed, linear.dual)
        if np.isfinite(bound) and bound <= money and least == pytest.approx(0.0, abs=1e-7):
            assert missing(whole_amounts.boxed(program, relaxed, linear.dual, bound, money)) <= 1e-6


@pytest.mark.parametrize("money", [60.0, 80.0, 100.0])
def test_a_margin_is_missed_last(money):
    """More is asked for, more is missing: by no more than the margin of all tasks."""
    classes = classes_of(recipe("R1:8x20"))
    plain, more = (missing(whole_amounts.of_classes(classes, money, margin)) for margin in (0.0, 0.1))
    assert plain - 1e-6 <= more <= plain + 0.1 * classes.task_class.size + 1e-6
