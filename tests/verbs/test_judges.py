"""Judges' cards: ten kinds of log in one command each, the gate, slices, and what is refused."""

from __future__ import annotations

import csv
import json
import re
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt.errors import InputError
from tests.typed import run, said

N = 300


def written(path: Path, header: str, rows) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return path


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Three judges, of whom two err together on a third of the items; humans know half of the items."""
    rng, place = np.random.default_rng(3), tmp_path_factory.mktemp("judges")
    truth, shared = rng.integers(0, 2, N), rng.random(N) < 0.15
    right = {"good": rng.random(N) < 0.97, "one": ~shared, "two": ~shared | (rng.random(N) < 0.1)}
    word, said = np.array(["no", "yes"]), {name: np.where(fine, truth, 1 - truth) for name, fine in right.items()}
    rows = [
        (f"i{k}", name, word[said[name][k]], ("de", "en")[k % 2], 0.01 * (1 + k % 3)) for name in said for k in range(N)
    ]
    written(place / "log.csv", "task,worker,label,language,cost", rows)
    known = {f"i{k}": word[truth[k]] for k in range(0, N, 2)}
    written(place / "human.csv", "task,label", known.items())
    written(place / "both.csv", "task,worker,label,truth", [(*row[:3], known.get(row[0], "")) for row in rows])
    return place, truth, right


def test_the_card_is_counted(drawn):
    """Right, found, said: by counting; who errs together is found, and what it costs is a mean."""
    place, truth, right = drawn
    found = crowdopt.judges(place / "log.csv", place / "human.csv")
    assert [card.judge for card in found.cards] == ["good", "one", "two"]
    for card in found.cards:
        mine = right[card.judge][::2]
        assert (card.votes, card.looked, card.right) == (N, N // 2, int(mine.sum()))
        for k, one in enumerate(card.classes):
            here = truth[::2] == k
            assert (one.items, one.found) == (int(here.sum()), int(mine[here].sum()))
        assert card.cost == pytest.approx(np.mean([0.01 * (1 + k % 3) for k in range(N)]))
    assert found.cards[0].word == "trusted" and found.cards[1].word != "trusted" and not found.trusted
    pairs = found.panel.together
    assert [(int(pairs.first[k]), int(pairs.second[k])) for k in np.flatnonzero(pairs.warned)] == [(1, 2)]


def test_the_truth_may_stand_in_the_log(drawn):
    """The same cards, from a column or from a table; a class that no judge names counts too."""
    place = drawn[0]
    one, other = crowdopt.judges(place / "both.csv"), crowdopt.judges(place / "log.csv", place / "human.csv")
    assert [card.table for card in one.cards] == [card.table for card in other.cards]
    log = {"task": ["a", "b", "c"], "worker": ["j"] * 3, "label": ["x", "x", "x"], "truth": ["x", "y", ""]}
    (card,) = crowdopt.judges(log).cards
    assert card.table == [[1, 0], [1, 0]]


def test_slices_are_cards_of_their_own(drawn):
    """Each value's items alone; words of all cards share the chance of a false one."""
    place, _, right = drawn
    found = crowdopt.judges(place / "log.csv", place / "human.csv", by="language")
    good = [(card.slice, card.looked) for card in found.cards if card.judge == "good"]
    assert good == [("", 150), ("de", 150), ("en", 0)]
    assert found.cards[0].right == right["good"][::2].sum()
    assert {card.word for card in found.cards if card.slice == "en"} == {"unknown"}


def test_the_gate(drawn, tmp_path):
    """0 where all are trusted, 1 where one is not, 2 where nobody says that the labels were held out."""
    place = drawn[0]
    words = ["judges", place / "log.csv", "--truth", place / "human.csv", "--require", "trusted"]
    assert run(*words, "--held-out", "--accuracy", 0.6).exit_code == 0
    assert run(*words, "--held-out").exit_code == 1
    refused = run(*words)
    assert refused.exit_code == 2 and "say --held-out if" in refused.stderr
    assert run("judges", place / "log.csv", "--require", "trusted", "--held-out").exit_code == 2


@pytest.mark.slow
def test_a_folder_and_its_page(drawn, tmp_path):
    """What is shown is what is written; the page names the trusted first of all."""
    place = drawn[0]
    told = said("judges", place / "log.csv", "--truth", place / "human.csv", "-o", tmp_path / "card")
    assert f"next: crowdopt import {place / 'log.csv'}" in told
    facts = json.loads((tmp_path / "card" / "judges.json").read_text(encoding="utf-8"))
    assert facts["cards"][0]["word"] == "trusted" and facts["panel"]["together"][0]["first"] == "one"
    page = crowdopt.report(tmp_path / "card").read_text(encoding="utf-8")
    assert "Trusted: good." in page
    assert run("judges", place / "log.csv", "-o", tmp_path / "card").exit_code == 2  # it is there already


TWO = [("a", "j", "x"), ("b", "j", "y")]
KINDS = {  # a log of each kind, what humans say, and how many votes stand in the first card
    "a table": (TWO, None, 2),
    "one judge, humans": (TWO, [("a", "x"), ("b", "x")], 2),
    "three classes": ([(k, "j", "xyz"[int(k) % 3]) for k in "0123456"], [("0", "x"), ("4", "z")], 7),
    "missing votes": ([*TWO[:1], ("b", "k", "y"), ("b", "j", "")], [("b", "y")], 1),
    "all agree": ([(k, j, "xy"[int(k) % 2]) for k in "0123" for j in "jk"], [("0", "x")], 4),
    "numbers as verdicts": ([("a", "j", "0"), ("b", "j", "1")], [("a", "0")], 2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_tables(kind, tmp_path):
    """One command each."""
    rows, humans, votes = KINDS[kind]
    words = ["judges", written(tmp_path / "log.csv", "task,worker,label", rows)]
    words += ["--truth", written(tmp_path / "human.csv", "task,label", humans)] if humans else []
    with pytest.warns(match="without a label") if kind == "missing votes" else nullcontext():
        assert json.loads(said(*words, "--json"))["cards"][0]["votes"] == votes


LOGS = Path(__file__).parents[1] / "io" / "bridges" / "logs"  # written by the tools themselves


@pytest.mark.parametrize(
    "name", ["promptfoo.json", "deepeval.json", "langfuse.json", "mlflow.jsonl", "inspect_tokens.json"]
)
def test_logs_of_tools(name):
    """As ``import`` reads them; what a tool marks as true is what humans say."""
    tool = re.match("[a-z]+", name)[0]
    cards = json.loads(said("judges", LOGS / name, "--from", tool, "--json"))["cards"]
    assert len(cards) > 1 and any(card["looked"] for card in cards) == (tool == "mlflow")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"by": "colour"}, "has no column 'colour'"),
        ({"accuracy": 1.0}, "strictly between 0 and 1"),
        ({"recall": -0.1}, r"must lie in \[0, 1\)"),
        ({"target": 0.6}, "between 0 and 1/2"),
        ({"tool": "promptfoo", "by": "language"}, "no column|is a file|cannot|no JSON|not"),
    ],
)
def test_what_is_refused(drawn, changes, told):
    """In one sentence, before anything is written."""
    with pytest.raises(InputError, match=told):
        crowdopt.judges(drawn[0] / "log.csv", drawn[0] / "human.csv", **changes)


def test_a_task_has_one_value(tmp_path):
    """Of a column by which there are cards, and of the truth."""
    log = {"task": ["a", "a"], "worker": ["j", "k"], "label": ["x", "y"], "part": ["p", "q"]}
    with pytest.raises(InputError, match="column part: 'q', and 'p' before"):
        crowdopt.judges(log, by="part")
