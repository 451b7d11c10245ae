"""Campaigns as data for the models: what GLPK makes of the file is the builder's program, entry for entry."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from click.testing import CliRunner

import crowdopt
from crowdopt.cli import main
from crowdopt.errors import InputError
from crowdopt.io.mathprog import assignment_data
from crowdopt.io.programs import MPS, selection_ids
from tests.models.data import drawn
from tests.models.reading import HERE, MODELS, assert_same, described, read_by, translated
from tests.selections import limited

needs_glpk = pytest.mark.skipif(find_spec("swiglpk") is None, reason="needs GLPK: pip install swiglpk")


def test_the_dual_knows_few_limits():
    """The paper's dual has no budget."""
    with pytest.raises(InputError, match="dual knows no"):
        assignment_data(drawn(3, ("budget",)), dual=True)


@needs_glpk
def test_ids_of_any_kind(tmp_path):
    """Blanks, quotes and leading digits are quoted; the optimum is the campaign's."""
    one = replace(
        crowdopt.recipe("R1:4x12"), tasks=["a b", "it's", "7", "x,y"], workers=[f"{j} o'c" for j in range(12)]
    )
    path = tmp_path / "data.dat"
    crowdopt.export(one, path)
    found, plan = read_by("glpk", "mod", MODELS / "assignment.mod", path), crowdopt.solve(one)
    assert found["ip"] == (pytest.approx(plan.objective) if plan.found else None)


def test_what_the_models_do_not_know_is_refused(tmp_path):
    """Rules beyond sums, priors, ids that GLPK cannot hold; an ending that is no format."""
    one = crowdopt.recipe("R1:4x12")
    with pytest.raises(InputError, match="the models know"):
        assignment_data(replace(one, rule="probit"))
    with pytest.raises(InputError, match="100 characters"):
        assignment_data(replace(one, tasks=["x" * 101, "b", "c", "d"]))
    with pytest.raises(InputError, match="must end in"):
        crowdopt.export(one, tmp_path / "program.txt")


def test_the_verb_writes_it(tmp_path):
    run = CliRunner().invoke
    run(main, ["generate", "R1:4x12", "-o", str(tmp_path / "c")])
    done = run(main, ["export", str(tmp_path / "c"), "-o", str(tmp_path / "c.dat")])
    assert done.exit_code == 0 and "data for the integer program" in done.output
    assert (tmp_path / "c.dat").read_text(encoding="utf-8").startswith("data;")


@needs_glpk
@pytest.mark.parametrize("data", ["tiny", "hiring", "judges"])
def test_the_page_shows_what_glpk_says(data, tmp_path):
    """models/README.md: each command's solution file begins as printed there."""
    page = (MODELS / "README.md").read_text(encoding="utf-8")
    model = re.search(rf"glpsol -m (\w+)\.mod -d {data}\.dat", page)[1]
    shown = page.split(f"`{data}.sol` begins", 1)[1].split("```")[1].strip()
    target = tmp_path / f"{data}.sol"
    files = [str(MODELS / f"{model}.mod"), str(MODELS / f"{data}.dat")]
    subprocess.run([sys.executable, str(HERE / "glpk.py"), "report", *files, str(target)], check=True, timeout=60)
    assert target.read_text(encoding="utf-8").startswith(shown)


@needs_glpk
def test_the_data_of_candidates_make_their_program(tmp_path):
    """The exported program, by names; a minimum here, a maximum there."""
    one = limited(np.random.default_rng(5), 6, {"group"})
    one = replace(one, workers=[f"w{i}" for i in range(one.n_workers)], groups=[f"g{g}" for g in range(one.n_groups)])
    program = crowdopt.export(one, tmp_path / "hiring.dat", program="selection")
    found = translated("selection", (tmp_path / "hiring.dat").read_text(encoding="utf-8"), tmp_path)
    wanted = described(program, selection_ids(one), MPS)
    for column in wanted["columns"].values():
        column["cost"] *= -1
    assert_same(found, {**wanted, "maximum": True})


@needs_glpk
def test_the_data_of_sample_and_tolerance(tmp_path):
    """Both are assignment.mod with other data; its optimum without whole labels is the exported program's."""
    one = replace(crowdopt.recipe("R1:4x12"), rule="hoeffding", epsilon=np.full(4, 0.4))
    for program, workers in (("sampled:share=.5:seed=3", 6), ("approximated:tolerance=.01:least-quality=.2", 12)):
        built = crowdopt.export(one, tmp_path / "x.dat", program=program, force=True)
        found = read_by("glpk", "mod", MODELS / "assignment.mod", tmp_path / "x.dat")
        assert len(found["columns"]) == built.cost.size == 4 * workers
        assert found["lp"] == pytest.approx(crowdopt.certify(crowdopt.solve_program(built)).value)


def test_options_that_make_no_sense(tmp_path):
    one = crowdopt.recipe("R1:4x12")
    for program, words in {
        "sampled:share=2": "share must lie",
        "approximated": "0 < qmin",
        "sampled:gamma=.3": "its options are share, seed",
        "selection": "goes by gold",
        "primal": "unknown program",
    }.items():
        with pytest.raises(InputError, match=words):
            crowdopt.export(replace(one, rule="hoeffding"), tmp_path / "x.mps", program=program)
