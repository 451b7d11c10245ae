"""The verb learn: the same tasks for all, the same bytes for any number of processes, nothing lost or hidden."""

from __future__ import annotations

import json

import numpy as np
import pytest

import crowdopt
from crowdopt.verbs import learn
from tests.chance import fewest, rng
from tests.majorities import majority_accuracy
from tests.typed import rows, run

TYPED = "worker,type,accuracy\n" + "".join(
    f"{who},{kind},{p}\n" for kind in ("text", "photo") for who, p in (("ada", 0.9), ("bo", 0.6), ("cy", 0.7))
)


@pytest.fixture
def labels(tmp_path):
    draws = rng()
    truth = draws.integers(0, 2, 80)
    lines, answers = ["task,worker,label"], ["task,label"]
    for task, true in enumerate(truth):
        answers += [f"t{task},{'yn'[true]}"] if task % 5 else []
        for k, who in enumerate("abcde"):
            lines += [f"t{task},{who},{'yn'[true if draws.random() < 0.6 + 0.07 * k else 1 - true]}"]
    for name, table in (("labels.csv", lines), ("truth.csv", answers)):
        (tmp_path / name).write_text("\n".join(table) + "\n", encoding="utf-8")
    return tmp_path / "labels.csv", tmp_path / "truth.csv"


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
    found = rows(tmp_path / "out" / "trials.csv")
    assert all(row["repeats"] == "0" for row in found)
    full = [float(row["right"]) for row in found if row["text"] == "full-majority"]
    assert all(fewest(63, majority_accuracy([0.6, 0.67, 0.74, 0.81, 0.88])) / 64 <= share <= 1 for share in full)
    assert float(found[0]["cost_regret"]) == pytest.approx(
        float(found[0]["cost"]) - 79 * _best_cost(found[0]), abs=1e-6
    )


def _best_cost(row):
    return (float(row["cost"]) - float(row["cost_regret"])) / 79


@pytest.mark.usefixtures("undrawn")
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
    written = [float(row["reward"]) for row in rows(tmp_path / "o" / "trials.csv")]
    np.testing.assert_allclose([row["reward"] for row in found.rows], written)
    plain = crowdopt.learn([0.9, 0.6, 0.7], ["full-majority"], horizon=10, trials=1)
    assert plain.summary[0]["regret"] == pytest.approx(10 * (0.9 - majority_accuracy([0.9, 0.6, 0.7])))


BAD = {
    "two": (["--draw", "5", "--skills", "twice.csv"], "give exactly one"),
    "no truth": (["--labels", "twice.csv"], "--labels needs --truth"),
    "truth alone": (["--draw", "5", "--truth", "twice.csv"], "give them with --labels"),
    "draw": (["--draw", "many"], "--draw is a number"),
    "no crowd": (["--draw", "1:0:.2"], "better than a guess"),
    "unknown": (["--draw", "5", "--policies", "ls-ool"], "unknown policy"),
    "classes": (["--draw", "5", "--classes", "3"], "two classes"),
    "range": (["--skills", "range.csv"], "line 2, column accuracy"),
    "holes": (["--skills", "holes.csv"], "one accuracy for each type"),
    "twice": (["--skills", "twice.csv"], "no second one"),
    "both": (["--skills", "both.csv"], "not both"),
    "far": (["--skills", "far.csv"], "between 0 and 1"),
    "prices": (["--skills", "prices.csv"], "two different prices"),
}
FILES = {
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


@pytest.mark.usefixtures("undrawn")
def test_five_real_labelers(real_data, tmp_path):
    """ZenCrowd's five: 813 tasks; agreement is not independent there, and the labels themselves say so."""
    folder = real_data / "zencrowd_core5"
    words = ("--labels", folder / "labels.csv", "--truth", folder / "truth.csv", "--types", folder / "types.csv")
    done = run("learn", *words, "--policies", "full-majority,ls-ol:g1=100", "--trials", 2, "-o", tmp_path / "out")
    assert done.exit_code == 0 and "T = 813" in done.output
    full = [float(row["right"]) for row in rows(tmp_path / "out" / "trials.csv") if row["text"] == "full-majority"]
    assert all(share == pytest.approx(0.861, abs=0.002) for share in full)
    assert "agree more than independent labelers" in (tmp_path / "out" / "learning.json").read_text(encoding="utf-8")
