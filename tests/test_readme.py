"""The README stays true: its examples run and print what it shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib.metadata import version
from io import StringIO
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"<!-- example -->\n```(\w+)\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
SECONDS = re.compile(r"\d+\.\d+ s\b")
NUMBERS = re.compile(r"\d+(\.\d+)?")
RECORDED_WITH = "1.15.1"  # highspy; another one may break ties between equally good plans in another way


def masked(text: str) -> str:
    """The text without seconds, and without numbers where another solver version made them."""
    text = SECONDS.sub("", text)
    return text if version("highspy") == RECORDED_WITH else NUMBERS.sub("", text)


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """One folder for all blocks: whoever types them from top to bottom stays where they are."""
    return tmp_path_factory.mktemp("desk")


CONSOLE = [text for kind, text in BLOCKS if kind == "console"]


def in_a_shell(command: str) -> tuple[str, str]:
    """What it prints, and what it says on the side, typed as a reader types it."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
    return done.stdout, done.stderr


def in_this_process(command: str) -> tuple[str, str]:
    """The same, without starting Python and loading everything for each verb."""
    from crowdopt.cli import main

    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err, suppress(SystemExit):
        main(shlex.split(command)[1:], prog_name="crowdopt")
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize(("place", "text"), list(enumerate(CONSOLE)), ids=[f"block {k}" for k in range(len(CONSOLE))])
def test_what_the_console_shows_is_what_it_prints(place, text, desk, monkeypatch):
    """Each command of a block in turn; only seconds may differ. The first block runs in a shell as it stands."""
    monkeypatch.chdir(desk)
    for step in text.split("$ ")[1:]:
        command, _, expected = step.partition("\n")
        run = in_this_process if place and command.startswith("crowdopt ") else in_a_shell
        printed, aside = run(command)
        assert aside == "", command
        assert masked(printed) == masked(expected), command


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "python"])
def test_the_python_runs(text, tmp_path):
    """Pasted into a file and run; its own assertions hold."""
    subprocess.run([sys.executable, "-W", "error", "-c", text], cwd=tmp_path, check=True)


def test_every_verb_exists():
    """Each verb that the README shows is one."""
    from crowdopt.cli import main

    text = README.read_text(encoding="utf-8")
    assert {"console", "python"} == {kind for kind, _ in BLOCKS}
    assert set(re.findall(r"(?:\$ |`|&& \S+/)crowdopt ([\w-]+)", text)) <= set(main.commands)


def test_the_examples_can_be_typed_one_after_another():
    """One folder holds them all: a name that is taken would stop a reader, or show another crowd's numbers."""
    typed = [line for kind, text in BLOCKS if kind == "console" for line in text.splitlines() if line.startswith("$ ")]
    made = [name for line in typed for name in re.findall(r"(?: -o |crowdopt init )(\S+)", line)]
    assert len(made) == len(set(made)), sorted(name for name in made if made.count(name) > 1)


def anchors(page):
    """What can stand behind the # of a link to a page: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ["README.md", "benchmarks/README.md", "models/README.md"])
def test_every_link_leads_somewhere(page):
    """Files and headings both: sections move and change their names."""
    home = README.parent / page
    for link in re.findall(r"\]\(([^):]+)\)", home.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        goal = home.parent / path if path else home
        assert goal.exists(), link
        assert not anchor or anchor in anchors(goal), link


def test_the_backend_of_ones_own_is_the_tested_one():
    """The example in the text is the file that the entry-point test installs and solves with."""
    example = (README.parent / "tests" / "contract" / "example_backend.py").read_text(encoding="utf-8").strip()
    assert example in README.read_text(encoding="utf-8")


def test_the_policy_of_ones_own_is_the_tested_one():
    """As with backends: what stands in the text is what the extension test installs."""
    example = (README.parent / "tests" / "online" / "example_policy.py").read_text(encoding="utf-8").strip()
    assert example in README.read_text(encoding="utf-8")
