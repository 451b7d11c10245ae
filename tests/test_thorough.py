"""Theorems that are tried on a quarter of their examples by default, on all of them: long, an hour of one core."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USED = "from tests.effort import"
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py")}
FILES = [name for name, text in sorted(TEXTS.items()) if USED in text and not name.endswith(Path(__file__).name)]


@pytest.mark.long
@pytest.mark.parametrize("file", FILES)
def test_all_examples_hold(file):
    """The same file, in a process of its own, with every example that its theorems are worth."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", file]
    environment = {**os.environ, "CROWDOPT_EXAMPLES": "all"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
