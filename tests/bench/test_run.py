"""A benchmark's folder: resumed whenever it was stopped, rebuilt from its rows, never another one's."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crowdopt import export
from crowdopt.api.bench import bench as measured
from crowdopt.api.report import report
from crowdopt.bench.figures.summary import TIMINGS
from crowdopt.bench.harness.subject import Limits
from crowdopt.bench.run import Benchmark, cases_of
from crowdopt.crowd.recipes.named_recipes import recipe
from crowdopt.errors import InputError
from crowdopt.io.campaign.campaign_writing import write_campaign
from crowdopt.report import charts
from tests.pages import AT_THE_END
from tests.typed import rows, run

COMMAND = ["bench", "R1:8x20", "B5:50x20", "--seeds", "2", "--backends", "highs,highs-ipm,fake-lies", "--memory-limit"]
COMMAND += ["2000", "--time-limit", "20"]
TABLE = "results.csv"
TIMED = (*TIMINGS, "megabytes", "reference")


def untimed(folder: Path) -> list[dict[str, str]]:
    """The table without what differs from run to run."""
    return [{key: value for key, value in line.items() if key not in TIMED} for line in rows(folder / TABLE)]


def bench(folder: Path, *more: str):
    return [sys.executable, "-m", "crowdopt.cli", *COMMAND, *more, "-o", str(folder)]


@pytest.fixture(scope="module")
def finished(fakes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "whole"
    done = subprocess.run(bench(folder), capture_output=True, text=True, check=True)
    assert AT_THE_END.sub("", done.stderr) == ""
    return folder, done.stdout


def test_without_charts_the_tables_and_the_advice_are_there(tmp_path, monkeypatch):
    """Minutes of measuring must not end in an error because the page's charts cannot be drawn."""
    monkeypatch.setattr(charts, "can_draw", lambda: False)
    out = tmp_path / "out"
    done = run("bench", "R1:8x20", "--backends", "highs", "--program", "lp", "-o", str(out))
    assert done.exit_code == 0 and "highs" in done.stdout
    assert f"then crowdopt report {out}" in done.stdout
    assert (out / TABLE).is_file() and not (out / "report.html").exists()


@pytest.mark.long  # a whole benchmark four times; a job that is killed and goes on is one of tests/test_jobs.py
def test_killed_and_started_again_the_table_is_the_same(finished, tmp_path):
    """Whatever had been measured is kept, the rest is measured then; two at once, in another order, change nothing."""
    rng, folder = random.Random(5), tmp_path / "killed"
    for _ in range(3):
        with subprocess.Popen(bench(folder), stdout=subprocess.DEVNULL) as running:
            time.sleep(rng.uniform(1.0, 4.0))
            running.kill()
    kept = {path: path.stat().st_mtime_ns for path in (folder / "rows").glob("*.json")}
    subprocess.run(bench(folder, "--jobs", "2"), stdout=subprocess.DEVNULL, check=True)
    assert untimed(folder) == untimed(finished[0])
    assert (folder / "bench.json").read_bytes() == (finished[0] / "bench.json").read_bytes()
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())


@pytest.mark.slow
def test_the_page_is_rebuilt_from_the_raw_rows(finished, tmp_path):
    """Nothing but bench.json, run.json and rows is needed, and every optimum says who proves it."""
    whole, said = finished
    bare = tmp_path / "bare"
    shutil.copytree(whole / "rows", bare / "rows")
    for name in ("bench.json", "run.json"):
        shutil.copy(whole / name, bare / name)
    page = report(bare)
    assert page.read_bytes() == (whole / "report.html").read_bytes()
    assert (bare / TABLE).read_bytes() == (whole / TABLE).read_bytes()
    summary = json.loads((bare / "summary.json").read_text(encoding="utf-8"))
    rows = [row for one in summary["comparisons"] for row in one["results"]]
    assert {row["outcome"] for row in rows} >= {"proven", "wrong", "infeasible"}
    for row in rows:
        if row["outcome"] == "proven":
            assert row["proof"] == "certificate"
            assert abs(row["value"] - row["bound"]) <= 1e-6 * max(1.0, abs(row["value"]))
        if row["outcome"] == "vouched":
            assert "only the solver vouches" in row["why"]
    assert "fake-lies" in "".join(summary["verdict"])
    assert all(sentence in said for sentence in summary["verdict"])


def test_a_folder_keeps_to_its_benchmark(tmp_path, monkeypatch):
    """Another benchmark needs another folder, or --force; a folder of something else is never touched."""
    monkeypatch.setattr(charts, "can_draw", lambda: False)
    whole = tmp_path / "whole"
    measured(["R1:8x20"], backends=["highs-ipm"], program="lp", output=whole)
    with pytest.raises(InputError, match="another benchmark"):
        measured(["R1:8x20"], backends=["highs"], output=whole)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(InputError, match="is not a benchmark"):
        measured(["R1:8x20"], backends=["highs"], output=tmp_path / "else")
    with pytest.raises(InputError, match="there are pages of: .*a benchmark"):
        report(tmp_path / "else")


def test_bad_input_is_a_sentence(tmp_path):
    """Exit 2, nothing written."""
    for words, said in [
        (["-o", "x"], "nothing to measure"),
        (["nowhere", "--backends", "highs", "-o", "x"], "unknown problem 'nowhere'"),
        (["R1:8x20", "--backends", "magic", "-o", "x"], "there is no backend 'magic'"),
    ]:
        done = run("bench", *words)
        assert done.exit_code == 2
        assert said in done.output
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
    subjects = Benchmark("", tuple(cases), methods, Limits()).subjects()
    assert len(cases) == 12 and len(subjects) == len({(*one.case, one.method) for one in subjects}) == 36
    first = [subjects[3 * k].method for k in range(len(cases))]
    assert set(first) == set(methods)
