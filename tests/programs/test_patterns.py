"""The program over patterns: what models/patterns.mod says, and the exact optima of small instances."""

from __future__ import annotations

from fractions import Fraction
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdopt
from crowdopt import AssignmentInstance
from crowdopt.core.program import Program
from crowdopt.io.programs import MPS
from crowdopt.programs import patterns
from crowdopt.programs.pools import pools_of
from tests.checkers.plans import least_cost
from tests.draw import campaigns
from tests.models.pooled import FILES, RULES, facts_of, instance_of, optima, pattern_id, pooled_section
from tests.models.reading import assert_same, described, translated

WISHES = ("least-labels", "most-labels", "budget", "prices", "prices-by-type", "prior", "priors")
files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def by_name(program: Program, instance: AssignmentInstance) -> dict:
    """The builder's program under the specification's names."""
    pools = pools_of(instance)
    menu = patterns.whole_menu(pools)
    pool, depth, _ = pools.rows
    ids = {
        "given": [[f"{t + 1},{pattern_id(row)}" for t, row in zip(menu.kind, menu.pattern, strict=True)]],
        "task": [[str(t + 1) for t in range(pools.tasks_in.size)]],
        "supply": [[f"{g + 1},{h}" for g, h in zip(pool, depth, strict=True)]],
    }
    return plain(described(program, ids, MPS))


def plain(found: dict) -> dict:
    """Names as the specification writes them."""

    def named(table: dict) -> dict:
        return {k.replace("%2C", ",").removesuffix("[0]" * ("supply" not in k)): value for k, value in table.items()}

    rows = {key: {**row, "entries": named(row["entries"])} for key, row in named(found["rows"]).items()}
    return {**found, "columns": named(found["columns"]), "rows": rows}


@files
def test_the_stated_optima_are_the_exact_ones(path: Path) -> None:
    """Recomputed in rationals: every set of workers for every task, the error as the less likely class."""
    facts = facts_of(path)
    assert optima(facts) == facts["optimum"]


@files
def test_builder_and_method_have_the_exact_optimum(path: Path) -> None:
    """The explicit program through HiGHS, and the method that generates its columns."""
    facts = facts_of(path)
    for rule, stated in facts["optimum"].items():
        instance = instance_of(facts, rule)
        found, plan = crowdopt.certify(crowdopt.solve(patterns.build(instance))), crowdopt.assign(instance)
        if stated == "infeasible":
            assert found.bound == float("inf") and not plan.found
        else:
            assert found.proves_optimal(1e-6) and found.value == pytest.approx(float(Fraction(stated)))
            assert plan.proven and plan.objective == pytest.approx(float(Fraction(stated)))


@pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK: pip install swiglpk")
@settings(max_examples=10)
@given(instance=campaigns(12, RULES, WISHES))
def test_all_options_are_what_the_specification_says(tmp_path_factory, instance) -> None:
    """Kinds, priors, prices, label limits, a budget, unequal room: entry for entry, by names, and the same optimum."""
    if not pools_of(instance).sizes.size:
        return
    found = translated("patterns", pooled_section(instance), tmp_path_factory.mktemp("patterns"))
    assert_same(plain(found), by_name(patterns.build(instance), instance))
    assert found["ip"] == (None if (best := least_cost(instance)) == np.inf else pytest.approx(best))


@settings(max_examples=15)
@given(campaigns(12, RULES, WISHES))
def test_the_method_finds_the_least_cost(instance) -> None:
    """Against all sets of pairs: the same cost, a bound no higher, and no plan where there is none."""
    best, plan = least_cost(instance), crowdopt.assign(instance)
    assert plan.found == (best < np.inf)
    if plan.found:
        assert plan.objective == pytest.approx(best) and plan.bound <= best + 1e-6
        assert plan.certified_bound <= best + 1e-6


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_labels_can_be_dealt_just_if_the_supply_rows_hold(seed: int) -> None:
    """Gale and Ryser, against trying every way: sums beyond each depth."""
    rng = np.random.default_rng(seed)
    n, s = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    capacity = rng.integers(0, n + 1, s)
    instance = AssignmentInstance(np.full((1, s), 0.8), np.zeros(n, np.int64), capacity, 0.3, rule="exact-error")
    pools = pools_of(instance)
    if not pools.sizes.size:
        return
    wanted = rng.integers(0, pools.sizes[0] + 1, (n, 1))
    _, depth, supply = pools.rows
    fits = all(np.maximum(0, wanted - h).sum() <= side for h, side in zip(depth, supply, strict=True))
    assert fits == _some_way(wanted[:, 0].tolist(), np.sort(capacity)[::-1].tolist())


def _some_way(wanted: list[int], room: list[int]) -> bool:
    if not wanted:
        return True
    for row in product((0, 1), repeat=len(room)):
        left = [r - x for r, x in zip(room, row, strict=True)]
        if sum(row) == wanted[0] and min(left) >= 0 and _some_way(wanted[1:], left):
            return True
    return False
