"""The verb learn: the same tasks for all, the same bytes for any number of processes, nothing lost or hidden."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import crowdopt
from crowdopt.api import learn
from crowdopt.cli import main
from crowdopt.errors import InputError
from crowdopt.labelers.sets import best_set
from tests.chance import fewest, rng
from tests.majorities import majority_accuracy

POLICIES = "ls-ol:g1=5,em-then-exploit:testers=40,full-majority,random-set"
SKILLS = "worker,accuracy,price\nada,.9,.05\nbo,.55,.01\ncy,.8,.02\ndee,.7,.02\neli,.6,.01\n"
TYPED = "worker,type,accuracy\n" + "".join(
    f"{who},{kind},{p}\n" for kind in ("text", "photo") for who, p in (("ada", 0.9), ("bo", 0.6), ("cy", 0.7))
)


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def skills(tmp_path):
    (tmp_path / "skills.csv").write_text(SKILLS, encoding="utf-8")
    return tmp_path / "skills.csv"


@pytest.fixture
def labels(tmp_path):
    draws = rng()
    truth = draws.integers(0, 2, 80)
    lines, answers = ["task,worker,label"], ["task,label"]
    for task, true in enumerate(truth):
        answers += [f"t{task},{'yn'[true]}"] if task % 5 else []
        for k, who in enumerate("abcde"):
            lines += [f"t{task},{who},{'yn'[true if draws.random() < 0.6 + 0.07 * k else 1 - true]}"]
    for name, rows in (("labels.csv", lines), ("truth.csv", answers)):
        (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "labels.csv", tmp_path / "truth.csv"


def rows_of(folder, name="trials.csv"):
    with (folder / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_tables_page_charts(skills, tmp_path):
    """All of it is there, each policy in each trial, and regret is against the best set of these people."""
    out = tmp_path / "out"
    done = run("learn", "--skills", skills, "--policies", POLICIES, "--trials", 3, "--horizon", 300, "-o", out)
    assert done.exit_code == 0, done.output
    names = {"trials.csv", "summary.csv", "curves.csv", "timings.csv", "learning.json", "report.html"}
    assert names | {"regret.png", "reward.png", "cost_regret.png"} <= {path.name for path in out.iterdir()}
    rows = rows_of(out)
    assert [row["text"] for row in rows] == POLICIES.split(",") * 3
    best = best_set([0.9, 0.55, 0.8, 0.7, 0.6]).accuracy
    for row in rows:
        assert float(row["best_majority"]) == pytest.approx(best)
        assert float(row["regret"]) == pytest.approx(300 * (best - float(row["reward"])))
    facts = json.loads((out / "learning.json").read_text(encoding="utf-8"))
    assert facts["horizon"] == 300 and len(facts["curves"]) == 4 * 100
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "explores 28 of 300 steps" in page and "exploration in" in page


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_equal_bytes_for_any_number_of_processes(skills, tmp_path):
    """Timings apart, two runs agree to the byte."""
    for name, processes in (("one", 0), ("two", 2)):
        more = ("--trials", 2, "--horizon", 200, "--processes", processes, "-o", tmp_path / name)
        assert run("learn", "--skills", skills, "--policies", POLICIES, *more).exit_code == 0
    for name in ("trials.csv", "summary.csv", "curves.csv", "learning.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_finished_rows_are_kept_and_a_study_is_not_overwritten(skills, tmp_path):
    """Interrupted before the end it goes on; finished it is replaced only by force, and more trials add to it."""
    out = tmp_path / "out"
    words = ("learn", "--skills", skills, "--policies", "ls-ol", "--horizon", 50, "-o", out)
    assert run(*words, "--trials", 2).exit_code == 0
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "work" / "rows").iterdir()}
    assert run(*words, "--trials", 2).exit_code == 2
    (out / "learning.json").unlink()  # as if stopped before the last file
    assert run(*words, "--trials", 3).exit_code == 0
    now = {path.name: path.stat().st_mtime_ns for path in (out / "work" / "rows").iterdir()}
    assert kept.items() <= now.items() and len(now) > len(kept)
    assert run(*words, "--force").exit_code == 0
    assert run("report", out).exit_code == 0


@pytest.mark.usefixtures("undrawn")
@pytest.mark.chance
def test_a_table_of_labels(labels, tmp_path):
    """One answer of each pair: no repeats, said; tasks shuffled by the seed; the unknown fifth is not judged.

    The others, 63 or 64, are independent: the majority is right on each with a chance of .87 and more.
    """
    table, truth = labels
    words = ("learn", "--labels", table, "--truth", truth, "--policies", "ls-ol:g2=5,full-majority,oracle")
    done = run(*words, "--trials", 3, "--cost", 0.1, "-o", tmp_path / "out")
    assert done.exit_code == 0 and "one answer of each pair" in done.output and "T = 79" in done.output
    rows = rows_of(tmp_path / "out")
    assert all(row["repeats"] == "0" for row in rows)
    full = [float(row["right"]) for row in rows if row["text"] == "full-majority"]
    assert all(fewest(63, majority_accuracy([0.6, 0.67, 0.74, 0.81, 0.88])) / 64 <= share <= 1 for share in full)
    assert float(rows[0]["cost_regret"]) == pytest.approx(float(rows[0]["cost"]) - 79 * _best_cost(rows[0]), abs=1e-6)


def _best_cost(row):
    return (float(row["cost"]) - float(row["cost_regret"])) / 79


def test_kinds_contexts_and_classes(tmp_path):
    """A column type or at makes skills depend on the task; more classes are plurality votes."""
    (tmp_path / "typed.csv").write_text(TYPED, encoding="utf-8")
    (tmp_path / "at.csv").write_text(
        TYPED.replace("type", "at").replace("text", "0").replace("photo", "1"), encoding="utf-8"
    )
    for name in ("typed.csv", "at.csv"):
        words = ("--policies", "ls-ol-context,oracle", "--trials", 2, "--horizon", 100, "--classes", 3)
        done = run("learn", "--skills", tmp_path / name, *words, "-o", tmp_path / f"out-{name}", "--json")
        lines = {line["policy"]: line for line in json.loads(done.output)["policies"]}
        assert lines["oracle"]["regret"] == pytest.approx(0, abs=1e-9)


@pytest.mark.usefixtures("undrawn")
def test_the_call_is_the_verb(tmp_path):
    """Skills, Labelers and draws; the same figures both ways."""
    found = crowdopt.learn(learn.DrawnLabelers.of(5, 0.6), ["ls-ol", "oracle"], horizon=100, trials=2, seed=5)
    words = ("--policies", "ls-ol,oracle", "--horizon", 100, "--trials", 2, "--seed", 5)
    assert run("learn", "--draw", "5:.6:1", *words, "-o", tmp_path / "o").exit_code == 0
    written = [float(row["reward"]) for row in rows_of(tmp_path / "o")]
    np.testing.assert_allclose([row["reward"] for row in found.rows], written)
    plain = crowdopt.learn([0.9, 0.6, 0.7], ["full-majority"], horizon=10, trials=1)
    assert plain.summary[0]["regret"] == pytest.approx(10 * (0.9 - majority_accuracy([0.9, 0.6, 0.7])))


BAD = {
    "none": ([], "give exactly one"),
    "two": (["--draw", "5", "--skills", "skills.csv"], "give exactly one"),
    "no truth": (["--labels", "skills.csv"], "--labels needs --truth"),
    "truth alone": (["--draw", "5", "--truth", "skills.csv"], "give them with --labels"),
    "draw": (["--draw", "many"], "--draw is a number"),
    "no crowd": (["--draw", "1:0:.2"], "better than a guess"),
    "no policy": (["--draw", "5", "--policies", " "], "no policy"),
    "unknown": (["--draw", "5", "--policies", "ls-ool"], "unknown policy"),
    "classes": (["--draw", "5", "--classes", "3"], "two classes"),
    "nobody": (["--skills", "nobody.csv"], "at least one row"),
    "range": (["--skills", "range.csv"], "line 2, column accuracy"),
    "holes": (["--skills", "holes.csv"], "one accuracy for each type"),
    "twice": (["--skills", "twice.csv"], "no second one"),
    "both": (["--skills", "both.csv"], "not both"),
    "far": (["--skills", "far.csv"], "between 0 and 1"),
    "prices": (["--skills", "prices.csv"], "two different prices"),
}
FILES = {
    "skills.csv": SKILLS,
    "nobody.csv": "worker,accuracy\n",
    "range.csv": "worker,accuracy\nada,1.2\n",
    "holes.csv": "worker,type,accuracy\nada,x,.5\nbo,y,.5\n",
    "twice.csv": "worker,accuracy\nada,.5\nada,.6\n",
    "both.csv": "worker,type,at,accuracy\nada,x,0,.5\n",
    "far.csv": "worker,at,accuracy\nada,0,.5\nada,2,.5\n",
    "prices.csv": "worker,type,accuracy,price\nada,x,.5,1\nada,y,.5,2\n",
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case, tmp_path, monkeypatch):
    """What, where, remedy; exit status 2; nothing written."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    words, said = BAD[case]
    policies = [] if "--policies" in words else ["--policies", "ls-ol"]
    done = run("learn", *words, *policies, "-o", "out")
    assert done.exit_code == 2 and said in done.output and not (tmp_path / "out").exists()


def test_numbers_of_trials_are_checked():
    with pytest.raises(InputError, match="at least 1"):
        crowdopt.learn([0.9], ["ls-ol"], trials=0)


def test_the_list_of_policies():
    """Every policy, its options and what it is."""
    done = run("learn", "--list")
    assert done.exit_code == 0 and "ls-ol-vetting:" in done.output and "threshold=0.1" in done.output
    assert "no options" in done.output


@pytest.mark.usefixtures("undrawn")
def test_five_real_labelers(real_data, tmp_path):
    """ZenCrowd's five: 813 tasks; agreement is not independent there, and the labels themselves say so."""
    folder = real_data / "zencrowd_core5"
    words = ("--labels", folder / "labels.csv", "--truth", folder / "truth.csv", "--types", folder / "types.csv")
    done = run("learn", *words, "--policies", "full-majority,ls-ol:g1=100", "--trials", 2, "-o", tmp_path / "out")
    assert done.exit_code == 0 and "T = 813" in done.output
    full = [float(row["right"]) for row in rows_of(tmp_path / "out") if row["text"] == "full-majority"]
    assert all(share == pytest.approx(0.861, abs=0.002) for share in full)
    assert "agree more than independent labelers" in (tmp_path / "out" / "learning.json").read_text(encoding="utf-8")
