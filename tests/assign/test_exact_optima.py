"""Plans by exact errors, against optima in rationals and against every set of pairs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import crowdopt
from tests.checkers.plans import least_cost
from tests.draw import campaigns
from tests.models.exact_optima import FILES, RULES, facts_of, instance_of, optima

WISHES = ("least-labels", "most-labels", "budget", "prices", "prices-by-type", "prior", "priors")
files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@files
def test_the_stated_optima_are_the_exact_ones(path: Path) -> None:
    """Recomputed in rationals: every set of workers for every task, the error as the less likely class."""
    facts = facts_of(path)
    assert optima(facts) == facts["optimum"]


@files
def test_a_plan_has_the_exact_optimum(path: Path) -> None:
    """With a target for each task, and on average."""
    facts = facts_of(path)
    for rule, stated in facts["optimum"].items():
        plan = crowdopt.solve(instance_of(facts, rule))
        if stated == "infeasible":
            assert not plan.found
        else:
            assert plan.proven and plan.objective == pytest.approx(float(Fraction(stated)))


@settings(max_examples=15)
@given(campaigns(12, RULES, WISHES))
def test_the_method_finds_the_least_cost(instance) -> None:
    """Against all sets of pairs: the same cost, a bound no higher, and no plan where there is none."""
    best, plan = least_cost(instance), crowdopt.solve(instance)
    assert plan.found == (best < np.inf)
    if plan.found:
        assert plan.objective == pytest.approx(best) and plan.bound <= best + 1e-6
        assert plan.certified_bound <= best + 1e-6
