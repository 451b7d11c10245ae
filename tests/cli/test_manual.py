"""Help that can be typed: verbs by question, an example of each, files read and written, exit status."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from crowdopt import cli
from crowdopt.cli import main
from crowdopt.cli.manual import ELSE, FIRST, OURS, PLANNED, QUESTIONS, SENTENCES, STATUS, by_question, manual
from crowdopt.core.registry import own


def helped(name: str) -> str:
    return CliRunner().invoke(main, [name, "--help"]).output


def examples(name: str) -> list[str]:
    return re.findall(r"^    (crowdopt .*)$", helped(name), re.MULTILINE)


@pytest.mark.parametrize("name", OURS)
def test_help_says_what_to_type_and_what_comes_of_it(name):
    """The last command of the example is of the verb itself; the lines are not broken, so that they can be pasted."""
    said = helped(name)
    assert examples(name)[-1].startswith(f"crowdopt {name}")
    assert "\n  Reads " in said and "\n  Writes " in said and STATUS in said


def test_every_verb_answers_one_question():
    """None is lost, none stands twice; what another package adds comes last."""
    assert sorted(verb for verbs in QUESTIONS.values() for verb in verbs) == sorted(OURS)
    assert by_question([*OURS, "vote"])[ELSE] == ["vote"] and ELSE not in by_question([*OURS])
    overview = CliRunner().invoke(main, ["--help"]).output
    assert all(f"{question}:" in overview for question in QUESTIONS) and STATUS in overview


def test_every_file_of_a_verb_is_found_by_the_name_of_the_verb():
    """Verbs are loaded by name: a file that no name leads to would be lost without a word."""
    names = [verb.name for verbs in own(cli, "VERBS") for verb in verbs]
    assert sorted(names) == sorted(OURS)
    assert all(main.get_command(click.Context(main), name).name == name for name in OURS)


def test_the_shell_completes_verbs_that_are_not_loaded():
    """A tab after two letters lists what begins with them, with the help of each."""
    told = ShellComplete(main, {}, "crowdopt", "_CROWDOPT_COMPLETE").get_completions([], "ex")
    assert [(one.value, bool(one.help)) for one in told] == [("explain", True), ("export", True)]


def test_an_example_tells_what_goes_before():
    """A reader who pastes it needs the campaign first, unless making it is the example."""
    assert FIRST in manual(PLANNED, reads="a", writes="b")
    assert manual(FIRST, reads="a", writes="b").startswith("Example:")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(OURS) - {"backends"}))  # it tries them all; so does tests/contract
def test_the_example_of_a_verb_can_be_pasted(name, tmp_path, monkeypatch):
    """After ``init`` each line in turn, in an empty folder: every one of them succeeds."""
    monkeypatch.chdir(tmp_path)
    lines = examples(name)
    for line in lines if lines[0] == FIRST else [FIRST, *lines]:
        done = CliRunner().invoke(main, shlex.split(line)[1:])
        assert done.exit_code == 0, (line, done.output)


def test_the_overview_loads_no_verb_and_says_whole_sentences():
    """Help is there at once: it says what each verb does from a table, in a line that ends with a full stop."""
    probe = (
        "import sys; from click.testing import CliRunner; from crowdopt.cli import main; "
        "out = CliRunner().invoke(main, ['--help']).output; "
        "heavy = [name for name in sys.modules if name.startswith(('crowdopt.api.', 'numpy', 'scipy'))]; "
        "print(out); print(heavy)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]") and "..." not in done.stdout.partition("Options:")[2]
    assert all(f"{sentence}\n" in done.stdout and sentence.endswith(".") for sentence in SENTENCES.values())


def test_a_verb_that_is_none_is_answered_by_the_likeliest():
    """In one sentence, and exit status 2; `python -m crowdopt` is the command too."""
    done = subprocess.run([sys.executable, "-m", "crowdopt", "slove"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "crowdopt: there is no verb 'slove'; did you mean solve? crowdopt --help lists all\n"
