"""Campaigns as data for the models: what GLPK makes of the file is the builder's program, entry for entry."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from crowdopt.io.mathprog import assignment_data
from tests.models.data import drawn, selection_section
from tests.models.reading import MODELS, read_by
from tests.selections import limited

needs_glpk = pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK: pip install swiglpk")
ONE = crowdopt.recipe("R1:4x12")


@needs_glpk
def test_ids_of_any_kind(tmp_path):
    """Blanks, quotes and leading digits are quoted; the optimum is the campaign's."""
    one = replace(ONE, tasks=["a b", "it's", "7", "x,y"], workers=[f"{j} o'c" for j in range(12)])
    path = tmp_path / "data.dat"
    crowdopt.export(one, path)
    found, plan = read_by("glpk", "mod", MODELS / "assignment.mod", path), crowdopt.solve(one)
    assert found["ip"] == (pytest.approx(plan.objective) if plan.found else None)


@pytest.mark.parametrize(
    ("changed", "dual", "words"),
    [
        (drawn(3, ("budget",)), True, "dual knows no"),
        (replace(ONE, rule="probit"), False, "the models know"),
        (replace(ONE, tasks=["x" * 101, "b", "c", "d"]), False, "100 characters"),
    ],
)
def test_what_the_models_do_not_know_is_refused(changed, dual, words):
    """A limit that the paper's dual has not, rules beyond sums, ids that GLPK cannot hold."""
    with pytest.raises(InputError, match=words):
        assignment_data(changed, dual)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("sampled:share=2", "share must lie"),
        ("approximated", "0 < qmin"),
        ("sampled:gamma=.3", "its options are share, seed"),
        ("selection", "goes by gold"),
        ("primal", "unknown program"),
    ],
)
def test_options_that_make_no_sense(tmp_path, program, words):
    with pytest.raises(InputError, match=words):
        crowdopt.export(replace(ONE, rule="hoeffding"), tmp_path / "x.mps", program=program)


@needs_glpk
@pytest.mark.parametrize("data", ["tiny", "hiring", "judges"])
def test_the_page_shows_what_glpk_says(data, tmp_path):
    """models/README.md: each command's solution file begins as printed there."""
    page = (MODELS / "README.md").read_text(encoding="utf-8")
    model = re.search(rf"glpsol -m (\w+)\.mod -d {data}\.dat", page)[1]
    shown = page.split(f"`{data}.sol` begins", 1)[1].split("```")[1].strip()
    target = tmp_path / f"{data}.sol"
    read_by("glpk", "report", MODELS / f"{model}.mod", MODELS / f"{data}.dat", target)
    assert target.read_text(encoding="utf-8").startswith(shown)


def test_the_data_of_candidates(tmp_path):
    """Exported, they are what tests/test_models.py holds against the builder's program."""
    one = limited(np.random.default_rng(5), 6, {"group"})
    one = replace(one, workers=[f"w{i}" for i in range(one.n_workers)], groups=[f"g{g}" for g in range(one.n_groups)])
    crowdopt.export(one, tmp_path / "hiring.dat", program="selection")
    assert (tmp_path / "hiring.dat").read_text(encoding="utf-8") == selection_section(one)


@needs_glpk
def test_the_data_of_sample_and_tolerance(tmp_path):
    """Both are assignment.mod with other data; its optimum without whole labels is the exported program's."""
    one = replace(ONE, rule="hoeffding", epsilon=np.full(4, 0.4))
    for program, workers in (("sampled:share=.5:seed=3", 6), ("approximated:tolerance=.01:least-quality=.2", 12)):
        built = crowdopt.export(one, tmp_path / "x.dat", program=program, force=True)
        found = read_by("glpk", "mod", MODELS / "assignment.mod", tmp_path / "x.dat")
        assert len(found["columns"]) == built.cost.size == 4 * workers
        assert found["lp"] == pytest.approx(crowdopt.certify(crowdopt.solve_program(built)).value)
