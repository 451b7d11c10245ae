"""What `verify` confirms is so and what it refuses is not; and errors name the call that was typed."""

from __future__ import annotations

import inspect
import json
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import AssignmentInstance, Group, InputError, Plan
from crowdopt.core.certificate import Certificate
from tests.checkers.plans import errors, least_cost
from tests.sampled import first_of
from tests.strangers import environment, installed
from tests.typed import said as run


def written(place, one, plan, labels=()):
    """A campaign's folder and its plan's, and what verify says of them."""
    crowdopt.write_campaign(one, place / "c", collected_labels=labels)
    crowdopt.write_plan(plan, place / "p")
    return crowdopt.verify(place / "c", place / "p")


@pytest.mark.parametrize("seed", first_of(range(12), 3))
def test_labels_in_of_a_worker_who_is_mostly_wrong_count_as_what_they_say(seed, tmp_path):
    """Among K classes such a label rules one out: neither a guess among the others (bounds too high) nor as good as one
    who is mostly right (bounds too low); solve and verify agree with all sets of labels looked at one by one.
    """
    rng = np.random.default_rng(seed)
    classes, workers, held = 3 + seed % 2, 5, 1 + seed % 3
    skill = np.where(np.arange(workers) < held, rng.uniform(0, 0.25, workers), rng.uniform(0.4, 0.95, workers))
    one = AssignmentInstance(
        *(skill[None], [0], 1, 0.4),
        cost=np.round(rng.uniform(0.2, 1, workers), 2),
        classes=classes,
        prior=rng.dirichlet(np.full(classes, 2.0)),
        rule="exact-error",
        collected=[(0, j) for j in range(held)],
    )
    some_more = np.arange(workers)[None] <= held + seed % 2  # keep the target, in the order of workers
    one = replace(one, epsilon=errors(one, np.zeros(1, int), some_more) * 1.001)
    plan, least = crowdopt.solve(one, time_limit=20), least_cost(one)
    assert plan.proven and plan.objective == pytest.approx(least) and plan.certified_bound <= least + 1e-9
    report = written(tmp_path, one, plan, ["0"] * held)
    assert report.holds and report.proven, report.problems


@pytest.fixture(scope="module", params=[1.0, 0.5])
def served(request, tmp_path_factory):
    """A campaign of six tasks that three workers of six can serve, within a share too, and its plan."""
    place = tmp_path_factory.mktemp("served")
    groups = [Group("last", [4, 5], max_share=request.param)] if request.param < 1 else []
    skill, told = [[0.9, 0.8, 0.8, 0.8, 0.7, 0.6]], {"rule": "exact-error", "types": ["all"]}
    one = AssignmentInstance(skill, [0] * 6, 6, 0.15, groups=groups, **told)
    assert written(place, one, crowdopt.solve(one)).proven
    return one, place


def test_a_task_that_spare_labels_would_serve_is_not_short(served, tmp_path):
    """A plan all of whose tables say that a task got nothing is refused for one reason: labels are left for it."""
    one, place = served
    target = np.where(np.arange(6) == 3, 1e-9, 0.15)
    hopeless = replace(one, capacity=[5, 5, 0, 5, 0, 0], epsilon=target)
    plan = crowdopt.solve(hopeless)
    pairs = plan.pairs[plan.pairs[:, 0] != 3]
    crowdopt.write_plan(replace(plan, instance=one, pairs=pairs), tmp_path / "p")
    path, count = tmp_path / "p" / "plan.json", float(len(pairs))
    said = json.loads(path.read_text())
    assert said["short"] == ["3"]
    said |= {"objective": count, "cost": count, "labels": len(pairs), "epsilon": 0.15, "violation": 0.0}
    path.write_text(json.dumps(said))
    report = crowdopt.verify(place / "c", tmp_path / "p")
    assert report.problems == ["plan.json: short names task 3, which labels that are left would serve"]


def test_a_solver_is_not_believed_where_a_label_can_be_taken_back(served, tmp_path):
    """Multipliers prove less than the plan costs, and it says that a solver knows better."""
    one, place = served
    plan = crowdopt.solve(one)
    spare = next((0, worker) for worker in range(6) if [0, worker] not in plan.pairs.tolist())
    pairs = np.array(sorted([*map(tuple, plan.pairs.tolist()), spare]))
    word = Certificate(None, float(len(pairs)), "solver", None, None)
    dearer = Plan.of(one, "ip", word, plan.certified_bound, plan.duals, pairs, method="highs", backend="highs")
    crowdopt.write_plan(dearer, tmp_path / "p")
    report = crowdopt.verify(place / "c", tmp_path / "p")
    assert [one for one in report.problems if "is proven on a solver's word, but task 0 does without" in one]


@pytest.mark.parametrize("seed", first_of(range(6), 2))
def test_a_best_effort_is_one(seed, tmp_path):
    """What solve leaves short, in however little time, few labels that it left would not serve: verify looks."""
    rng = np.random.default_rng(seed)
    tasks, workers = 40, 8
    room, target = rng.integers(1, tasks // 2, workers), rng.uniform(0.03, 0.2, tasks)
    one = AssignmentInstance(
        *(rng.uniform(0.5, 0.95, (1, workers)), [0] * tasks, room, target),
        rule="exact-error",
        budget=float(rng.integers(30, 80)) if seed % 2 else None,
        groups=[Group("last", range(4), max_share=0.6)] if seed % 3 == 0 else [],
    )
    plan = crowdopt.solve(one, time_limit=0.5 + 0.5 * (seed // 2))
    report = written(tmp_path, one, plan)
    assert len(plan.short) and report.holds, report.problems


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Two workers who can serve four of six tasks, and what is made of that."""
    place = tmp_path_factory.mktemp("short")
    one = AssignmentInstance([[0.9, 0.6]], [0] * 6, [4, 3], 0.15, rule="exact-error")
    assert written(place, one, crowdopt.solve(one)).short == 2
    return place


FORGED = [
    ("plan.json", '"short": [', '"short": [DOUBLE', "twice"),
    ("tasks.csv", ",no\n", ",never\n", "does not name"),
    ("workers.csv", ",\n", ",1.0\n", "not of every task and worker"),
]


@pytest.mark.parametrize(("file", "old", "new", "said"), FORGED)
def test_a_list_and_a_column_say_neither_more_nor_other_than_they_can(short, tmp_path, file, old, new, said):
    """A task named twice, a word that is neither yes nor no, multipliers of some workers alone."""
    shutil.copytree(short / "p", tmp_path / "p")
    path = tmp_path / "p" / file
    text = path.read_text()
    first = json.loads((short / "p" / "plan.json").read_text())["short"][0]
    assert old in text
    path.write_text(text.replace(old, new.replace("DOUBLE", f'"{first}", '), 1))
    report = crowdopt.verify(short / "c", tmp_path / "p")
    assert not report.holds and any(said in problem for problem in report.problems), report.problems


def test_money_that_leaves_most_answers_wrong_is_no_bad_input(tmp_path):
    """Among three classes half of the answers right is better than a guess: the sentence names what is left wrong."""
    one = AssignmentInstance([[0.6, 0.5]], [0] * 6, 6, 0.2, classes=3, rule="exact-error")
    crowdopt.write_campaign(one, tmp_path / "c")
    said = run("budget", tmp_path / "c", "--labels", "1", "-o", tmp_path / "p", code=1)
    assert "0.6222 of the answers wrong" in said and not (tmp_path / "p").exists()


def test_policies_are_compared_where_exact_errors_have_no_plan(tmp_path):
    """That there is none stands where its cost would."""
    one = AssignmentInstance([[0.7, 0.6, 0.8]], [0] * 4, 4, 0.01, rule="exact-error")
    found = crowdopt.compare(one, ["greedy"], trials=1, time_limit=5)
    assert found.offline[0] == "there is no offline plan for this campaign"


PLUGINS = """
[crowdopt.online.policies]
bare = strange
nameless = strange:NAMELESS
absent = strange:ABSENT
[crowdopt.solvers]
bare = strange
"""


def test_a_plug_in_that_is_none_is_named_and_left_out(tmp_path):
    """Other packages' mistakes are theirs: each verb goes on, with a sentence that names package and entry point."""
    env = environment(installed(tmp_path, "strange", "NAMELESS = object()\n", PLUGINS))
    command = [sys.executable, "-m", "crowdopt", "list", "policies"]
    listed = subprocess.run(command, env=env, capture_output=True, text=True)
    assert listed.returncode == 0 and "greedy" in listed.stdout and "Traceback" not in listed.stderr
    notes = [line for line in listed.stderr.splitlines() if " of strange is left out: " in line]
    assert len(notes) == 3
    assert "bare = strange of strange" in notes[0] and "write strange:POLICY" in notes[0]


ONE = AssignmentInstance([[0.9, 0.8]], [0, 0], 2, 0.2)
CALLS = [name for name in crowdopt.__all__ if inspect.isfunction(getattr(crowdopt, name)) and name != "session"]
WRONG = [
    ("solve", ([1],), {}, "a list"),
    ("solve", (ONE,), {"time_limit": "x"}, "'x'"),
    ("solve", (ONE,), {"metod": "exact"}, "method"),
    ("AssignmentInstance", (), {"acuracy": [[0.9]]}, "accuracy"),
    ("select", ([3, 4], [5, 5]), {"mst": 1}, "most"),
    ("budget", (3,), {"labels": 3}, "an int"),
    ("certify", (ONE,), {}, "Solution"),
    ("push", (ONE, "plan"), {"to": "potato"}, "tool"),
    ("verify", (ONE, 3), {}, "plan"),
    ("Group", ("a",), {"membrs": ["b"]}, "members"),
    *((call, (), {"wrod": 1}, "") for call in CALLS),
]


@pytest.mark.parametrize(("call", "given", "named", "said"), WRONG, ids=lambda one: one if isinstance(one, str) else "")
def test_an_error_names_the_call_and_the_word(call, given, named, said, tmp_path, monkeypatch):
    """A user of `solve` knows nothing of the calls and types behind it; one sentence, bad input and a type error."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as raised:
        getattr(crowdopt, call)(*given, **named)
    text = str(raised.value)
    assert text.startswith(f"{call}(): ") and said in text and "\n" not in text
    assert isinstance(raised.value, TypeError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == text  # as it comes back from another process


def test_a_call_that_fits_keeps_its_own_errors():
    """Only what does not fit the signature is said so; all else is as it was."""
    with pytest.raises(InputError, match="rule"):
        crowdopt.solve(ONE, rule="no such rule")
    assert crowdopt.solve(ONE, time_limit=np.float64(5), seed=np.int64(1)).found
