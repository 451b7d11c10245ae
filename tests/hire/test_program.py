"""What ranking cannot do and the program can, against every set there is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.core.solution import Options, Status
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import cost_frontier, solve_program, solve_table
from tests.selections import allowed, best_sets, exact_gains, limited, squared

OPTIONS = Options(time_limit=20)
LIMITS = [{"money"}, {"required"}, {"barred"}, {"group"}, {"family"}, {"money", "required", "barred", "group"}]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(sorted(limits)))
def test_the_program_finds_the_best_allowed_set(limits: set[str]) -> None:
    """Each limit by itself and all together, or that there is none, by brute force in fractions."""
    rng = np.random.default_rng(len(limits))
    infeasible = 0
    for _ in range(10):
        instance = limited(rng, 7, limits)
        best, sets = best_sets(instance)
        found = solve_program(instance, crowdopt.solve_program, "highs", OPTIONS, "highs")
        infeasible += best is None
        if best is None:
            assert not found.found and found.status is Status.INFEASIBLE
        else:
            assert tuple(sorted(found.workers.tolist())) in sets
            assert found.status is Status.OPTIMAL and found.proven
            assert "money" in limits or found.proof == "certificate"  # tight unless money is limited
    assert (0 < infeasible < 10) == ("money" in limits)


def test_the_frontier_against_cost_has_every_set_that_no_cheaper_one_matches() -> None:
    """Under all limits, by looking at every set; its last point is what the table hires, the best set of all."""
    rng = np.random.default_rng(9)
    for _ in range(40):
        instance = limited(rng, 6, {"money", *rng.choice(["required", "barred", "group"], 2)})
        gains, sets, expected = exact_gains(instance), [], []
        for k in range(1, instance.sizes + 1):
            for members in filter(partial(allowed, instance), combinations(range(instance.n_workers), k)):
                sets.append((sum(instance.price[i] for i in members), -squared(sum(gains[i] for i in members), k)))
        for cost, value in sorted(sets):
            if not expected or -value > expected[-1][1]:
                expected.append((cost, -value))
        found, hired = cost_frontier(instance), solve_table(instance)
        assert found.cost.tolist() == [cost for cost, _ in expected]
        assert found.score * np.abs(found.score) == pytest.approx([float(value) for _, value in expected], abs=1e-9)
        assert all(allowed(instance, tuple(members.tolist())) for members in found.members)
        assert hired.found == bool(expected) and hired.proof == "solver"
        assert not expected or sorted(hired.workers) == sorted(found.members[-1])


def test_prices_in_decimals_have_a_common_unit() -> None:
    """0.1 + 0.2 is not 0.3 in float64; the grid is that of the decimals as they are written, if it is not too fine."""
    instance = SelectionInstance([10, 9, 8], 10, 2, price=[0.3, 0.1, 0.2], money=0.3)
    assert [members.tolist() for members in cost_frontier(instance).members] == [[1], [0]]
    fine = {"correct": [9] * 200, "price": np.random.default_rng(1).random(200)}
    families = {"correct": [9, 8], "price": 1.0, "group": [0, 0], "most_each": 1}
    bad = [(fine, "round the prices"), ({"correct": [9, 8]}, "needs a price"), (families, "most workers of a group")]
    for given, sentence in bad:
        with pytest.raises(InputError, match=sentence):
            cost_frontier(SelectionInstance(**given, asked=10))


def test_a_solver_that_breaks_a_limit_is_not_believed() -> None:
    """A point that spends more than there is yields no set, whatever its status says."""

    def generous(program, backend="highs", options=OPTIONS, listener=None):
        solution = crowdopt.solve_program(program, backend, options)
        point = np.zeros_like(program.cost)
        program.column("u").view(point)[1] = 1.0
        program.column("w").view(point)[1] = 1.0
        return replace(solution, primal=point, status=Status.OPTIMAL)

    instance = SelectionInstance([10, 9], 10, 2, price=[3.0, 3.0], money=4.0)
    found = solve_program(instance, generous, "highs", OPTIONS, None)
    assert not found.found and found.status is Status.UNDECIDED
