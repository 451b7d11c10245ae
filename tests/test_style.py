"""Formatted, linted and typed: by the tools themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


TYPES = pytest.param(["mypy"], marks=pytest.mark.slow)  # the first time in a copy it reads every library


@pytest.mark.parametrize("command", [["ruff", "check"], ["ruff", "format", "--check"], TYPES], ids=" ".join)
def test_the_code_is_clean(command):
    """One style for all, and types that hold (strict in core, crowd and programs)."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
