"""models/ and the builders say the same: entry for entry, by names."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdopt
from crowdopt.core.program import Program, relax
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.io.export import ids_of
from crowdopt.io.naming import MPS
from crowdopt.programs import approximated, assignment, assignment_dual, sampled
from tests.models.data import OPTIONS, drawn, section
from tests.models.reading import assert_same, described, renamed, translated, turned

pytestmark = pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK: pip install swiglpk")

DUALS = {"cover.lower": "x", "capacity.upper": "z", "y.upper": "t", "y": "value"}
PAPERS = ("priced", "forbidden", "collected", "demand")  # options that the paper's dual knows


def by_name(program: Program, instance: AssignmentInstance) -> dict:
    return described(program, ids_of(program, instance), MPS)


@pytest.mark.parametrize("rule", ["hoeffding", "bhattacharyya"])
@pytest.mark.parametrize("option", ["none", *OPTIONS])
def test_each_option_is_what_the_specification_says(option: str, rule: str, tmp_path: Path) -> None:
    """The builder implements assignment.mod: GLPK's translation of one option at a time has the same numbers."""
    instance = drawn(7, [option], rule)
    assert_same(translated("assignment", section(instance), tmp_path), by_name(assignment.build(instance), instance))


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), options=st.sets(st.sampled_from(OPTIONS)), classes=st.integers(2, 4))
def test_all_options_together_are_what_the_specification_says(
    tmp_path_factory: pytest.TempPathFactory, seed: int, options: set[str], classes: int
) -> None:
    """Options meet in the same rows and bounds, so their combinations must agree too, for any number of classes."""
    instance = drawn(seed, options, classes=classes)
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


@pytest.mark.parametrize("rule", ["hoeffding", "bhattacharyya"])
@pytest.mark.parametrize("seed", range(4))
def test_three_duals_are_one(seed: int, rule: str, tmp_path: Path) -> None:
    """The paper's dual as specified, as built, and as it falls out of the LP mechanically: the same program."""
    instance = drawn(seed, PAPERS, rule)
    built = by_name(assignment_dual.build(instance), instance)
    specified = turned(translated("assignment_dual", section(instance, dual=True), tmp_path))
    mechanical = crowdopt.dualize(relax(assignment.build(instance)))
    assert_same(specified, built)
    assert_same(renamed(by_name(mechanical, instance), DUALS), built)


def selection_section(correct: list[int], asked: list[int], classes: int, most: int) -> str:
    workers = [f"w{i}" for i in range(len(correct))]
    counts = {"n": asked, "correct": correct}
    vectors = [
        f"param {name} := {' '.join(f'{w} {k}' for w, k in zip(workers, values, strict=True))};"
        for name, values in counts.items()
    ]
    head = f"data;\nset WORKERS := {' '.join(workers)};\nparam L := {classes};\nparam K := {most};\n"
    return head + "\n".join(vectors) + "\nend;\n"


def worths(correct: list[int], asked: list[int], classes: int) -> np.ndarray:
    """G of Li & Liu (8) with (10)."""
    c, n = np.array(correct), np.array(asked)
    return (classes * c / n - 1) ** 2 - classes**2 * c * (n - c) / (n**2 * (n - 1))


@settings(max_examples=15, deadline=None)
@given(data=st.data(), classes=st.integers(2, 4))
def test_the_selection_program_finds_the_best_set(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, classes: int
) -> None:
    """Problem (11) over all sets, Algorithm 1's scan (Theorem 4), the program and its relaxation have one optimum."""
    asked = data.draw(st.lists(st.integers(2, 12), min_size=1, max_size=6))
    correct = [data.draw(st.integers(0, n)) for n in asked]
    most = data.draw(st.integers(1, 7))
    found = translated(
        "selection", selection_section(correct, asked, classes, most), tmp_path_factory.mktemp("selection")
    )
    gains = worths(correct, asked, classes)
    sizes = range(1, min(most, gains.size) + 1)
    best = max(gains[list(chosen)].sum() / np.sqrt(k) for k in sizes for chosen in combinations(range(gains.size), k))
    scanned = max((np.cumsum(-np.sort(-gains)) / np.sqrt(np.arange(1, gains.size + 1)))[: len(sizes)])
    assert found["ip"] == pytest.approx(best, abs=1e-9)
    assert found["lp"] == pytest.approx(best, abs=1e-9)
    assert scanned == pytest.approx(best, abs=1e-9)
