"""The command line as its users see it: sentences, files, exit statuses."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import crowdopt
from crowdopt.cli import main
from tests.children import after_computing


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder; returns (exit status, what it printed)."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, list(words))
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return command


def test_the_main_loop(run, tmp_path):
    """init, solve, verify, hand out the queues."""
    assert run("init", "c")[0] == 0
    status, said = run("solve", "c", "-o", "p")
    assert status == 0 and "proven optimal" in said and "wrote p" in said
    status, said = run("verify", "c", "p")
    assert status == 0 and "the plan holds" in said and "so it is optimal" in said
    with (tmp_path / "p" / "assignment.csv").open() as file:
        pairs = [tuple(row.values()) for row in csv.DictReader(file)]
    queues = {path.stem: path.read_text(encoding="utf-8").split()[1:] for path in (tmp_path / "p" / "queues").iterdir()}
    assert sorted(pairs) == sorted((task, worker) for worker, tasks in queues.items() for task in tasks)


def test_json_is_one_object(run):
    """--json prints the same facts for a program to read, from every verb."""
    for words in (["init", "c"], ["generate", "R10:20x20", "-o", "g"], ["solve", "c", "-o", "p"], ["verify", "c", "p"]):
        status, said = run(*words, "--json")
        assert status == 0 and isinstance(json.loads(said), dict)
    assert json.loads(run("solve", "c", "-o", "q", "--json")[1])["proven"] is True


def test_no_plan_is_exit_1_and_says_why(run, tmp_path):
    """Infeasible: the reasons, no folder. Out of time: so it says, with what can be handed out unless strict."""
    run("generate", "B5:50x20", "-o", "b")
    status, said = run("solve", "b", "--strict", "-o", "p")
    assert status == 1 and "infeasible by rule hoeffding (proven)" in said and "a plan for epsilon = 0." in said
    run("generate", "R10:200x60", "-o", "r")
    hasty = ("solve", "r", "--method", "highs", "--time-limit", "0.02", "-o", "p")
    status, said = run(*hasty, "--strict")
    assert status == 1 and "no plan was found within the limits" in said
    assert not (tmp_path / "p").exists()
    status, said = run(*hasty)  # the quick plan that is handed out may serve all tasks
    some = status == 1 and "no plan was found within the limits" in said and "tasks are served" in said
    assert some or (status == 0 and "nothing is known about the optimum" in said)
    assert (tmp_path / "p").exists() and run("verify", "r", "p")[0] == 0


def test_a_plan_for_some_tasks_is_exit_1_and_is_written(run, tmp_path):
    """Two workers serve three of four tasks, each with a label of accuracy .9 at .1; the fourth is out of reach.

    The plan is there and holds; which task falls short and by how much is said, and `--strict` writes none.
    """
    one = crowdopt.AssignmentInstance(
        [[0.9, 0.9], [0.9, 0.9]], [0, 0, 0, 1], [2, 2], [0.1, 0.1, 0.1, 1e-6], tasks=["a", "b", "c", "d"]
    )
    crowdopt.write_campaign(one, tmp_path / "some")
    status, said = run("solve", "some", "-o", "p")
    assert status == 1 and "3 of 4 tasks are served" in said
    assert "task d: 1 label, error 0.1, target 1e-06" in said and "way out: set epsilon = 0.1 (4 labels)" in said
    assert run("verify", "some", "p")[0] == 0
    with (tmp_path / "p" / "tasks.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["short"] for row in rows] == ["no", "no", "no", "yes"]
    assert all((float(row["exact_error"]) <= float(row["target"])) == (row["short"] == "no") for row in rows)
    status, said = run("solve", "some", "--strict", "-o", "q")
    assert status == 1 and "infeasible (proven)" in said and not (tmp_path / "q").exists()


def test_the_suggested_epsilon_works(run):
    """What the message proposes is feasible as typed."""
    run("generate", "B5:50x20", "-o", "b")
    said = run("solve", "b", "--strict", "-o", "p")[1]
    epsilon = said.partition("a plan for epsilon = ")[2].split()[0]
    status, said = run("solve", "b", "--epsilon", epsilon, "--gap", "0.5", "-o", "p")
    assert status == 0 and "labels for 50 tasks" in said
    status, said = run("verify", "b", "p")
    assert status == 0 and f"epsilon = {epsilon}, in place of what the campaign says" in said


def test_require_proof(run):
    """Unproven is exit 1 when proof is required; the plan is written all the same."""
    run("generate", "R10:60x20", "-o", "r")
    status, said = run("solve", "r", "--method", "highs", "--gap", "0.3", "--require-proof", "-o", "p")
    assert status == 1 and "above the optimum" in said
    assert run("verify", "r", "p")[0] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["solve", "nowhere", "-o", "p"], "there is no campaign folder nowhere; `crowdopt init nowhere`"),
        (["solve", "c", "-o", "c"], "c already exists; choose another name or pass --force"),
        (["solve", "c", "--epsilon", "0.7", "-o", "p"], "epsilon must lie strictly between"),
        (["solve", "c", "--time-limit", "-1", "-o", "p"], "time_limit must be a positive"),
        (["solve", "c", "--method", "cplex", "-o", "p"], "there is no backend 'cplex'"),
        (["solve", "c", "--method", "highs-ipm", "-o", "p"], "linear programs only"),
        (["solve", "c", "--rule", "markov", "-o", "p"], "'markov' is not one of"),
        (["solve", "c"], "Missing option"),
        (["generate", "R10", "-o", "g"], "unknown recipe 'R10'"),
        (["verify", "c", "nowhere"], "there is no plan in nowhere"),
        (["import", "nowhere.csv", "-o", "i"], "nowhere.csv: there is no such file"),
        (["init", "c"], "c already exists"),
        (["frobnicate"], "there is no verb 'frobnicate'"),
    ],
)
def test_bad_input_is_exit_2_and_one_sentence(run, tmp_path, words, sentence):
    """What, where, remedy; and nothing half-written."""
    run("init", "c")
    before = sorted(path.name for path in tmp_path.iterdir())
    status, said = run(*words)
    assert status == 2 and sentence in " ".join(said.split())
    assert "Traceback" not in said and sorted(path.name for path in tmp_path.iterdir()) == before


def test_import_real_or_not(run, tmp_path):
    """Labels in, campaign out, solved."""
    rows = [
        f"{task},{worker},{'yes' if (task + (worker == 'w4')) % 2 else 'no'}"
        for task in range(20)
        for worker in WORKERS
    ]
    (tmp_path / "labels.csv").write_text("\n".join(["task,worker,label", *rows]), encoding="utf-8")
    status, said = run("import", "labels.csv", "--epsilon", "0.2", "-o", "i")
    assert status == 0 and "20 tasks of 1 type(s), 5 workers, 2 classes" in said and "agreement" in said
    assert run("solve", "i", "-o", "p")[0] == 0 and run("verify", "i", "p")[0] == 0


WORKERS = [f"w{k}" for k in range(5)]


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_plan(tmp_path, compiled):
    """SIGINT in the middle of a search: exit 130, and the incumbent is a plan that verifies."""
    command = [sys.executable, "-m", "crowdopt.cli"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    subprocess.run([*command, "generate", "R10:1000x300", "-o", "c"], cwd=tmp_path, check=True, env=environment)
    child = subprocess.Popen([*command, "solve", "c", "-o", "p"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    after_computing(child, 5.0)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=90)[0]
    assert child.returncode == 130 and "interrupted; this is the best plan so far" in said
    assert subprocess.run([*command, "verify", "c", "p"], cwd=tmp_path).returncode == 0


def test_a_solver_s_word_is_not_called_a_proof(run):
    """Where only the solver vouches for the bound, the plan is optimal if it is right: no more is said."""
    assert run("generate", "I5:20x8", "--seed", "1", "-o", "c")[0] == 0
    assert run("solve", "c", "--method", "highs", "-o", "p")[0] == 0
    status, said = run("verify", "c", "p")
    assert status == 0 and "only the solver vouches for" in said
    assert said.splitlines()[-1] == "so it is optimal by rule bhattacharyya, if the solver is right"


def test_ctrl_c_before_the_verb_begins_is_one_sentence(monkeypatch):
    """While the words of the command are read: nothing of what click would add."""
    monkeypatch.setattr(click.Group, "parse_args", lambda *_: signal.raise_signal(signal.SIGINT))
    done = CliRunner().invoke(main, ["backends"])
    assert (done.exit_code, done.output.strip()) == (130, "crowdopt: interrupted")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "epsilon", "capacity"),
    [(True, "0.15", "800"), (False, "0.2", "600")],
    ids=["with truth", "without"],
)
def test_zencrowd_from_labels_to_a_verified_plan(run, real_data, truth, epsilon, capacity):
    """1686 tasks of four types, 78 workers: proven optimal, a worker at capacity, and a raised bound is caught."""
    folder = real_data / "zencrowd_all"
    words = ["import", str(folder / "labels.csv"), "--types", str(folder / "types.csv"), "-o", "z"]
    words += ["--epsilon", epsilon, "--capacity", capacity] + ["--truth", str(folder / "truth.csv")] * truth
    assert run(*words)[0] == 0
    status, said = run("solve", "z", "--time-limit", "300", "--require-proof", "-o", "p", "--json")
    assert status == 0 and json.loads(said)["proven"]
    assert run("verify", "z", "p")[0] == 0
    with open("p/workers.csv") as file:
        assert any(row["load"] == row["capacity"] for row in csv.DictReader(file))
    with open("p/plan.json") as file:
        claims = json.load(file)
    with open("p/plan.json", "w") as file:
        json.dump({**claims, "bound": claims["bound"] + 1}, file)
    status, said = run("verify", "z", "p")
    assert status == 1 and "is above the cost" in said


@pytest.mark.parametrize("limit", ["0", "-5", "nan", "inf"])
@pytest.mark.parametrize(
    "words",
    ["solve c -o p", "explain c", "budget c --labels 3 -o p", "compare c --policies greedy -o p", "bench c -o p"],
)
def test_a_time_limit_that_is_none_is_refused(run, words, limit):
    """Zero, negative, infinite or no number: one line, exit 2, nothing begun."""
    run("init", "c")
    status, said = run(*words.split(), "--time-limit", limit)
    assert status == 2 and "Traceback" not in said


@pytest.mark.parametrize("limit", ["nan", "-5"])
def test_a_memory_limit_that_is_none_is_refused(run, limit):
    """The same for megabytes."""
    run("init", "c")
    assert run("bench", "c", "--backends", "exact", "--memory-limit", limit, "-o", "b")[0] == 2


@pytest.mark.parametrize(("typed", "classes"), [("cat, dog\n", ("cat", "dog")), ("\n", ("yes", "no"))])
def test_at_a_terminal_init_asks_for_the_classes(tmp_path, typed, classes):
    """Names that are typed are the campaign's; Enter alone takes those that the question shows."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "crowdopt", "init", str(tmp_path / "pets")]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as child:
        os.close(theirs)
        os.write(ours, typed.encode())
        assert child.wait(60) == 0
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert "What can a label say?" in shown and "[yes,no]" in shown
    assert crowdopt.read_campaign(tmp_path / "pets").class_names == classes
