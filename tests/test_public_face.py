"""What users touch: names, calls before folders, keyword-only options, the pages' Python typed."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import crowdopt
from tests.guides import PAGES

ROOT = Path(crowdopt.__file__).parent
CALLS = {name: value for name in crowdopt.__all__ if inspect.isfunction(value := getattr(crowdopt, name))}
# what methods are given, and they give it options by place (core.solution.Solve); model, solution and multipliers
IN_HAND = {"solve_program", "check"}


def test_dir_holds_the_public_names_only():
    """A newcomer presses tab once and sees what there is: no more than fits a screen of 50 lines."""
    assert dir(crowdopt) == sorted(crowdopt.__all__) and len(crowdopt.__all__) <= 50
    assert all(hasattr(crowdopt, name) for name in crowdopt.__all__)
    assert dir(crowdopt.testing) == sorted(crowdopt.testing.__all__)


def test_options_have_names():
    """Two arguments by place at most: a call can be read without its definition, and can grow."""
    for name in CALLS.keys() - IN_HAND:
        kinds = [parameter.kind for parameter in inspect.signature(CALLS[name]).parameters.values()]
        assert sum(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds) <= 2, name


@pytest.mark.slow
def test_the_pages_pass_strict_types(tmp_path):
    """An example is pasted into typed code; the extensions stand in packages of their own; a script has each verb."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    blocks = [block for text in texts for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]
    assert len(blocks) >= 9
    for number, block in enumerate(blocks):
        (tmp_path / f"example_{number}.py").write_text(block, encoding="utf-8")
    # by the project's settings, strict, and with what is kept of the package from when it was checked as a whole
    script = Path(__file__).with_name("as_a_user.py")
    command = [sys.executable, "-m", "mypy", script, *sorted(tmp_path.glob("example_*.py"))]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT.parent)
    assert done.returncode == 0, done.stdout + done.stderr
