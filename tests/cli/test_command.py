"""A verb is one function: the command line takes what Python takes, with the same words, ranges and sentences."""

from __future__ import annotations

import inspect
import json

import click
import pytest

import crowdopt
from crowdopt import InputError, verbs
from crowdopt.cli import main
from crowdopt.core.registry import own
from crowdopt.said import Verb
from tests.typed import run, said

VERBS = {verb.name: verb for verb in own(verbs, "VERBS") if isinstance(verb, Verb)}
IN_PYTHON_ALONE = {  # what cannot be typed: arrays, and who listens
    "solve": {"listener"},
    "select": {"asked", "price", "group", "fewest", "most_each", "groups"},
    "compare": {"record"},
    "learn": {"labelers"},
    "aggregate": {"settings"},
}


@pytest.mark.parametrize("name", VERBS)
def test_each_argument_is_typed_and_each_option_is_explained(name):
    """An argument that no command takes would be lost in silence; so would an option that says nothing."""
    command = main.get_command(click.Context(main), name)
    takes = set(inspect.signature(VERBS[name].call).parameters) - IN_PYTHON_ALONE.get(name, set())
    assert {one.name for one in command.params} - {"as_json"} == takes
    for one in command.params:
        assert isinstance(one, click.Argument) or (one.help or "").endswith("."), one.name


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("solve c -o p --method exat", "did you mean 'exact'?"),
        ("solve c -o p --method higs", "did you mean 'highs'?"),
        ("solve c -o p --method cplex", "there is no backend 'cplex'"),
        ("solve c -o p --method highs-ipm", "linear programs only"),
        ("solve c -o p --method highs:presolve=off", "stand in brackets, as in highs[presolve=off]"),
        ("solve c -o p --skills best", "skills must be one of averaged, one-point"),
        ("solve c -o p --time-limit 0", "time_limit must be a positive"),
        ("explain c --time-limit -5", "time_limit must be a positive"),
        ("budget c --labels 3 -o p --time-limit nan", "time_limit must be a positive"),
        ("compare c --policies greedy -o p --time-limit inf", "time_limit must be a positive"),
        ("bench c --backends exact -o p --time-limit 0", "time"),
        ("bench c --backends exact --memory-limit nan -o p", "memory"),
        ("import nowhere.csv -o p", "nowhere.csv: there is no such file"),
        ("plan-gold c --gold 5,x", "--gold: 'x' is not a valid integer"),
        ("plan-gold c --gold=", "--gold: '' is not"),
        ("init new --classes a,,b", "--classes a,,b: there is nothing between two commas"),
        ("select c/gold.csv --at-most x=y", "--at-most: 'y' is not a valid integer"),
        ("rehearse c p -o labels.csv --lost 2", "lost must be at least 0 and at most 1, not 2"),
    ],
)
def test_a_wrong_word_is_named_with_what_is_right(tmp_path, monkeypatch, words, told):
    """The sentence is about what was typed, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    crowdopt.init("c")
    sentence = said(*words.split(), code=2)
    assert told in sentence and sentence.count("\n") == 1, sentence
    assert [one.name for one in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize("given", [{"seed": -1}, {"threads": 0}, {"processes": 5000}])
def test_a_number_out_of_its_range_is_one_sentence_everywhere(given):
    with pytest.raises(InputError) as raised:
        crowdopt.solve("c", **given)
    assert str(raised.value) in said("solve", "c", "-o", "p", *(f"--{name}={n}" for name, n in given.items()), code=2)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"require": "all"}, "require must be one of nothing, served, proof, not 'all'"),
        ({"program": "milp"}, "program must be one of ip, lp, not 'milp'"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
        ({"difficulty": (0.3,)}, "difficulty is two numbers"),
    ],
)
def test_a_word_that_is_none_is_refused_in_python_too(words, told):
    """What no branch asks for would otherwise be taken for the default."""
    with pytest.raises(InputError, match=told):
        crowdopt.solve(crowdopt.recipe("HS:3x3", seed=0), **words)


def test_tables_that_are_no_rectangle_are_a_sentence():
    with pytest.raises(InputError, match="capacity must be whole numbers"):
        crowdopt.AssignmentInstance([[0.9, 0.8]], [0, 0], [[1, 2], [1]], 0.2)
    with pytest.raises(InputError, match="asked must be whole numbers"):
        crowdopt.select([1, 2], [[1], [2, 3]])


def test_options_of_methods_are_their_fields():
    """``list`` shows them; a wrong one names those there are; text and object say the same."""
    known = {row["name"]: row for row in json.loads(said("list", "methods", "--json"))["rows"]}
    assert known["adaptive"]["options"].keys() == {"rounds", "expert", "given-votes", "each-task", "class-error"}
    judges = crowdopt.AssignmentInstance([[0.9, 0.8, 0.75]], [0] * 6, [6] * 3, 0.15, cost=[1.0, 0.4, 0.3])
    text = crowdopt.solve(judges, "adaptive:rounds=2:class-error=0=.1,1=.2")
    same = crowdopt.solve(judges, crowdopt.Adaptive(rounds=2, class_error={"0": 0.1, "1": 0.2}))
    assert text.objective == same.objective and text.class_error == same.class_error
    with pytest.raises(InputError, match="its options are rounds, expert"):
        crowdopt.solve(judges, "adaptive:round=2")
    for what, status in (("policies", 0), ("backends", 0), ("formats", 0), ("programs", 0), ("things", 2)):
        assert run("list", what).exit_code == status


def test_a_plan_of_another_edition_is_refused_in_a_sentence(tmp_path, monkeypatch):
    """Its tables hold something else; whatever reads it says so, and writes nothing."""
    monkeypatch.chdir(tmp_path)
    crowdopt.init("c")
    crowdopt.solve("c", output="p")
    document = tmp_path / "p" / "plan.json"
    claims = json.loads(document.read_text())
    for edition in (claims["edition"] - 1, None):
        document.write_text(json.dumps({**claims, "edition": edition}))
        for words in (
            "verify c p",
            "explain c p",
            "report p",
            "rehearse c p -o labels.csv",
            "push c p --to potato -o pot",
            "aggregate c/gold.csv --plan p --campaign c -o answers",
        ):
            told = said(*words.split(), code=2)
            assert "another edition" in told and told.count("\n") == 1, words
    assert {one.name for one in tmp_path.iterdir()} == {"c", "p"}
