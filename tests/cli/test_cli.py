"""The command line as its users see it: sentences, files, exit statuses."""

from __future__ import annotations

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
from tests.typed import rows
from tests.typed import run as typed


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder; returns (exit status, what it printed)."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> tuple[int, str]:
        done = typed(*words)
        return done.exit_code, done.output

    return command


def test_no_plan_is_exit_1_and_says_why(run, tmp_path):
    """Out of time: so it says, with what can be handed out unless strict."""
    run("generate", "R10:200x60", "-o", "r")
    hasty = ("solve", "r", "--method", "highs", "--time-limit", "0.02", "-o", "p")
    status, said = run(*hasty, "--require", "served")
    assert status == 1 and "no plan was found within the limits" in said
    assert not (tmp_path / "p").exists()
    status, said = run(*hasty)  # the quick plan that is handed out may serve all tasks
    some = status == 1 and "no plan was found within the limits" in said and "tasks are served" in said
    assert some or (status == 0 and "nothing is known about the optimum" in said)
    assert (tmp_path / "p").exists() and run("verify", "r", "p")[0] == 0


def test_the_suggested_epsilon_works(run):
    """What the message proposes is feasible as typed."""
    run("generate", "B5:50x20", "-o", "b")
    said = run("solve", "b", "--require", "served", "-o", "p")[1]
    epsilon = said.partition("a plan for epsilon = ")[2].split()[0]
    status, said = run("solve", "b", "--epsilon", epsilon, "--gap", "0.5", "-o", "p")
    assert status == 0 and "labels for 50 tasks" in said
    status, said = run("verify", "b", "p")
    assert status == 0 and f"epsilon = {epsilon}, in place of what the campaign says" in said


def test_require_proof(run):
    """Unproven is exit 1 when proof is required; the plan is written all the same."""
    run("generate", "R10:60x20", "-o", "r")
    status, said = run("solve", "r", "--method", "highs", "--gap", "0.3", "--require", "proof", "-o", "p")
    assert status == 1 and "above the optimum" in said
    assert run("verify", "r", "p")[0] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["solve", "c", "--method", "cplex", "-o", "p"], "there is no backend 'cplex'"),
        (["solve", "c", "--method", "highs-ipm", "-o", "p"], "linear programs only"),
        (["import", "nowhere.csv", "-o", "i"], "nowhere.csv: there is no such file"),
        (["solve", "c", "--time-limit", "0", "-o", "p"], "time_limit must be a positive"),
        (["explain", "c", "--time-limit", "-5"], "time_limit must be a positive"),
        (["budget", "c", "--labels", "3", "-o", "p", "--time-limit", "nan"], "time_limit must be a positive"),
        (["compare", "c", "--policies", "greedy", "-o", "p", "--time-limit", "inf"], "time_limit must be a positive"),
        (["bench", "c", "-o", "p", "--time-limit", "0"], "time"),
        (["bench", "c", "--backends", "exact", "--memory-limit", "nan", "-o", "p"], "memory"),
    ],
)
def test_bad_input_is_exit_2_and_one_sentence(run, tmp_path, words, sentence):
    """What, where, remedy; and nothing half-written."""
    run("init", "c")
    before = sorted(path.name for path in tmp_path.iterdir())
    status, said = run(*words)
    assert status == 2 and sentence in " ".join(said.split())
    assert "Traceback" not in said and sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_plan(tmp_path, compiled):
    """SIGINT in the middle of a search: exit 130, and the incumbent is a plan that verifies."""
    command = [sys.executable, "-m", "crowdopt.cli"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    subprocess.run([*command, "generate", "R10:1000x300", "-o", "c"], cwd=tmp_path, check=True, env=environment)
    child = subprocess.Popen([*command, "solve", "c", "-o", "p"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    after_computing(child, 3.0)
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
def test_zencrowd_from_labels_to_a_verified_plan(run, real_data):
    """1686 tasks of four types, 78 workers: proven optimal, a worker at capacity, and a raised bound is caught."""
    folder = real_data / "zencrowd_all"
    words = ["import", str(folder / "labels.csv"), "--types", str(folder / "types.csv"), "-o", "z"]
    assert run(*words, "--epsilon", "0.15", "--capacity", "800", "--truth", str(folder / "truth.csv"))[0] == 0
    status, said = run("solve", "z", "--time-limit", "300", "--require", "proof", "-o", "p", "--json")
    assert status == 0 and json.loads(said)["proven"]
    assert run("verify", "z", "p")[0] == 0
    assert any(row["load"] == row["capacity"] for row in rows("p/workers.csv"))
    with open("p/plan.json") as file:
        claims = json.load(file)
    with open("p/plan.json", "w") as file:
        json.dump({**claims, "bound": claims["bound"] + 1}, file)
    status, said = run("verify", "z", "p")
    assert status == 1 and "is above the cost" in said


def test_at_a_terminal_init_asks_for_the_classes(tmp_path):
    """Names that are typed are the campaign's."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "crowdopt", "init", str(tmp_path / "pets")]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as child:
        os.close(theirs)
        os.write(ours, b"cat, dog\n")
        assert child.wait(60) == 0
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert "What can a label say?" in shown and "[yes,no]" in shown
    assert crowdopt.read_campaign(tmp_path / "pets").class_names == ("cat", "dog")


def test_every_verb_has_its_help_and_its_name_without_any_extra():
    """The core is imported alone: what an extra brings is imported where it is used, which a sentence then names."""
    extras = (
        "fastapi uvicorn psycopg httpx pyarrow openpyxl altair vl_convert jinja2 dask distributed ortools pyscipopt"
    )
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({extras.split()!r}))\n"
        "import click, crowdopt\n"
        "from crowdopt.cli import main\n"
        "[getattr(crowdopt, name) for name in crowdopt.__all__]\n"
        "context = click.Context(main)\n"
        "[main.get_command(context, verb).get_help(context) for verb in main.list_commands(context)]\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
