"""select and aggregate as their users see them: sentences, files, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.typed import rows
from tests.typed import run as typed

GOLD = "worker,correct,asked\nada,9,10\nbo,5,10\nchen,8,10\ndee,0,10\neli,6,8\n"
WORKERS = "worker,capacity,price,group\nada,9,3,day\nbo,9,1,day\nchen,9,1.5,night\ndee,9,2,night\neli,9,1,day\n"
LABELS = "task,worker,label\n" + "".join(
    f"t{t},{who},{label}\n"
    for t, said in enumerate(["yyny", "nnyy", "yyyn", "nyyn"])
    for who, label in zip(["ada", "bo", "chen", "dee"], said, strict=True)
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in a folder with tables; returns (exit status, what it printed)."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("gold.csv", GOLD), ("workers.csv", WORKERS), ("labels.csv", LABELS)):
        Path(name).write_text(text, encoding="utf-8")

    def command(*words: str) -> tuple[int, str]:
        done = typed(*words)
        return done.exit_code, done.output

    return command


def test_the_chart(run, tmp_path):
    """One picture, which is not replaced."""
    pytest.importorskip("vl_convert")
    status, said = run("select", "gold.csv", "--workers", "workers.csv", "--money", "6", "--chart", "a.png")
    assert status == 0 and "wrote a.png" in said and (tmp_path / "a.png").stat().st_size > 2000
    assert run("select", "gold.csv", "--chart", "a.png")[0] == 2


BAD = {
    "one question": ("worker,correct,asked\nada,1,1\n", [], "ada was asked one control question"),
    "nan": ("worker,correct,asked\nada,nan,4\n", [], "line 2, column correct"),
    "one class": (GOLD, ["--classes", "1"], "number of classes must be"),
    "none to hire": (GOLD, ["--most", "0"], "largest number of workers must be"),
    "coverage": (GOLD, ["--coverage", "1"], "coverage of an interval"),
    "unknown worker": (GOLD, ["--require", "zoe"], "'zoe' has no gold"),
    "unknown group": (GOLD, ["--workers", "workers.csv", "--at-least", "noon=1"], "no group 'noon'"),
    "groups without a table": (GOLD, ["--at-least", "day=1"], "needs groups"),
    "money without prices": (GOLD, ["--money", "3"], "give each worker a price"),
    "ranking with limits": (GOLD, ["--bar", "ada", "--method", "algorithm1"], "use the method program"),
    "no integers": (GOLD, ["--method", "program", "--backend", "cvxpy-clarabel"], "linear programs only"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence_and_exit_2(run, name):
    """Nothing is written, nothing guessed."""
    text, words, sentence = BAD[name]
    Path("other.csv").write_text(text, encoding="utf-8")
    status, said = run("select", "other.csv", *words, "-o", "hired.csv")
    assert status == 2 and sentence in said and len(said.splitlines()) == 1
    assert not Path("hired.csv").exists()


def test_tallies_by_type_are_added_up(run):
    """gold.csv of a campaign may have a row per worker and type."""
    Path("typed.csv").write_text(
        "worker,type,correct,asked\nada,a,4,5\nbo,a,3,5\nada,b,5,5\nbo,b,2,5\n", encoding="utf-8"
    )
    assert json.loads(run("select", "typed.csv", "--json")[1])["workers"] == ["ada"]
    facts = json.loads(run("select", "typed.csv", "--type", "a", "--most", "1", "--json")[1])
    assert facts["plug_in_score"] == pytest.approx((2 * 4 / 5 - 1) ** 2)
    status, said = run("select", "typed.csv", "--type", "c")
    assert status == 2 and "no type 'c'; its types are: a, b" in said


def test_weighted_votes_need_gold_of_everybody(run):
    """With gold the always wrong dee speaks against what dee says; without it there is no vote."""
    for method in ("wmv-linear", "wmv-log"):
        assert run("aggregate", "labels.csv", "--method", method, "--gold", "gold.csv", "-o", f"{method}.csv")[0] == 0
        assert [row["label"] for row in rows(f"{method}.csv")] == ["n", "n", "y", "y"]
    Path("less.csv").write_text(GOLD.replace("dee,0,10\n", ""), encoding="utf-8")
    status, said = run("aggregate", "labels.csv", "--method", "wmv-log", "--gold", "less.csv")
    assert status == 2 and "worker dee has no gold" in said
    assert run("aggregate", "labels.csv", "--method", "wmv-log")[0] == 2
    status, said = run("aggregate", "labels.csv", "--method", "kos", "--gold", "gold.csv")
    assert status == 2 and "kos takes no accuracies" in said
    status, said = run("aggregate", "labels.csv", "--method", "majority", "--workers", "more.csv")
    assert status == 2 and "estimates no worker's accuracy" in said


def test_a_campaigns_folder_is_its_gold(run):
    """Skills alone are no answers to questions of known answer, and the sentence says so."""
    run("init", "birds")
    assert run("select", "birds", "--most", "3") == run("select", "birds/gold.csv", "--most", "3")
    run("generate", "R1:8x20", "-o", "r")
    status, said = run("select", "r", "--most", "3")
    assert status == 2 and "there is no gold.csv" in said
