"""Real label sets: each source format into our tables, and a sentence where a set is not there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.papers.real_data import folder_of
from benchmarks.papers.sources import bluebird, more, quiz, rte, zencrowd


def table(folder, name="labels"):
    return (folder / f"{name}.csv").read_text(encoding="utf-8").split()


def written(tmp_path, **files):
    paths = []
    for name, text in files.items():
        paths.append(tmp_path / name)
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def test_bluebird(tmp_path):
    """Workers are keys of the outer map, images of the inner; maps run over line ends."""
    files = written(
        tmp_path, labels="39: {11: true, 12: false}\n116: {11: false,\n  12: false}\n", truth="{11: true,\n 12: false}"
    )
    bluebird.convert(*files, tmp_path / "out")
    assert table(tmp_path / "out") == ["task,worker,label", "11,0,1", "12,0,0", "11,1,0", "12,1,0"]
    assert table(tmp_path / "out", "truth") == ["task,label", "11,1", "12,0"]


def test_quiz(tmp_path):
    """One row per question, one column per worker."""
    files = written(
        tmp_path, answers="question_id,worker1,worker2\n1,B,A\n2,D,D\n", truth="question_id,truth\n1,B\n2,C\n"
    )
    quiz.convert(*files, tmp_path / "out")
    assert table(tmp_path / "out") == ["task,worker,label", "1,0,B", "1,1,A", "2,0,D", "2,1,D"]
    assert table(tmp_path / "out", "truth") == ["task,label", "1,B", "2,C"]


ZENCROWD = """ann,x-http://dbpedia.org/page/x,1,1,20
bob,x-http://dbpedia.org/page/x,0,1,20
ann,x-http://www.freebase.com/view/x,0,0,20
ann,x-http://www.freebase.com/view/x,1,0,20
ann,x-x_undisclosedLink0,0,0,20
cat,x-http://dbpedia.org/page/x,1,1,20
cat,x-http://www.freebase.com/view/x,0,0,20
"""


def test_zencrowd(tmp_path):
    """A repeated label counts once, the first time; tasks without an address are left out; no platform id is kept."""
    (source,) = written(tmp_path, source=ZENCROWD)
    zencrowd.convert(source, tmp_path / "out")
    assert table(tmp_path / "out") == ["task,worker,label", "0,0,1", "0,1,0", "1,0,0", "0,2,1", "1,2,0"]
    assert table(tmp_path / "out", "types") == ["task,type", "0,dbpedia", "1,freebase"]
    zencrowd.convert(source, tmp_path / "core", core=2)
    assert table(tmp_path / "core") == ["task,worker,label", "0,0,1", "1,0,0", "0,2,1", "1,2,0"]


def test_rte(tmp_path):
    """Types come from the challenge's own table; quotation marks in its sentences are no quoting."""
    head = "!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold\n"
    files = written(
        tmp_path,
        labels=head + "k1\tann\t266\t1\t1\nk2\tbob\t266\t0\t1\n",
        settings='id\tvalue\ttask\ttext\thypothesis\n754\tTRUE\tCD\tHe said "no\tNo.\n266\tTRUE\tIR\tText.\tShort.\n',
    )
    rte.convert(*files, tmp_path / "out")
    assert table(tmp_path / "out") == ["task,worker,label", "266,0,1", "266,1,0"]
    assert table(tmp_path / "out", "types") == ["task,type", "266,IR"]


def test_more(tmp_path):
    """Three formats with a row for each label: no platform id is kept, answers nobody gave are no labels."""
    (listed,) = written(tmp_path, listed="ann,t2,1,0,9\nbob,t2,0,0\nann,t1,1,1,9\n\n")
    more.toolkit(tmp_path / "toolkit", listed)
    answers, truth = written(
        tmp_path, answers="question,worker,answer\n1, ann,3\n2,bob ,0\n", truth="question,truth\n2,0\n1,2\n"
    )
    more.survey(tmp_path / "survey", answers, truth)
    (parted,) = written(tmp_path, parted="!amt_worker_ids\torig_id\tgold\tresponse\nann\tx\t1\t0\nbob\tx\t1\t1\n")
    more.snow(tmp_path / "snow", parted)
    assert table(tmp_path / "toolkit")[1:] == ["t2,0,1", "t2,1,0", "t1,0,1"]
    assert table(tmp_path / "toolkit", "truth")[1:] == ["t1,1", "t2,0"]
    assert table(tmp_path / "survey")[1:] == ["1,0,3", "2,1,0"]
    assert table(tmp_path / "survey", "truth")[1:] == ["1,2", "2,0"]
    assert table(tmp_path / "snow")[1:] == ["x,0,0", "x,1,1"] and table(tmp_path / "snow", "truth")[1:] == ["x,1"]


@pytest.mark.parametrize("where", ["unset", "empty"])
def test_a_set_that_is_not_there_is_a_sentence(where, tmp_path, monkeypatch):
    """No KeyError: what is missing, and where to read how to get it."""
    monkeypatch.delenv("CROWDOPT_DATA", raising=False)
    monkeypatch.delenv("CROWDOPT_MORE_DATA", raising=False)
    if where == "empty":
        monkeypatch.setenv("CROWDOPT_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"bluebird.*data\.md"):
        folder_of("bluebird")


def test_more_sets_lie_in_a_folder_of_their_own(tmp_path, monkeypatch):
    """One that is in both is taken from the first."""
    for name in ("one/both", "two/both", "two/other"):
        (tmp_path / name).mkdir(parents=True)
        for file in ("labels.csv", "truth.csv"):
            (tmp_path / name / file).touch()
    monkeypatch.setenv("CROWDOPT_DATA", str(tmp_path / "one"))
    monkeypatch.setenv("CROWDOPT_MORE_DATA", str(tmp_path / "two"))
    assert folder_of("both") == tmp_path / "one/both" and folder_of("other") == tmp_path / "two/other"


@pytest.mark.slow
@pytest.mark.parametrize("figure", ["li_liu_fig3", "li_liu_fig4", "liu_liu_real"])
def test_the_figures_end_with_that_sentence(figure, tmp_path, monkeypatch):
    monkeypatch.delenv("CROWDOPT_DATA", raising=False)
    command = [sys.executable, "-m", f"benchmarks.papers.{figure}", "-o", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "data.md" in done.stderr and "Traceback" not in done.stderr
