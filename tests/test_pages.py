"""The pages stay true: README, guide and walk-throughs print what they show."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from crowdopt.cli import main
from crowdopt.cli.common import OURS
from tests.guides import PAGES, README, ROOT, STEP, name_of, python_blocks, type_page

TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}


def cases(wanted: list[Path]) -> list[object]:
    """Pages as test cases; all but the first page are slow, since the others take minutes together."""
    return [pytest.param(one, id=name_of(one), marks=[pytest.mark.slow] * (one != README)) for one in wanted]


@pytest.mark.parametrize("page", cases([page for page in PAGES if "<!-- example -->\n```console" in TEXTS[page]]))
def test_what_a_page_shows_is_what_it_prints(page, tmp_path, monkeypatch):
    """From top to bottom in an empty folder, as a reader types it; only seconds may differ."""
    monkeypatch.chdir(tmp_path)
    type_page(page, in_shell=1 if page == README else 0)


@pytest.mark.parametrize("page", cases([page for page in PAGES if python_blocks(page)]))
def test_the_python_runs(page, tmp_path):
    """Each block pasted into a file and run; its own assertions hold."""
    for number, text in enumerate(python_blocks(page)):
        (tmp_path / str(number)).mkdir()
        subprocess.run([sys.executable, "-W", "error", "-c", text], cwd=tmp_path / str(number), check=True)


def test_nothing_typed_goes_untested():
    """A console block without the mark of an example would grow stale unseen."""
    for page, text in TEXTS.items():
        marked = [kind for kind, _, language, _ in STEP.findall(text) if (kind, language) == ("example", "console")]
        assert text.count("```console") == len(marked), name_of(page)


def test_every_verb_exists_and_has_a_page():
    """Each verb that a page shows is one, and each verb there is stands on the guide's first page."""
    assert set(re.findall(r"(?:\$ |`|&& \S+/)crowdopt ([a-z][\w-]*)", "\n".join(TEXTS.values()))) <= set(OURS)
    first = TEXTS[ROOT / "crowdopt" / "README.md"]
    assert set(OURS) - {"init", "generate"} <= set(re.findall(r"`([\w-]+)", first))


def options(command: click.Command) -> set[str]:
    """Those of a verb, with those of its own commands."""
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return {o for p in command.params for o in (*p.opts, *p.secondary_opts)}.union(*map(options, inner))


def test_every_option_in_a_table_is_one_of_the_pages_verbs():
    """An option that moved to another name, or was another verb's, is found out here, not by the reader."""
    context = click.Context(main)
    verbs = {name: options(verb) for name in main.list_commands(context) if (verb := main.get_command(context, name))}
    for page, text in TEXTS.items():
        shown = set(re.findall(r"(?:crowdopt |`)([\w-]+)[ `]", text)) & verbs.keys()
        known = set[str]().union(*(verbs[verb] for verb in shown))
        rows = re.findall(r"^\| (`--.*?) \|", text, re.MULTILINE)
        named = {option for row in rows for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", row)}
        assert named <= known, f"{name_of(page)}: {sorted(named - known)}"


@pytest.mark.parametrize(
    ("file", "page"), [("contract/example_backend.py", "solvers"), ("online/example_policy.py", "online")]
)
def test_the_extension_of_ones_own_is_the_tested_one(file, page):
    """The example in the text is the file that the test of extensions installs and uses."""
    example = (ROOT / "tests" / file).read_text(encoding="utf-8").strip()
    assert example in TEXTS[ROOT / "crowdopt" / page / "README.md"]
