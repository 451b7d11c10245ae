"""The list of published figures is whole: each command exists, each place exists, each section has its figure."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from benchmarks import __main__ as register
from tests.pages import ROOT, anchors

EVERY = register.figures()
PAGE = ROOT / "benchmarks" / "README.md"


@pytest.mark.parametrize("name", EVERY)
def test_what_makes_a_figure_and_where_it_stands_is_there(name):
    """Scripts, rooms, pages and headings; code that is not there would never be stale."""
    figure = EVERY[name]
    assert figure.rooms and all((ROOT / "crowdopt" / room / "__init__.py").is_file() for room in figure.rooms)
    assert all(path.is_file() for path in figure.scripts)
    assert figure.scripts or all(command.startswith("-m crowdopt.cli") for command in figure.commands)
    for place in figure.stands:
        page, _, anchor = place.partition("#")
        assert (ROOT / page).is_file() and (not anchor or anchor in anchors(ROOT / page)), place


def test_every_section_of_figures_has_what_makes_it():
    """A table without a command cannot be made anew."""
    sections = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    stands = {place.partition("#")[2] for figure in EVERY.values() for place in figure.stands}
    assert not [title for title in sections if title.lower().replace(",", "").replace(" ", "-") not in stands]


def test_changed_code_makes_a_figure_stale(tmp_path, monkeypatch):
    """Its own rooms and scripts only; without a record nothing is known."""
    (tmp_path / "crowdopt" / "hire").mkdir(parents=True)
    (tmp_path / "crowdopt" / "hire" / "one.py").write_text("x = 1\n")
    monkeypatch.setattr(register, "ROOT", tmp_path)
    figure = register.Figure("f", (), (), ("hire",))
    assert register.state_of(figure, {}) == register.UNKNOWN
    known = {"f": {"code": figure.digest()}}
    assert register.state_of(figure, known) == register.FRESH
    (tmp_path / "crowdopt" / "hire" / "one.py").write_text("x = 2\n")
    assert register.state_of(figure, known) == register.STALE


def test_the_command_line_lists_and_refuses():
    """An unknown figure is named, with those there are."""
    run = lambda *words: subprocess.run(  # noqa: E731
        [sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert "saving: benchmarks/README.md#fewer-labels" in run().stdout
    refused = run("run", "saveing")
    assert refused.returncode == 2 and "no figure 'saveing'; there are saving" in refused.stderr
