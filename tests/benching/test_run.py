"""A benchmark's folder: resumed whenever it was stopped, rebuilt from its rows, never another one's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from crowdopt import export
from crowdopt.benching.run import Benchmark, cases_of
from crowdopt.crowd.recipes import recipe
from crowdopt.errors import InputError
from crowdopt.io.campaign import write_campaign
from crowdopt.pages import charts
from crowdopt.verbs.bench import bench as measured
from crowdopt.verbs.bench import report
from tests.typed import run

TABLE = "results.csv"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A benchmark of one row, and what was printed; minutes of measuring end in no error where charts are missing."""
    folder = tmp_path_factory.mktemp("bench") / "one"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "can_draw", lambda: False)
        done = run("bench", "R1:8x20", "--backends", "highs-ipm", "--program", "lp", "-o", folder)
    assert done.exit_code == 0 and f"then crowdopt report {folder}" in done.stdout
    assert (folder / TABLE).is_file() and not (folder / "report.html").exists()
    return folder


@pytest.mark.slow
def test_the_page_is_rebuilt_from_the_raw_rows(fakes, tmp_path):
    """Nothing but bench.json and rows is needed, and every optimum says who proves it."""
    words = "bench R1:8x20 B5:50x20 --program lp --backends highs,highs-ipm,fake-lies --memory-limit 2000"
    whole, bare = tmp_path / "whole", tmp_path / "bare"
    said = run(*words.split(), "--time-limit", 20, "-o", whole).stdout
    shutil.copytree(whole / "rows", bare / "rows")
    shutil.copy(whole / "bench.json", bare / "bench.json")
    page = report(bare)
    assert page.read_bytes() == (whole / "report.html").read_bytes()
    assert (bare / TABLE).read_bytes() == (whole / TABLE).read_bytes()
    summary = json.loads((bare / "summary.json").read_text(encoding="utf-8"))
    rows = [row for one in summary["comparisons"] for row in one["results"]]
    assert {row["outcome"] for row in rows} >= {"proven", "wrong", "infeasible"}
    for row in (row for row in rows if row["outcome"] == "proven"):
        assert row["proof"] == "certificate" and row["value"] == pytest.approx(row["bound"], rel=1e-6, abs=1e-6)
    assert "fake-lies" in "".join(summary["verdict"])
    assert all(sentence in said for sentence in summary["verdict"])


def test_a_folder_keeps_to_its_benchmark(made, tmp_path):
    """Another benchmark needs another folder, or --force; a folder of something else is never touched."""
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    for place, said in ((made, "another benchmark"), (tmp_path, "is not a benchmark")):
        with pytest.raises(InputError, match=said):
            measured(["R1:8x20"], backends=["highs"], output=place)
    with pytest.raises(InputError, match="there are pages of: .*a benchmark"):
        report(tmp_path)


DAMAGE = {
    "no limits": ("bench.json", lambda said: said.pop("limits")),
    "no bound": ("rows/*.json", lambda said: said["result"].pop("bound")),
    "a subject cut short": ("bench.json", lambda said: said.update(subjects=[["R1:8x20", "lp", 0]])),
    "a method of no version": ("bench.json", lambda said: said.update(subjects=[["R1:8x20", "lp", 0, "scip"]])),
    "a row of nothing": ("rows/*.json", lambda said: said.update(result=None)),
    "negative seconds": ("rows/*.json", lambda said: said["result"].update(seconds=-5)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_benchmark_is_one_sentence(made, tmp_path, damage, monkeypatch):
    """Exit 2, no traceback, and what is wrong with it; without the damage there is a page."""
    monkeypatch.setattr(charts, "_converted", lambda jobs: [b"<svg></svg>" for _ in jobs])
    folder, (file, change) = tmp_path / "bench", DAMAGE[damage]
    shutil.copytree(made, folder)
    assert damage != "a row of nothing" or run("report", folder).exit_code == 0
    (path,) = folder.glob(file)
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    done = run("report", folder)
    assert done.exit_code == 2 and done.stderr.startswith("crowdopt: ") and done.stderr.count("\n") == 1, done.stderr


def test_bad_input_is_a_sentence(tmp_path):
    """Exit 2, nothing written."""
    for words, said in [
        (["-o", "x"], "nothing to measure"),
        (["nowhere", "--backends", "highs", "-o", "x"], "unknown problem 'nowhere'"),
        (["R1:8x20", "--backends", "magic", "-o", "x"], "there is no backend 'magic'"),
    ]:
        done = run("bench", *words)
        assert done.exit_code == 2 and said in done.output
    assert not Path("x").exists()


@pytest.mark.slow
def test_campaigns_by_path(tmp_path):
    """The campaign's own instance, with a seed for the solver alone; so is a program of others in a file."""
    write_campaign(recipe("R10:10x20", 0), tmp_path / "mine")
    export(tmp_path / "mine", tmp_path / "mine.mps")
    for name in ("mine", "mine.mps"):
        out = tmp_path / f"out-{name}"
        summary = measured([str(tmp_path / name)], backends=["highs"], program="ip", output=out)
        (row,) = summary["comparisons"][0]["results"]
        assert (row["outcome"], row["value"]) == ("vouched", 69.0)


def test_every_method_meets_every_case_and_none_always_goes_first():
    """Each case once, in the order of problems, programs and seeds."""
    methods, cases = ("highs", "pulp-cbc", "scip"), cases_of(["R1:8x20", "HS:4x60", "R1:8x20"], ("ip", "lp"), 3)
    assert cases[:4] == [("R1:8x20", "ip", 0), ("R1:8x20", "ip", 1), ("R1:8x20", "ip", 2), ("R1:8x20", "lp", 0)]
    subjects = Benchmark("", tuple(cases), methods).subjects()
    assert len(cases) == 12 and len(subjects) == len(set(subjects)) == 36
    assert {subjects[3 * k][-1] for k in range(len(cases))} == set(methods)
