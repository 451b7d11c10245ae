"""The guide of the audit stays true: typed from top to bottom it prints what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import crowdopt
from tests.test_readme import in_a_shell, masked

GUIDE = Path(crowdopt.__file__).parent / "answers" / "audit" / "README.md"
BLOCKS = re.findall(r"<!-- example -->\n```console\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
COMMITMENT = re.compile(r"[0-9a-f]{64}")  # holds logarithms to the last bit, in which processors differ


@pytest.mark.slow
def test_what_the_guide_shows_is_what_it_prints(tmp_path, monkeypatch):
    """Each command in turn; only seconds and the commitment may differ."""
    monkeypatch.chdir(tmp_path)
    assert BLOCKS
    for step in re.split(r"^\$ ", "".join(BLOCKS), flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        printed, aside = in_a_shell(command)
        assert aside == "", command
        assert COMMITMENT.sub("", masked(printed)) == COMMITMENT.sub("", masked(expected)), command


def test_every_link_of_the_guide_leads_somewhere():
    """Pictures and files beside it."""
    for link in re.findall(r"\]\(([^):#]+)\)", GUIDE.read_text(encoding="utf-8")):
        assert (GUIDE.parent / link).exists(), link
