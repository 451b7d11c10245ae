"""The shelf: every program that reaches a solver is one file, with its statement in models/ and its test."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import crowdopt
from crowdopt import programs

ROOT = Path(crowdopt.__file__).parent
FILES = sorted(path for path in (ROOT / "programs").glob("*.py") if path.name != "__init__.py")
MODELS = ROOT.parent / "models"
STATED = (MODELS / "README.md").read_text(encoding="utf-8")
OWN = {"programs", "core"}  # where programs are formulated, and where any program is relaxed and dualised
MAKERS = ("Program(", "extended(", "replace(")
NO_QUESTION = {
    "backends/__init__.py",  # copies what it was given, for a caller that may write into it
    "backends/probe.py",  # its tiny program only asks whether a library works
    "io/programs/program_reading.py",  # reads what a file states
    "testing/contract_cases.py",  # states small programs of known truth, for backends to be tested on
    "backends/isolated.py",  # reads back, in another process, the program that it was given
}


def the_index() -> dict[str, programs.Formulation]:
    """What is on the shelf, by name; third parties' own programs aside."""
    own = {path.stem.replace("_", "-") for path in FILES}
    return {one.name: one for one in programs.index() if one.name in own}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_program_is_listed_stated_and_tested(path):
    """Add a program: one file that ends in PROGRAM, its statement on the page of mathematics, its test."""
    entry = the_index()[path.stem.replace("_", "-")]
    assert entry.what and entry.source
    assert f"programs/{path.name}" in STATED, "state it in models/README.md"
    assert (Path(__file__).parent / f"test_{path.stem}.py").is_file()
    text = path.read_text(encoding="utf-8")
    assert text.rstrip().endswith(")") and "\nPROGRAM = Formulation(" in text
    assert f'name="{entry.name}"' in text, "the program bears the file's name"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_formulated_names_its_columns(path):
    """A solution is read by names, so the docstring of its builder says them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _formulates(node) and not node.name.startswith("_"):
            assert "Columns:" in (ast.get_docstring(node) or ""), node.name


def test_the_index_says_which_have_a_text_in_models():
    """Each .mod belongs to one program, and each program that has one says so."""
    assert {one.model for one in the_index().values() if one.model} == {path.name for path in MODELS.glob("*.mod")}


def test_nothing_is_formulated_elsewhere():
    """A program made anywhere else would be neither stated nor tested."""
    elsewhere = []
    for path in sorted(ROOT.rglob("*.py")):
        place, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
        if place.parts[0] in OWN or place.as_posix() in NO_QUESTION or not any(name in text for name in MAKERS):
            continue
        if "Program" not in text:  # a table has columns too; what changes a program names its type (mypy)
            continue
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        elsewhere += [f"{place}:{call.lineno}" for call in calls if _makes_a_program(call)]
    assert not elsewhere


def _makes_a_program(call: ast.Call) -> bool:
    """``Program(...)``, ``extended(...)``, or ``replace(program, matrix=...)``."""
    if not isinstance(call.func, ast.Name):
        return False
    changes = call.func.id == "replace" and {word.arg for word in call.keywords} & {"matrix", "columns", "rows"}
    return call.func.id in ("Program", "extended") or bool(changes)


def _formulates(node: ast.FunctionDef) -> bool:
    return any(isinstance(inner, ast.Call) and _makes_a_program(inner) for inner in ast.walk(node))
