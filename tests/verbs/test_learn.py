"""The verb learn: the same tasks for all, the same bytes for any number of processes, nothing lost or hidden."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt.verbs import learn
from tests.chance import fewest, rng
from tests.io import write_table
from tests.majorities import majority_accuracy
from tests.typed import rows, said

pytestmark = pytest.mark.usefixtures("undrawn")
TYPED = "worker,type,accuracy\n" + "".join(
    f"{who},{kind},{p}\n" for kind in ("text", "photo") for who, p in (("ada", 0.9), ("bo", 0.6), ("cy", 0.7))
)


@pytest.mark.chance
def test_a_table_of_labels(tmp_path):
    """One answer of each pair: no repeats, said; tasks shuffled by the seed; the unknown fifth is not judged.

    The others, 63 or 64, are independent: the majority is right on each with a chance of .87 and more.
    """
    draws, skills, out = rng(), [0.6, 0.67, 0.74, 0.81, 0.88], tmp_path / "out"
    truth = draws.integers(0, 2, 80)
    labels = np.where(draws.random((80, 5)) < skills, truth[:, None], 1 - truth[:, None])
    labels = [f"t{task},{'abcde'[k]},{'yn'[one]}" for (task, k), one in np.ndenumerate(labels)]
    labels = write_table(tmp_path / "labels.csv", "task,worker,label", *labels)
    known = [f"t{task},{'yn'[true]}" for task, true in enumerate(truth) if task % 5]
    words = ("--labels", labels, "--truth", write_table(tmp_path / "truth.csv", "task,label", *known))
    told = said("learn", *words, "--policies", "ls-ol:g2=5,full-majority,oracle", "--trials", 3, "-o", out)
    assert "one answer of each pair" in told and "T = 79" in told
    found = rows(out / "trials.csv")
    assert all(row["repeats"] == "0" for row in found)
    full = [float(row["right"]) for row in found if row["text"] == "full-majority"]
    assert all(fewest(63, majority_accuracy(skills)) / 64 <= share <= 1 for share in full)


def test_kinds_contexts_and_classes(tmp_path):
    """A column type or at makes skills depend on the task; more classes are plurality votes."""
    at = TYPED.replace("type", "at").replace("text", "0").replace("photo", "1")
    for name, text in (("typed", TYPED), ("at", at)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
        options = {"trials": 2, "horizon": 100, "classes": 3, "output": tmp_path / f"out-{name}"}
        found = crowdopt.learn(tmp_path / f"{name}.csv", ["ls-ol-context", "oracle"], **options)
        assert {line["policy"]: line for line in found.summary}["oracle"]["regret"] == pytest.approx(0, abs=1e-9)


def test_the_call_is_the_verb(tmp_path):
    """Skills, Labelers and draws; the same figures both ways."""
    found = crowdopt.learn(learn.DrawnLabelers.of(5, 0.6), ["ls-ol", "oracle"], horizon=100, trials=2, seed=5)
    words = ("--policies", "ls-ol,oracle", "--horizon", 100, "--trials", 2, "--seed", 5)
    said("learn", "--draw", "5:.6:1", *words, "-o", tmp_path / "o")
    written = [float(row["reward"]) for row in rows(tmp_path / "o" / "trials.csv")]
    np.testing.assert_allclose([row["reward"] for row in found.rows], written)
    plain = crowdopt.learn([0.9, 0.6, 0.7], ["full-majority"], horizon=10, trials=1)
    assert plain.summary[0]["regret"] == pytest.approx(10 * (0.9 - majority_accuracy([0.9, 0.6, 0.7])))


BAD = {
    "give exactly one": ["--draw", "5", "--skills", "table.csv"],
    "--labels needs --truth": ["--labels", "table.csv"],
    "give them with --labels": ["--draw", "5", "--truth", "table.csv"],
    "--draw is a number": ["--draw", "many"],
    "unknown policy": ["--draw", "5", "--policies", "ls-ool"],
    "two classes": ["--draw", "5", "--classes", "3"],
}
TABLES = {  # rows below worker,... and accuracy
    "line 2, column accuracy": ["worker,accuracy", "ada,1.2"],
    "one accuracy for each type": ["worker,type,accuracy", "ada,x,.5", "bo,y,.5"],
    "no second one": ["worker,accuracy", "ada,.5", "ada,.6"],
    "not both": ["worker,type,at,accuracy", "ada,x,0,.5"],
    "between 0 and 1": ["worker,at,accuracy", "ada,0,.5", "ada,2,.5"],
    "two different prices": ["worker,type,accuracy,price", "ada,x,.5,1", "ada,y,.5,2"],
}


@pytest.mark.parametrize("sentence", [*BAD, *TABLES])
def test_bad_input_is_one_sentence(sentence, tmp_path, monkeypatch):
    """What, where, remedy; exit status 2; nothing written."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "table.csv", *TABLES.get(sentence, TABLES["no second one"]))
    words = ["--policies", "ls-ol", *BAD.get(sentence, ["--skills", "table.csv"])]
    assert sentence in said("learn", *words, "-o", "out", code=2) and not (tmp_path / "out").exists()
