"""Each verb is a call of its name, and takes what a user has at hand: instance, plan, folder, file, columns, frame."""

from __future__ import annotations

import csv
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

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


def _made(module, call):
    try:
        return getattr(import_module(module), call)
    except ImportError:
        return None


KINDS = {
    "text": str,
    "path": lambda path: path,
    "columns": columns,
    "pandas": lambda path: _made("pandas", "DataFrame")(columns(path)),
    "polars": lambda path: _made("polars", "DataFrame")(columns(path)),
    "arrow": lambda path: _made("pyarrow", "table")(columns(path)),
}
NEEDS = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}


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
        "rows": "row,task,worker,coefficient,lower,upper\nfew,photo-01,ada,1,0,0\n",
        "content": "task,text\n" + "".join(f"{task},a {task}\n" for task in known["task"]),
        "types": "task,type\n" + "".join(f"{task},photo\n" for task in known["task"]),
    }
    for name, text in texts.items():
        (place / f"{name}.csv").write_text(text, encoding="utf-8")
    return place


def _aggregate(given, place):
    found = crowdopt.aggregate(given("labels"), "wmv-log", gold=given("gold"), truth=given("truth"))
    return found.answers.confidence


def _aggregate_of_a_plan(given, place):
    return crowdopt.aggregate(given("labels"), plan=place / "plan", campaign=place / "birds").answers.error


def _import(given, place):
    return crowdopt.import_labels(given("labels"), given("truth"), types=given("types")).instance.accuracy


def _compare(given, place):
    found = crowdopt.compare(
        place / "birds", ["greedy"], trials=1, labels=given("labels"), truth=given("truth"), trust_gold=True
    )
    return [line["cost"] for line in found.rows]


def _learn(given, place):
    options = {"horizon": 30, "trials": 1}
    runs = [crowdopt.learn(given("skills"), ["ls-ol"], **options)]
    runs.append(crowdopt.learn(None, ["ls-ol"], skills=given("skills"), **options))
    return [row["reward"] for run in runs for row in run.rows]


def _explain(given, place):
    found = crowdopt.explain(place / "birds", audit="price=20", labels=given("labels"), truth=given("truth"))
    return found.facts["audit"]["total"]


def _push(given, place):
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        crowdopt.push(place / "birds", place / "plan", tool="potato", output=out, content=given("content"))
        return sorted((str(one.relative_to(out)), one.read_bytes()) for one in out.rglob("*.json*"))


CALLS = {
    "aggregate": _aggregate,
    "aggregate of a plan": _aggregate_of_a_plan,
    "import": _import,
    "compare": _compare,
    "learn": _learn,
    "explain": _explain,
    "select": lambda given, place: crowdopt.select(given("gold"), most=4).members,
    "skills": lambda given, place: crowdopt.skills(given("gold")).accuracy,
    "push": _push,
    "live": lambda given, place: crowdopt.live(place / "birds", gold=given("truth")).ask("ada"),
}


CASES = [pytest.param(verb, "pandas", marks=pytest.mark.slow if verb == "explain" else ()) for verb in CALLS]
CASES += [("aggregate", kind) for kind in ("path", "columns", "polars", "arrow")]


@cache
def of_text(verb, place):
    """What a verb makes of paths that are texts."""
    return CALLS[verb](lambda name: str(place / f"{name}.csv"), place)


@pytest.mark.parametrize(("verb", "kind"), CASES)
def test_a_table_says_the_same_in_every_form(verb, kind, place):
    """What a verb makes of a path's text it makes of everything else."""
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    found = CALLS[verb](lambda name: KINDS[kind](place / f"{name}.csv"), place)
    np.testing.assert_equal(_plain(found), _plain(of_text(verb, place)))


def _plain(value):
    """A result as what numpy can compare."""
    return value if isinstance(value, (np.ndarray, list, float, int)) else str(value)


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


def test_plans_and_instances_at_hand_go_where_folders_go(place, tmp_path):
    """Nothing has to be written first; a plan says its own rule; what is pushed is what is pushed of the folders."""
    instance = crowdopt.AssignmentInstance([[0.9, 0.8] * 5], [0] * 20, [20] * 10, 0.1)
    plan = crowdopt.solve(instance, epsilon=0.2)
    found = crowdopt.solve_program(crowdopt.relax(crowdopt.programs.assignment.build(instance)), "highs-ipm")
    assert found.status is crowdopt.Status.OPTIMAL, "the verb's name is for programs too"
    assert crowdopt.verify(instance, plan).holds and crowdopt.explain(instance, plan).instance.epsilon[0] == 0.2
    labels = tmp_path / "labels.csv"
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
    pushed = []
    for campaign, planned in ((instance, plan), (tmp_path / "campaign", tmp_path / "plan")):
        with TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            crowdopt.push(campaign, planned, tool="potato", output=out, classes=["no", "yes"])
            pushed.append({path.relative_to(out): path.read_bytes() for path in out.rglob("*.json*")})
    assert pushed[0] and pushed[0] == pushed[1]
