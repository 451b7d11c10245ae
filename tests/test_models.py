"""models/ and the builders say the same: entry for entry, by names."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt.core.program import Program, dualize, relax
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.hire.candidates import SelectionInstance
from crowdopt.hire.program import build
from crowdopt.io.programs import MPS, ids_of
from crowdopt.programs import approximated, assignment, assignment_dual, sampled
from tests.models.data import OPTIONS, drawn, section, selection_section
from tests.models.reading import assert_same, described, renamed, translated, turned
from tests.selections import best_sets, limited

pytestmark = pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK: pip install swiglpk")

DUALS = {"cover.lower": "x", "capacity.upper": "z", "y.upper": "t", "y": "value"}
PAPERS = ("priced", "forbidden", "collected", "demand")  # options that the paper's dual knows


def by_name(program: Program, instance: AssignmentInstance) -> dict:
    return described(program, ids_of(program, instance), MPS)


@settings(max_examples=16)
@given(seed=st.integers(0, 2**32 - 1), options=st.sets(st.sampled_from(OPTIONS)), classes=st.integers(1, 4))
def test_all_options_are_what_the_specification_says(tmp_path_factory, seed, options, classes) -> None:
    """The builder implements assignment.mod: GLPK's translation has the same numbers, whatever options meet."""
    rule = {} if classes > 1 else {"rule": "hoeffding"}
    instance = drawn(seed, options, classes=max(2, classes), **rule)
    found = translated("assignment", section(instance), tmp_path_factory.mktemp("model"))
    assert_same(found, by_name(assignment.build(instance), instance))


def test_the_approximated_and_the_sampled_program_are_the_specification_with_a_share(tmp_path: Path) -> None:
    """Both are the relaxed program with other data (HJV 5.1, 5.2): assignment.mod but for integrality."""
    instance = drawn(3, ["priced", "forbidden"], "hoeffding")
    for changed, program in (
        (approximated.transform(instance, 0.05, 0.4), approximated.build(instance, 0.05, 0.4)),
        (sampled.transform(instance, [0, 2], 0.4), sampled.build(instance, [0, 2], 0.4)),
    ):
        found = translated("assignment", section(changed), tmp_path)
        for column in found["columns"].values():
            column["integer"] = False
        assert_same(found, by_name(program, changed))


@pytest.mark.parametrize(("seed", "rule"), [(0, "hoeffding"), (1, "bhattacharyya"), (2, "bhattacharyya")])
def test_three_duals_are_one(seed: int, rule: str, tmp_path: Path) -> None:
    """The paper's dual as specified, as built, and as it falls out of the LP mechanically: the same program."""
    instance = drawn(seed, PAPERS, rule)
    built = by_name(assignment_dual.build(instance), instance)
    specified = turned(translated("assignment_dual", section(instance, dual=True), tmp_path))
    mechanical = dualize(relax(assignment.build(instance)))
    assert_same(specified, built)
    assert_same(renamed(by_name(mechanical, instance), DUALS), built)


def by_selection_name(program: Program, instance: SelectionInstance) -> dict:
    """The builder's program as the specification writes it: a maximum, sizes from 1."""
    sizes, workers = [str(k + 1) for k in range(instance.sizes)], [f"w{i}" for i in range(instance.n_workers)]
    groups = [f"g{g}" for g in range(instance.n_groups)]
    ids = {"u": [sizes], "w": [sizes, workers], "hired": [workers], "member": [sizes, workers], "count": [sizes]}
    ids |= {"group": [sizes, groups], "money": [sizes], "whole": [workers]}
    found = described(program, ids, MPS)
    columns = {name: {**column, "cost": -column["cost"]} for name, column in found["columns"].items()}
    return {"maximum": True, "columns": columns, "rows": found["rows"]}


@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1))
def test_all_limits_on_hiring_are_what_the_specification_says(tmp_path_factory, seed) -> None:
    """hire/program.py implements selection.mod; GLPK's optimum of that is the best of all allowed sets."""
    instance = limited(np.random.default_rng(seed), 6)
    found = translated("selection", selection_section(instance), tmp_path_factory.mktemp("selection"))
    assert_same(found, by_selection_name(build(instance), instance))
    best, _ = best_sets(instance)
    assert (best is None) == (found["ip"] is None)
    if best is not None:
        assert found["ip"] * abs(found["ip"]) == pytest.approx(float(best), abs=1e-7)
        assert instance.money is not None or found["lp"] == pytest.approx(found["ip"], abs=1e-7)
