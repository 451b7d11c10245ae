"""Help that can be typed: verbs by question, an example of each, files read and written, exit status."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import click
import highspy
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from crowdopt import cli, verbs
from crowdopt.cli import main
from crowdopt.cli.common import ELSE, FIRST, OURS, QUESTIONS, SENTENCES, by_question
from crowdopt.core.registry import own


def helped(name: str) -> str:
    return CliRunner().invoke(main, [name, "--help"]).output


def examples(name: str) -> list[str]:
    return re.findall(r"^    ((?:crowdopt|highs) .*)$", helped(name), re.MULTILINE)


def solved_elsewhere(solution: str, model: str) -> None:
    """What ``highs --solution_file SOLUTION MODEL`` does."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(model)
    solver.run()
    solver.writeSolution(solution, 0)  # the style of the command


def test_every_file_of_a_verb_is_found_by_the_name_of_the_verb():
    """Verbs are loaded by name: a file that no name leads to would be lost without a word. Each answers a question."""
    assert sorted(verb for verbs in QUESTIONS.values() for verb in verbs) == sorted(OURS)
    assert by_question([*OURS, "vote"])[ELSE] == ["vote"] and ELSE not in by_question([*OURS])
    names = [verb.name for verb in (*own(verbs, "VERBS"), *own(cli, "VERBS"))]
    assert sorted(names) == sorted(OURS)
    assert all(main.get_command(click.Context(main), name).name == name for name in OURS)


def test_the_shell_completes_verbs_that_are_not_loaded():
    """A tab after two letters lists what begins with them, with the help of each."""
    told = ShellComplete(main, {}, "crowdopt", "_CROWDOPT_COMPLETE").get_completions([], "ex")
    assert [(one.value, bool(one.help)) for one in told] == [("explain", True), ("export", True)]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(OURS) - {"backends"}))  # it tries them all; so does tests/contract
def test_the_example_of_a_verb_can_be_pasted(name, tmp_path, monkeypatch):
    """After ``init`` each line in turn, in an empty folder: every one of them succeeds."""
    monkeypatch.chdir(tmp_path)
    lines = examples(name)
    for line in lines if lines[0] == FIRST else [FIRST, *lines]:
        program, *words = shlex.split(line)
        if program == "highs":
            solved_elsewhere(*words[1:])
            continue
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, (line, done.output)


def test_the_overview_loads_no_verb_and_says_whole_sentences():
    """Help is there at once: it says what each verb does from a table, in a line that ends with a full stop."""
    probe = (
        "import sys; from click.testing import CliRunner; from crowdopt.cli import main; "
        "out = CliRunner().invoke(main, ['--help']).output; "
        "heavy = [name for name in sys.modules if name.startswith(('crowdopt.verbs.', 'numpy', 'scipy'))]; "
        "print(out); print(heavy)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]") and "..." not in done.stdout.partition("Options:")[2]
    assert all(f"{sentence}\n" in done.stdout and sentence.endswith(".") for sentence in SENTENCES.values())
