"""The command line as its users see it: sentences, files, exit statuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import click
import pytest

import crowdopt
from tests.children import after_computing
from tests.typed import run, said


@pytest.fixture(autouse=True)
def empty(tmp_path, monkeypatch):
    """Commands run in an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_the_suggested_epsilon_works():
    """What the message proposes is feasible as typed."""
    run("generate", "B5:50x20", "-o", "b")
    epsilon = (
        said("solve", "b", "--require", "served", "-o", "p", code=1).partition("a plan for epsilon = ")[2].split()[0]
    )
    assert "labels for 50 tasks" in said("solve", "b", "--epsilon", epsilon, "--gap", "0.5", "-o", "p")
    assert f"epsilon = {epsilon}, in place of what the campaign says" in said("verify", "b", "p")


def test_require_proof():
    """Unproven is exit 1 when proof is required; the plan is written all the same."""
    run("generate", "R10:60x20", "-o", "r")
    told = said("solve", "r", "--method", "highs", "--gap", "0.3", "--require", "proof", "-o", "p", code=1)
    assert "above the optimum" in told and said("verify", "r", "p")


def test_a_solver_s_word_is_not_called_a_proof():
    """Where only the solver vouches for the bound, the plan is optimal if it is right: no more is said."""
    run("generate", "I5:20x8", "--seed", "1", "-o", "c")
    said("solve", "c", "--method", "highs", "-o", "p")
    told = said("verify", "c", "p")
    assert "only the solver vouches for" in told
    assert told.splitlines()[-1] == "so it is optimal by rule bhattacharyya, if the solver is right"


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_plan(tmp_path, compiled):
    """SIGINT in the middle of a search: exit 130, and the incumbent is a plan that verifies."""
    crowdopt.generate("R10:1000x300", output="c")
    command = [sys.executable, "-u", "-m", "crowdopt.cli", "solve", "c", "-o", "p"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    after_computing(child, 3.0)
    child.send_signal(signal.SIGINT)
    told = child.communicate(timeout=90)[0]
    assert child.returncode == 130 and "interrupted; this is the best plan so far" in told
    assert crowdopt.verify("c", "p").holds


def test_ctrl_c_before_the_verb_begins_is_one_sentence(monkeypatch):
    """While the words of the command are read: nothing of what click would add."""
    monkeypatch.setattr(click.Group, "parse_args", lambda *_: signal.raise_signal(signal.SIGINT))
    assert said("backends", code=130).strip() == "crowdopt: interrupted"


def test_at_a_terminal_init_asks_for_the_classes():
    """Names that are typed are the campaign's."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "crowdopt", "init", "pets"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as child:
        os.close(theirs)
        os.write(ours, b"cat, dog\n")
        assert child.wait(60) == 0
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert "What can a label say?" in shown and "[yes,no]" in shown
    assert crowdopt.read_campaign("pets").class_names == ("cat", "dog")


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
