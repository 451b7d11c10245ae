"""Verbs as they are typed, in this process, and the tables that they write."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from crowdopt.cli import main


def run(*words: Any) -> Result:
    """What comes of a command: no traceback, whatever was typed."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def said(*words: Any, code: int = 0) -> str:
    """What a command prints that ends with this status."""
    done = run(*words)
    assert done.exit_code == code, done.output
    return done.output


def rows(path: Any) -> list[dict[str, str]]:
    """A table's rows."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def column(path: Any, name: str = "task") -> list[str]:
    """A table's column."""
    return [row[name] for row in rows(path)]
