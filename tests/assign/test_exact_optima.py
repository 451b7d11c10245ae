"""Plans by exact errors, against optima in rationals."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import crowdopt
from tests.models.exact_optima import FILES, facts_of, instance_of, optima

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
