"""The syntax of every file of the package, read once for all tests of a process that look at it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """The file's syntax tree; whoever asks leaves it as it is."""
    return ast.parse(path.read_text(encoding="utf-8"))
