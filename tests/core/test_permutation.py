"""A program in another order is the same program."""

from __future__ import annotations

import numpy as np

from crowdopt.backends import solve
from crowdopt.core.certificate import certify
from crowdopt.core.permutation import permuted
from crowdopt.core.program import relax
from crowdopt.core.solution import Solution, Status
from crowdopt.crowd.recipes.named_recipes import recipe
from crowdopt.programs import assignment


def test_its_answers_are_answers_to_the_first_one():
    """Point and multipliers, put back in the first order, certify the same optimum there."""
    program = relax(assignment.build(recipe("R1:8x20", 0)))
    straight = solve(program, "highs")
    for seed in range(3):
        order = permuted(program, np.random.default_rng(seed))
        assert not np.array_equal(order.columns, np.arange(program.cost.size))
        found = solve(order.program, "highs")
        back = Solution(
            *(program, "highs", Status.OPTIMAL, order.point(found.primal), order.multipliers(found.dual), None, None),
            seconds=0.0,
            raw="",
        )
        known = certify(back)
        assert known.violation <= 1e-7 and abs(known.gap) <= 1e-7
        assert abs(known.value - certify(straight).value) <= 1e-7
        shuffled = order.program.matrix @ found.primal
        np.testing.assert_allclose(order.multipliers(shuffled), program.matrix @ back.primal, atol=1e-9)
