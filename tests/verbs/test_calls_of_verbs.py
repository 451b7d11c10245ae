"""Each verb is a call of its name, and takes what a user has at hand: instance, plan, folder, file, columns, frame."""

from __future__ import annotations

import csv
import inspect
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.cli.common import OURS


def columns(path):
    """A CSV file as columns by name."""
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A sample campaign, its plan, labels of it and every table that a verb reads."""
    place = tmp_path_factory.mktemp("tables")
    crowdopt.init(place / "birds")
    plan = crowdopt.solve(place / "birds", output=place / "plan")
    crowdopt.rehearse(place / "birds", plan, output=place / "labels.csv", truth=place / "truth.csv")
    known = columns(place / "truth.csv")
    texts = {
        "gold": (place / "birds" / "gold.csv").read_text(encoding="utf-8"),
        "skills": "worker,accuracy\nada,0.9\nbo,0.7\nchen,0.6\n",
        "content": "task,text\n" + "".join(f"{task},a {task}\n" for task in known["task"]),
        "types": "task,type\n" + "".join(f"{task},photo\n" for task in known["task"]),
    }
    for name, text in texts.items():
        (place / f"{name}.csv").write_text(text, encoding="utf-8")
    return place


def pushed(folder):
    """What a push has written, by name."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.json*")}


RUN = {"policies": ["ls-ol"], "horizon": 30, "trials": 1}
CALLS = {  # its arguments that are tables, its others, and what is looked at of the result
    "aggregate": ("labels gold truth", {"method": "wmv-log"}, lambda found: found.answers.confidence),
    "aggregate of a plan": ("labels", {"plan": "plan", "campaign": "birds"}, lambda found: found.answers.error),
    "import_labels": ("labels truth types", {}, lambda found: found.instance.accuracy),
    "compare": (
        "labels truth",
        {"campaign": "birds", "policies": ["greedy"], "trials": 1, "trust_gold": True},
        lambda found: [line["cost"] for line in found.rows],
    ),
    "learn": ("labelers=skills", RUN, lambda found: [row["reward"] for row in found.rows]),
    "learn of skills": ("skills", {"labelers": None, **RUN}, lambda found: [row["reward"] for row in found.rows]),
    "select": ("correct=gold", {"most": 4}, lambda found: found.members),
    "skills": ("gold", {}, lambda found: found.accuracy),
    "push": (
        "content",
        {"campaign": "birds", "plan": "plan", "tool": "potato", "output": "out"},
        lambda _: pushed(Path("out")),
    ),
    "live": ("gold=truth", {"campaign": "birds"}, lambda found: found.ask("ada")),
}


@pytest.mark.parametrize("verb", CALLS)
def test_a_table_says_the_same_at_hand_and_in_a_file(verb, place, monkeypatch):
    """What a verb makes of a path's text it makes of columns; frames are read as columns: tests/io."""
    tables, others, shown = CALLS[verb]
    monkeypatch.chdir(place)
    found = []
    for form in (str, columns):
        given = {name.partition("=")[0]: form(place / f"{name.rpartition('=')[2]}.csv") for name in tables.split()}
        found.append(shown(getattr(crowdopt, verb.partition(" of ")[0])(**given, **others)))
        shutil.rmtree("out", ignore_errors=True)
    np.testing.assert_equal(*found)


def test_an_audit_takes_files_and_says_why(place, tmp_path):
    """What it commits to are bytes that anybody can hash."""
    with pytest.raises(InputError, match="commits to the bytes of files"):
        crowdopt.audit(columns(place / "truth.csv"), tmp_path / "audit")


NAMES = {"import": "import_labels", "list": "list_of"}  # words that Python keeps


@pytest.mark.parametrize("verb", OURS)
def test_every_verb_is_a_call_of_its_name_whose_arguments_are_described(verb):
    """Options of a type are arguments like others."""
    call = getattr(crowdopt, NAMES.get(verb, verb.replace("-", "_")))
    names = [name for name, one in inspect.signature(call).parameters.items() if one.kind is not one.VAR_KEYWORD]
    text = inspect.getdoc(call)
    assert inspect.isfunction(call) and call.__name__ in crowdopt.__all__
    assert names and all(re.search(rf"^(\w+, )*{name}\b", text, re.MULTILINE) for name in names)


def test_plans_and_instances_at_hand_go_where_folders_go(tmp_path):
    """Nothing has to be written first; a plan says its own rule; what is pushed is what is pushed of the folders."""
    instance, labels = crowdopt.AssignmentInstance([[0.9, 0.8] * 5], [0] * 20, [20] * 10, 0.1), tmp_path / "labels.csv"
    plan = crowdopt.solve(instance, epsilon=0.2)
    found = crowdopt.solve_program(crowdopt.relax(crowdopt.programs.assignment.build(instance)), "highs-ipm")
    assert found.status is crowdopt.Status.OPTIMAL, "the verb's name is for programs too"
    assert crowdopt.verify(instance, plan).holds and crowdopt.explain(instance, plan).instance.epsilon[0] == 0.2
    assert crowdopt.rehearse(instance, plan, output=labels) == plan.labels
    answered = crowdopt.aggregate(labels, plan=plan, campaign=instance, output=tmp_path / "answers")
    assert answered.answers.answer.size == 20 and (tmp_path / "answers" / "campaign" / "tasks.csv").exists()
    with pytest.raises(InputError, match="give both"):
        crowdopt.aggregate(labels, plan=plan)
    lost = crowdopt.solve(crowdopt.AssignmentInstance([[0.6]], [0], [1], 0.01), require="served")
    with pytest.raises(InputError, match="no plan to go by"):
        crowdopt.verify(instance, lost)
    crowdopt.write_campaign(instance, tmp_path / "campaign")
    crowdopt.write_plan(plan, tmp_path / "plan")
    for place, campaign, planned in (("a", instance, plan), ("b", tmp_path / "campaign", tmp_path / "plan")):
        crowdopt.push(campaign, planned, tool="potato", output=tmp_path / place, classes=["no", "yes"])
    assert pushed(tmp_path / "a") and pushed(tmp_path / "a") == pushed(tmp_path / "b")
