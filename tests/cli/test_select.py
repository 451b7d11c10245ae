"""select and aggregate as their users see them: sentences, files, exit statuses."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from crowdopt.cli import main

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
        result = CliRunner().invoke(main, list(words))
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return command


def rows(path: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_whom_to_hire_with_the_proof_and_the_caveat(run):
    """The worker who is always wrong is the best of all; they have a negative weight, and the interval its warning."""
    status, said = run("select", "gold.csv", "--most", "3", "-o", "hired.csv")
    assert status == 0
    assert "hire 2 of 5 workers: dee, ada\n" in said
    assert "proven: no allowed set scores more (anyone can recompute that from the tallies)" in said
    assert "fixed before the control questions were answered" in said
    assert [(row["worker"], row["weight"]) for row in rows("hired.csv")][:2] == [("dee", "-1.0"), ("ada", "0.8")]


def test_limits_go_to_the_program(run):
    """Money, a required and a barred worker, at least one of a group; the method changes by itself."""
    words = ["--workers", "workers.csv", "--money", "4.5", "--require", "bo", "--bar", "ada", "--at-least", "day=2"]
    status, said = run("select", "gold.csv", *words, "--json")
    facts = json.loads(said)
    assert status == 0 and facts["method"] == "program" and facts["proven"]
    assert "bo" in facts["workers"] and "ada" not in facts["workers"] and facts["cost"] <= 4.5
    status, said = run("select", "gold.csv", *words[:-1], "night=2", "--require", "ada")
    assert status == 2 and "required and barred" in said
    status, said = run("select", "gold.csv", *words[:2], "--money", "1", "--require", "ada")
    assert status == 1 and "no set of workers keeps all the limits" in said


@pytest.mark.parametrize("method", ["plug-in", "variance-normalised", "top-k", "random-k", "program"])
def test_every_method_says_how_far_it_is_from_the_best(run, method):
    """The same bound for all; only the proven ones pass --require-proof."""
    facts = json.loads(run("select", "gold.csv", "--most", "2", "--method", method, "--json")[1])
    assert facts["best_score"] >= facts["score"] - 1e-9 and facts["proof"] == "certificate"
    status, _ = run("select", "gold.csv", "--most", "2", "--method", method, "--require-proof")
    assert status == (0 if facts["proven"] else 1)


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_the_chart(run, tmp_path, name):
    """One picture; nothing else is left behind."""
    pytest.importorskip("vl_convert")
    status, said = run("select", "gold.csv", "--workers", "workers.csv", "--money", "6", "--chart", name)
    assert status == 0 and f"wrote {name}" in said and (tmp_path / name).stat().st_size > 2000
    assert run("select", "gold.csv", "--chart", name)[0] == 2


def test_the_frontier_as_a_table(run):
    """Without prices by size, with them by cost; scores ascend in both."""
    for words, column in (([], "workers"), (["--workers", "workers.csv"], "cost")):
        assert run("select", "gold.csv", *words, "--frontier", f"{column}-frontier.csv")[0] == 0
        table = rows(f"{column}-frontier.csv")
        assert all(float(a["score"]) < float(b["score"]) for a, b in pairwise(table))
        assert all(float(a[column]) < float(b[column]) for a, b in pairwise(table))
        assert all(len(row["hired"].split()) == int(row["workers"]) for row in table)


BAD = {
    "one question": ("worker,correct,asked\nada,1,1\n", [], "ada was asked one control question"),
    "more than asked": ("worker,correct,asked\nada,5,4\n", [], "more correct answers than control questions"),
    "twice": ("worker,correct,asked\nada,1,4\nada,1,4\n", [], "line 3, column worker"),
    "not a number": ("worker,correct,asked\nada,x,4\n", [], "line 2, column correct"),
    "nan": ("worker,correct,asked\nada,nan,4\n", [], "line 2, column correct"),
    "nobody": ("worker,correct,asked\n", [], "no worker"),
    "one class": (GOLD, ["--classes", "1"], "number of classes must be"),
    "none to hire": (GOLD, ["--most", "0"], "largest number of workers must be"),
    "coverage": (GOLD, ["--coverage", "1"], "coverage of an interval"),
    "unknown worker": (GOLD, ["--require", "zoe"], "'zoe' has no gold"),
    "unknown group": (GOLD, ["--workers", "workers.csv", "--at-least", "noon=1"], "no group 'noon'"),
    "groups without a table": (GOLD, ["--at-least", "day=1"], "needs groups"),
    "no number": (GOLD, ["--at-least", "day"], "write a group and a number"),
    "money without prices": (GOLD, ["--money", "3"], "give each worker a price"),
    "ranking with limits": (GOLD, ["--bar", "ada", "--method", "algorithm1"], "use the method program"),
    "no integers": (GOLD, ["--method", "program", "--backend", "cvxpy-clarabel"], "linear programs only"),
    "missing": (None, [], "no such file"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence_and_exit_2(run, name):
    """Nothing is written, nothing guessed."""
    text, words, sentence = BAD[name]
    Path("other.csv").write_text(text, encoding="utf-8") if text else None
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


def test_answers_from_labels(run):
    """Every method, with a table of answers; the order of tasks is that of the labels."""
    for method in ("majority", "one-coin", "dawid-skene", "kos"):
        status, said = run("aggregate", "labels.csv", "--method", method, "-o", f"{method}.csv")
        assert status == 0 and f"by {method}" in said and "4 answers from 16 labels by 4 workers" in said
        assert [row["task"] for row in rows(f"{method}.csv")] == ["t0", "t1", "t2", "t3"]
    assert [row["label"] for row in rows("majority.csv")] == ["y", "n", "y", "n"]
    assert [row["confidence"] for row in rows("majority.csv")] == ["0.75", "0.5", "0.75", "0.5"]


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


def test_accuracies_and_known_answers(run):
    """The workers' table, and the share of right answers where the truth is known."""
    Path("truth.csv").write_text("task,label\nt0,y\nt1,n\nother,y\n", encoding="utf-8")
    status, said = run("aggregate", "labels.csv", "--truth", "truth.csv", "--workers", "who.csv")
    assert status == 0 and "% of the tasks with known answers" in said
    assert [row["worker"] for row in rows("who.csv")] == ["ada", "bo", "chen", "dee"]
    status, said = run("aggregate", "labels.csv", "--method", "majority", "--workers", "more.csv")
    assert status == 2 and "estimates no worker's accuracy" in said
    assert run("aggregate", "labels.csv", "-o", "who.csv")[0] == 2


def test_one_class_is_nothing_to_decide(run):
    """A table in which every worker says the same has no question in it."""
    Path("one.csv").write_text("task,worker,label\na,u,y\nb,u,y\n", encoding="utf-8")
    status, said = run("aggregate", "one.csv")
    assert status == 2 and "nothing to decide" in said


def test_a_campaigns_folder_is_its_gold(run):
    """Skills alone are no answers to questions of known answer, and the sentence says so."""
    run("init", "birds")
    assert run("select", "birds", "--most", "3") == run("select", "birds/gold.csv", "--most", "3")
    run("generate", "R1:8x20", "-o", "r")
    status, said = run("select", "r", "--most", "3")
    assert status == 2 and "there is no gold.csv" in said
