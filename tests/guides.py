"""The pages of the documentation, and their examples typed as a reader types them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from importlib.metadata import version
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "crowdopt").rglob("*.md"))]  # the guide, its walk-throughs, the audit

STEP = re.compile(r"<!-- (example|file: (\S+)) -->\n```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SECONDS = re.compile(r"\d+\.\d+ s\b")
NUMBERS = re.compile(r"\d+(\.\d+)?")
AT_THE_END = re.compile(r"^(.*: \d+ row\(s\) in \d+\.\d s|\d+ s: .*)\n", re.MULTILINE)  # in a pipe, of what took long
COMMITMENT = re.compile(r"\b[0-9a-f]{64}\b")  # to an audit of answers that a plan brought about
RECORDED_WITH = "1.15.1"  # highspy; another one may break ties between equally good plans in another way


@contextmanager
def no_pictures() -> Iterator[None]:
    """Charts are drawn in a process of its own, which takes longer than most commands; tests/report looks at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("crowdopt.pages.charts"), "_converted", lambda jobs: [b"<svg></svg>"] * len(jobs))
        yield


def name_of(page: Path) -> str:
    """The page's path in the repository."""
    return page.relative_to(ROOT).as_posix()


def masked(text: str) -> str:
    """The text without seconds, and without numbers where another solver version made them."""
    text = SECONDS.sub("", text)
    return text if version("highspy") == RECORDED_WITH else NUMBERS.sub("", COMMITMENT.sub("", text))


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


def commands(page: Path) -> Iterator[tuple[str, str]]:
    """Each command of a page's console examples with the output shown, in order; files it shows are written before.

    A file is a block under ``<!-- file: NAME -->``; it is written where the reader stands.
    """
    for kind, name, language, text in STEP.findall(page.read_text(encoding="utf-8")):
        if kind != "example":
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        elif language == "console":
            for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, shown = step.partition("\n")
                yield command, shown


def type_page(page: Path, *, in_shell: int = 0) -> None:
    """Type a page from top to bottom in the current folder; each command prints what is shown, seconds aside.

    The first ``in_shell`` commands run in a shell as they stand; after them crowdopt runs in this process.
    """
    typed = 0
    for typed, (command, shown) in enumerate(commands(page), 1):
        run = in_this_process if command.startswith("crowdopt ") and typed > in_shell else in_a_shell
        printed, aside = run(command)
        assert AT_THE_END.sub("", aside) == "", f"{command} says aside\n{aside}"
        assert masked(printed) == masked(shown), f"{command} prints\n{printed}where the page shows\n{shown}"
    assert typed, f"{name_of(page)} shows no command"


def python_blocks(page: Path) -> list[str]:
    """The Python examples that run as they stand."""
    steps = STEP.findall(page.read_text(encoding="utf-8"))
    return [text for kind, _, language, text in steps if (kind, language) == ("example", "python")]


def links(page: Path) -> list[str]:
    """The targets of a page's links and pictures inside the repository."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", link)]


def anchors(page: Path) -> set[str]:
    """What can stand behind the # of a link to a page: its headings, as GitHub writes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
