"""What ranking cannot do and the program can, against every set there is."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.core.solution import Options, Status
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import cost_frontier, solve_program, solve_table
from crowdopt.hire.selection import Selection
from tests.selections import allowed, best_sets, exact_gains, limited, squared

OPTIONS = Options(time_limit=20)
LIMITS = [{"money"}, {"required"}, {"barred"}, {"group"}, {"money", "required", "barred", "group"}]


def agrees(instance: SelectionInstance) -> Selection:
    """What the program finds: the best allowed set, or that there is none, by brute force in fractions."""
    best, _ = best_sets(instance)
    found = solve_program(instance, crowdopt.solve, "highs", OPTIONS, "highs")
    assert found.found == (best is not None)
    if best is None:
        assert found.status is Status.INFEASIBLE
    else:
        value = squared(sum(exact_gains(instance)[i] for i in found.workers), found.workers.size)
        assert float(value) == pytest.approx(float(best), abs=1e-9)
        assert found.status is Status.OPTIMAL and found.proven and allowed(instance, tuple(found.workers.tolist()))
        assert instance.money is not None or found.proof == "certificate"  # tight unless money is limited
    return found


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(sorted(limits)))
def test_the_program_finds_the_best_allowed_set(limits: set[str]) -> None:
    """Each limit by itself and all together, infeasible ones included."""
    rng = np.random.default_rng(len(limits))
    found = [agrees(limited(rng, 7, limits)).found for _ in range(10)]
    assert any(found) and all(found) == ("money" not in limits)


def test_at_most_so_many_of_a_family() -> None:
    """The relaxation stays tight, and what does not know the limit says so."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        asked, group, most_each = rng.integers(2, 12, 7), rng.permutation([0, 0, 0, 1, 1, 2, 2]), rng.integers(1, 3, 3)
        assert agrees(SelectionInstance(rng.binomial(asked, 0.8), asked, 2, 5, group=group, most_each=most_each)).found
    with pytest.raises(InputError, match="most workers of a group"):
        cost_frontier(SelectionInstance([9, 8], 10, price=1.0, group=[0, 0], most_each=1))


def test_the_frontier_against_cost_has_every_set_that_no_cheaper_one_matches() -> None:
    """Under all limits, by looking at every set; its last point is the program's optimum."""
    rng = np.random.default_rng(9)
    for _ in range(40):
        instance = limited(rng, 6, {"money", *rng.choice(["required", "barred", "group"], 1)})
        gains, sets = exact_gains(instance), []
        for k in range(1, instance.sizes + 1):
            for members in combinations(range(instance.n_workers), k):
                if allowed(instance, members):
                    sets.append((sum(instance.price[i] for i in members), squared(sum(gains[i] for i in members), k)))
        expected = []
        for cost, value in sorted(sets, key=lambda pair: (pair[0], -pair[1])):
            if not expected or value > expected[-1][1]:
                expected.append((cost, value))
        found = cost_frontier(instance)
        assert found.cost.tolist() == [cost for cost, _ in expected]
        assert found.score * np.abs(found.score) == pytest.approx([float(value) for _, value in expected], abs=1e-9)
        assert all(allowed(instance, tuple(members.tolist())) for members in found.members)


def test_the_table_is_as_good_as_the_search() -> None:
    """Dynamic programming under every limit finds the best allowed set too, or that there is none."""
    rng = np.random.default_rng(12)
    for _ in range(40):
        instance = limited(rng, 7, {"money", "required", "barred", "group"})
        best, sets = best_sets(instance)
        found = solve_table(instance)
        assert found.found == (best is not None) and found.proof == "solver"
        assert best is None or tuple(sorted(found.workers.tolist())) in sets


def test_prices_in_decimals_have_a_common_unit() -> None:
    """0.1 + 0.2 is not 0.3 in float64; the grid is that of the decimals as they are written, if it is not too fine."""
    instance = SelectionInstance([10, 9, 8], 10, 2, price=[0.3, 0.1, 0.2], money=0.3)
    assert [members.tolist() for members in cost_frontier(instance).members] == [[1], [0]]
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match="round the prices"):
        cost_frontier(SelectionInstance(rng.integers(0, 11, 200), 10, 2, price=rng.random(200)))
    with pytest.raises(InputError, match="needs a price"):
        cost_frontier(SelectionInstance([9, 8], 10, 2))


def test_a_solver_that_breaks_a_limit_is_not_believed() -> None:
    """A point that spends more than there is yields no set, whatever its status says."""

    def generous(program, backend="highs", options=OPTIONS, listener=None):
        solution = crowdopt.solve(program, backend, options)
        point = np.zeros_like(program.cost)
        program.column("u").view(point)[1] = 1.0
        program.column("w").view(point)[1] = 1.0
        return replace(solution, primal=point, status=Status.OPTIMAL)

    instance = SelectionInstance([10, 9], 10, 2, price=[3.0, 3.0], money=4.0)
    found = solve_program(instance, generous, "highs", OPTIONS, None)
    assert not found.found and found.status is Status.UNDECIDED
