"""A verb is one function: the command line takes what Python takes, with the same words, ranges and sentences."""

from __future__ import annotations

import inspect
import json

import click
import pytest
from click.testing import CliRunner

import crowdopt
from crowdopt import InputError, cli, verbs
from crowdopt.cli import main
from crowdopt.core.registry import own
from crowdopt.said import Verb

VERBS = {verb.name: verb for verb in own(verbs, "VERBS") if isinstance(verb, Verb)}
IN_PYTHON_ALONE = {  # what cannot be typed: arrays, and who listens
    "solve": {"listener"},
    "select": {"asked", "price", "group", "fewest", "most_each", "groups"},
    "compare": {"record"},
    "learn": {"labelers"},
    "aggregate": {"settings"},
}


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, [*map(str, words)])
    return done.exit_code, done.output


@pytest.mark.parametrize("name", VERBS)
def test_each_argument_is_typed_and_each_option_is_explained(name):
    """An argument that no command takes would be lost in silence; so would an option that says nothing."""
    command = main.get_command(click.Context(main), name)
    takes = set(inspect.signature(VERBS[name].call).parameters) - IN_PYTHON_ALONE.get(name, set())
    assert {one.name for one in command.params} - {"as_json"} == takes
    for one in command.params:
        assert isinstance(one, click.Argument) or (one.help or "").endswith("."), one.name


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["solve", "c", "-o", "p", "--seed", "-1"], {"seed": -1}),
        (["solve", "c", "-o", "p", "--threads", "0"], {"threads": 0}),
        (["solve", "c", "-o", "p", "--processes", "5000"], {"processes": 5000}),
    ],
)
def test_a_number_out_of_its_range_is_one_sentence_everywhere(words, given):
    with pytest.raises(InputError) as raised:
        crowdopt.solve("c", **given)
    status, said = run(*words)
    assert status == 2 and str(raised.value) in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan-gold c --gold 5,x", "--gold: 'x' is not a valid integer"),
        ("plan-gold c --gold=", "--gold: '' is not"),
        ("init new --classes a,,b", "--classes a,,b: there is nothing between two commas"),
        ("init new --classes ,,", "nothing between two commas"),
        ("select c/gold.csv --at-most x=y", "--at-most: 'y' is not a valid integer"),
        ("select c/gold.csv --at-least two", "--at-least two: write a name and a number, such as --at-least nurses=2"),
        ("solve c -o p --method exat", "did you mean 'exact'?"),
        ("solve c -o p --method higs", "did you mean 'highs'?"),
        ("solve c -o p --method highs:presolve=off", "stand in brackets, as in highs[presolve=off]"),
        ("solve c -o p --skills best", "skills must be one of averaged, one-point"),
        ("rehearse c p -o labels.csv --lost 2", "lost must be at least 0 and at most 1, not 2"),
    ],
)
def test_a_wrong_word_is_named_with_what_is_right(tmp_path, monkeypatch, words, said):
    """The sentence is about what was typed, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    crowdopt.init("c")
    status, told = run(*words.split())
    assert status in (1, 2) and said in told and told.count("\n") == 1, told
    assert [one.name for one in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"require": "all"}, "require must be one of nothing, served, proof, not 'all'"),
        ({"program": "milp"}, "program must be one of ip, lp, not 'milp'"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
        ({"difficulty": (0.3,)}, "difficulty is two numbers"),
    ],
)
def test_a_word_that_is_none_is_refused_in_python_too(words, said):
    """What no branch asks for would otherwise be taken for the default."""
    with pytest.raises(InputError, match=said):
        crowdopt.solve(crowdopt.recipe("HS:3x3", seed=0), **words)


def test_tables_that_are_no_rectangle_are_a_sentence():
    with pytest.raises(InputError, match="capacity must be whole numbers"):
        crowdopt.AssignmentInstance([[0.9, 0.8]], [0, 0], [[1, 2], [1]], 0.2)
    with pytest.raises(InputError, match="asked must be whole numbers"):
        crowdopt.select([1, 2], [[1], [2, 3]])


def test_options_of_methods_are_their_fields(tmp_path):
    """``list`` shows them; a wrong one names those there are; text and object say the same."""
    known = {row["name"]: row for row in json.loads(run("list", "methods", "--json")[1])["rows"]}
    assert known["adaptive"]["options"].keys() == {"rounds", "expert", "given-votes", "each-task", "class-error"}
    judges = crowdopt.AssignmentInstance([[0.9, 0.8, 0.75]], [0] * 6, [6] * 3, 0.15, cost=[1.0, 0.4, 0.3])
    text = crowdopt.solve(judges, "adaptive:rounds=2:class-error=0=.1,1=.2")
    same = crowdopt.solve(judges, crowdopt.Adaptive(rounds=2, class_error={"0": 0.1, "1": 0.2}))
    assert text.objective == same.objective and text.class_error == same.class_error
    with pytest.raises(InputError, match="its options are rounds, expert"):
        crowdopt.solve(judges, "adaptive:round=2")
    with pytest.raises(InputError, match="program and gap is about plans of fixed sets"):
        crowdopt.solve(judges, "adaptive", program="lp", gap=0.1)
    for what in ("policies", "backends", "formats", "programs"):
        assert run("list", what)[0] == 0
    assert run("list", "things")[0] == 2


def test_a_plan_of_another_edition_is_refused_in_a_sentence(tmp_path, monkeypatch):
    """Its tables hold something else; whatever reads it says so, and writes nothing."""
    monkeypatch.chdir(tmp_path)
    assert run("init", "c")[0] == 0 and run("solve", "c", "-o", "p")[0] == 0
    claims = json.loads((tmp_path / "p" / "plan.json").read_text())
    for edition in (claims["edition"] - 1, None):
        claims["edition"] = edition
        (tmp_path / "p" / "plan.json").write_text(json.dumps(claims))
        for words in (
            "verify c p",
            "explain c p",
            "report p",
            "rehearse c p -o labels.csv",
            "push c p --to potato -o pot",
            "aggregate c/gold.csv --plan p --campaign c -o answers",
        ):
            status, said = run(*words.split())
            assert status == 2 and "another edition" in said and said.count("\n") == 1, (words, said)
    assert {one.name for one in tmp_path.iterdir()} == {"c", "p"}


def test_every_verb_stands_in_one_file():
    """Those of cli are groups of several."""
    assert {verb.name for verb in own(cli, "VERBS")} == {"live"}
