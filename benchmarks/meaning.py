"""What code means, as a hash without comments, docstrings, formatting and the words of errors; what scripts share."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
WORDS = (ast.Constant, ast.JoinedStr)
UNSAID = ("kind", "type_comment", "type_ignores", "ctx")  # what the parser notes and running never looks at


def digest(files: Iterable[Path], root: Path) -> str:
    """A hash of what the files mean, and of their names below ``root``: 16 hexadecimal digits."""
    hashed = sha256()
    for path in files:
        hashed.update(f"{path.relative_to(root).as_posix()}\n{meaning(path.read_text(encoding='utf-8'))}\n".encode())
    return hashed.hexdigest()[:16]


def meaning(code: str) -> str:
    """The syntax tree as text, but docstrings, errors' words and absent fields, of which Pythons have others."""
    return repr(_form(ast.parse(code)))


def _form(node: Any, raised: bool = False) -> Any:
    if isinstance(node, list):
        return [_form(one, raised) for one in node]
    if not isinstance(node, ast.AST):
        return node
    if raised and isinstance(node, WORDS):
        return "words"
    raised = raised or isinstance(node, ast.Raise)
    fields = {name: value for name, value in ast.iter_fields(node) if name not in UNSAID}
    if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        fields["body"] = fields["body"][1:]
    present = {name: value for name, value in fields.items() if not (value is None or value == [])}
    if isinstance(node, ast.Constant):
        present = {"value": (type(node.value).__name__, repr(node.value))}  # None and 0.0 are values
    return [type(node).__name__, *([name, _form(present[name], raised)] for name in sorted(present))]


def used(scripts: Iterable[Path], root: Path) -> list[Path]:
    """The scripts, and every module of benchmarks/ that they import, directly or through another."""
    known: dict[Path, None] = {}
    waiting = list(scripts)
    while waiting:
        path = waiting.pop(0)
        if path not in known:
            known[path] = None
            names = _imported(ast.parse(path.read_text(encoding="utf-8")))
            files = [root / f"{name.replace('.', '/')}.py" for name in names if name.startswith("benchmarks.")]
            waiting += [file for file in files if file.is_file()]
    return list(known)


def _imported(tree: ast.AST) -> list[str]:
    """The dotted names that a module imports; of ``from a import b`` both a and a.b, for b may be a module."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
    return names
