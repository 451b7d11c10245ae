"""The papers' figures, one command each; real label sets, each source format into our tables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import crowdopt
from benchmarks.papers.real_data import folder_of
from benchmarks.papers.sources import bluebird, more, quiz, rte, zencrowd

ROOT = Path(__file__).parents[2]
FIGURES = ["hjv_fig1", "hjv_fig2", "hjv_kos", "hjv_theorems"]
FIGURES += [f"li_liu_{name}" for name in ("fig1", "fig2", "fig3", "fig4", "remarks")]
FIGURES += [f"liu_liu_{name}" for name in ("fig2", "fig3", "fig4", "fig5", "log2", "table2", "real")]
REAL = {"li_liu_fig3", "li_liu_fig4", "liu_liu_real"}
VERDICTS = ("yes", "no", "open", "on average", "unusable", "from n = 10", "says nothing", "promises nothing", "–", "-")


def test_each_benchmark_finds_what_it_names():
    """A module imports, and calls of the package are of what it has: names change, figures are made seldom."""
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for name in re.findall(r"\bcrowdopt\.(\w+)\(", path.read_text(encoding="utf-8")):
            assert callable(getattr(crowdopt, name)), f"{path.name}: crowdopt.{name}"


@pytest.mark.long
@pytest.mark.parametrize("figure", FIGURES)
def test_each_figure_is_one_command(figure, tmp_path):
    """Two trials decide little: the command ends, and each sentence of the paper has our number and a verdict."""
    if figure in REAL and not os.environ.get("CROWDOPT_DATA"):
        pytest.skip("CROWDOPT_DATA does not name the folder of real label sets")
    command = [sys.executable, "-m", f"benchmarks.papers.{figure}", "--trials", "2", "--processes", "1"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, "-o", str(tmp_path)], cwd=ROOT, env=env, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for page in tmp_path.glob("*.md")
        for line in page.read_text(encoding="utf-8").split("| holds? |")[-1].splitlines()
        if line.startswith("| ") and not line.startswith("|---")
    ]
    assert rows
    for cells in rows:
        assert cells[1] and cells[2].startswith(VERDICTS), cells


ZENCROWD = """ann,x-http://dbpedia.org/page/x,1,1,20
bob,x-http://dbpedia.org/page/x,0,1,20
ann,x-http://www.freebase.com/view/x,0,0,20
ann,x-http://www.freebase.com/view/x,1,0,20
ann,x-x_undisclosedLink0,0,0,20
cat,x-http://dbpedia.org/page/x,1,1,20
cat,x-http://www.freebase.com/view/x,0,0,20
"""
RTE = (
    "!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold\nk1\tann\t266\t1\t1\nk2\tbob\t266\t0\t1\n",
    'id\tvalue\ttask\ttext\thypothesis\n754\tTRUE\tCD\tHe said "no\tNo.\n266\tTRUE\tIR\tText.\tShort.\n',
)
FORMATS = {  # reads, its files, rows of labels.csv, rows of another table
    "keys are workers, then images; maps run over line ends": (
        bluebird.convert,
        ["39: {11: true, 12: false}\n116: {11: false,\n  12: false}\n", "{11: true,\n 12: false}"],
        "11,0,1 12,0,0 11,1,0 12,1,0",
        ("truth", "11,1 12,0"),
    ),
    "a row per question, a column per worker": (
        quiz.convert,
        ["question_id,worker1,worker2\n1,B,A\n2,D,D\n", "question_id,truth\n1,B\n2,C\n"],
        "1,0,B 1,1,A 2,0,D 2,1,D",
        ("truth", "1,B 2,C"),
    ),
    "a repeated label counts once, the first time; tasks without an address are left out": (
        zencrowd.convert,
        [ZENCROWD],
        "0,0,1 0,1,0 1,0,0 0,2,1 1,2,0",
        ("types", "0,dbpedia 1,freebase"),
    ),
    "the core of those with two labels": (
        lambda source, folder: zencrowd.convert(source, folder, core=2),
        [ZENCROWD],
        "0,0,1 1,0,0 0,2,1 1,2,0",
        ("types", "0,dbpedia 1,freebase"),
    ),
    "types come from the challenge's own table; quotation marks are no quoting": (
        rte.convert,
        RTE,
        "266,0,1 266,1,0",
        ("types", "266,IR"),
    ),
    "toolkit": (
        lambda source, folder: more.toolkit(folder, source),
        ["ann,t2,1,0,9\nbob,t2,0,0\nann,t1,1,1,9\n\n"],
        "t2,0,1 t2,1,0 t1,0,1",
        ("truth", "t1,1 t2,0"),
    ),
    "survey": (
        lambda answers, truth, folder: more.survey(folder, answers, truth),
        ["question,worker,answer\n1, ann,3\n2,bob ,0\n", "question,truth\n2,0\n1,2\n"],
        "1,0,3 2,1,0",
        ("truth", "1,2 2,0"),
    ),
    "snow": (
        lambda source, folder: more.snow(folder, source),
        ["!amt_worker_ids\torig_id\tgold\tresponse\nann\tx\t1\t0\nbob\tx\t1\t1\n"],
        "x,0,0 x,1,1",
        ("truth", "x,1"),
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_becomes_tables(name, tmp_path):
    """No platform id is kept, answers nobody gave are no labels."""
    convert, texts, labels, (other, rows) = FORMATS[name]
    files = [tmp_path / str(k) for k in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    convert(*files, tmp_path / "out")
    head, *found = (tmp_path / "out" / "labels.csv").read_text(encoding="utf-8").split()
    assert head == "task,worker,label" and found == labels.split()
    assert (tmp_path / "out" / f"{other}.csv").read_text(encoding="utf-8").split()[1:] == rows.split()


@pytest.mark.parametrize("where", ["unset", "empty"])
def test_a_set_that_is_not_there_is_a_sentence(where, tmp_path, monkeypatch):
    """No KeyError: what is missing, and where to read how to get it."""
    monkeypatch.delenv("CROWDOPT_DATA", raising=False)
    monkeypatch.delenv("CROWDOPT_MORE_DATA", raising=False)
    if where == "empty":
        monkeypatch.setenv("CROWDOPT_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"bluebird.*data\.md"):
        folder_of("bluebird")
