"""The master over patterns: the program's relaxation, made feasible at a price."""

from __future__ import annotations

import pytest

from crowdopt import AssignmentInstance, Status, relax, solve
from crowdopt.crowd.pools import pools_of
from crowdopt.programs import pattern_master, patterns
from tests.programs.optima import optimum


@pytest.mark.parametrize("capacity", [1, 3, 6])
@pytest.mark.parametrize("rule", ["exact-error", "mean-error"])
def test_over_the_whole_menu_it_is_the_relaxation(capacity, rule):
    """Where the relaxation has a point nothing goes without; where it has none, something does."""
    instance = AssignmentInstance([[0.9, 0.9, 0.7, 0.7, 0.7]], [0] * 6, [capacity] * 5, 0.12, rule=rule)
    pools = pools_of(instance)
    menu = patterns.whole_menu(pools)
    wrong = float(instance.epsilon.sum()) if instance.the_rule.average else None
    base, price = relax(patterns.of_menu(pools, menu, wrong)), 1000.0
    program = pattern_master.of_priced_menu(pools, menu, price, wrong)
    if solve(base).status is Status.OPTIMAL:
        assert optimum(program) == pytest.approx(optimum(base))
    else:
        assert program.column("without").view(solve(program).primal).sum() > 1e-6
