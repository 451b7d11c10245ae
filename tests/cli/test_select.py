"""select and aggregate as their users see them: sentences, files, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import crowdopt
from crowdopt import InputError
from tests.io import write_table
from tests.typed import column, run, said

GOLD = "worker,correct,asked\nada,9,10\nbo,5,10\nchen,8,10\ndee,0,10\neli,6,8\n"
WORKERS = "worker,capacity,price,group\nada,9,3,day\nbo,9,1,day\nchen,9,1.5,night\ndee,9,2,night\neli,9,1,day\n"
LABELS = "task,worker,label\n" + "".join(
    f"t{t},{who},{label}\n"
    for t, labels in enumerate(["yyny", "nnyy", "yyyn", "nyyn"])
    for who, label in zip(["ada", "bo", "chen", "dee"], labels, strict=True)
)


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch):
    """Commands run in a folder with tables."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("gold.csv", GOLD), ("workers.csv", WORKERS), ("labels.csv", LABELS)):
        Path(name).write_text(text, encoding="utf-8")


def test_the_chart():
    """One picture, which is not replaced."""
    pytest.importorskip("vl_convert")
    told = said("select", "gold.csv", "--workers", "workers.csv", "--money", "6", "--chart", "a.png")
    assert "wrote a.png" in told and Path("a.png").stat().st_size > 2000
    said("select", "gold.csv", "--chart", "a.png", code=2)


BAD = {
    "ada was asked one control question": ("worker,correct,asked\nada,1,1\n", []),
    "line 2, column correct": ("worker,correct,asked\nada,nan,4\n", []),
    "number of classes must be": (GOLD, ["--classes", "1"]),
    "largest number of workers must be": (GOLD, ["--most", "0"]),
    "coverage of an interval": (GOLD, ["--coverage", "1"]),
    "'zoe' has no gold": (GOLD, ["--require", "zoe"]),
    "no group 'noon'": (GOLD, ["--workers", "workers.csv", "--at-least", "noon=1"]),
    "needs groups": (GOLD, ["--at-least", "day=1"]),
    "give each worker a price": (GOLD, ["--money", "3"]),
    "use the method program": (GOLD, ["--bar", "ada", "--method", "algorithm1"]),
    "linear programs only": (GOLD, ["--method", "program", "--backend", "cvxpy-clarabel"]),
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_input_gets_one_sentence_and_exit_2(sentence):
    """Nothing is written, nothing guessed."""
    text, words = BAD[sentence]
    Path("other.csv").write_text(text, encoding="utf-8")
    told = said("select", "other.csv", *words, "-o", "hired.csv", code=2)
    assert sentence in told and len(told.splitlines()) == 1 and not Path("hired.csv").exists()


def test_tallies_by_type_are_added_up():
    """gold.csv of a campaign may have a row per worker and type."""
    write_table(Path("typed.csv"), "worker,type,correct,asked", "ada,a,4,5", "bo,a,3,5", "ada,b,5,5", "bo,b,2,5")
    assert json.loads(said("select", "typed.csv", "--json"))["workers"] == ["ada"]
    facts = json.loads(said("select", "typed.csv", "--type", "a", "--most", "1", "--json"))
    assert facts["plug_in_score"] == pytest.approx((2 * 4 / 5 - 1) ** 2)
    assert "no type 'c'; its types are: a, b" in said("select", "typed.csv", "--type", "c", code=2)


def test_weighted_votes_need_gold_of_everybody():
    """With gold the always wrong dee speaks against what dee says; without it there is no vote."""
    for method in ("wmv-linear", "wmv-log"):
        said("aggregate", "labels.csv", "--method", method, "--gold", "gold.csv", "-o", f"{method}.csv")
        assert column(f"{method}.csv", "label") == ["n", "n", "y", "y"]
    Path("less.csv").write_text(GOLD.replace("dee,0,10\n", ""), encoding="utf-8")
    for told, method, options in (
        ("worker dee has no gold", "wmv-log", {"gold": "less.csv"}),
        ("gold", "wmv-log", {}),
        ("kos takes no accuracies", "kos", {"gold": "gold.csv"}),
        ("estimates no worker's accuracy", "majority", {"workers": "more.csv"}),
    ):
        with pytest.raises(InputError, match=told):
            crowdopt.aggregate("labels.csv", method, **options)


def test_a_campaigns_folder_is_its_gold():
    """Skills alone are no answers to questions of known answer, and the sentence says so."""
    crowdopt.init("birds")
    assert run("select", "birds", "--most", "3").output == said("select", "birds/gold.csv", "--most", "3")
    crowdopt.generate("R1:8x20", output="r")
    assert "there is no gold.csv" in said("select", "r", "--most", "3", code=2)
