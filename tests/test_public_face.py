"""What users touch: names, calls before folders, keyword-only options, docstrings, the README's Python typed."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import crowdopt

ROOT = Path(crowdopt.__file__).parent
README = ROOT.parent / "README.md"
CALLS = {name: value for name in crowdopt.__all__ if inspect.isfunction(value := getattr(crowdopt, name))}
ALSO_FOLDERS = ["answers", "assign", "bench", "report"]
IN_HAND = {"solve"}  # is what methods are given, and they give it options by place (core.solution.Solve)
ARRAY = re.compile(r"\b(ArrayLike|Floats|Ints|Bools|NDArray)\b")
SHAPE = re.compile(r"\((\w+,|\w+(, ?\w+)+)[^)]*\)|array")
DOCUMENTED = ["api", "hire", "answers", "report", "studies", "bench"]  # rooms held to their docstrings


def test_dir_holds_the_public_names_only():
    """A newcomer presses tab once and sees what there is: no more than fits a screen of 44 lines."""
    assert dir(crowdopt) == sorted(crowdopt.__all__) and len(crowdopt.__all__) <= 44
    assert all(hasattr(crowdopt, name) for name in crowdopt.__all__)


@pytest.mark.parametrize(
    "first",
    [
        "import crowdopt.assign.plan",
        "import crowdopt.answers.planned",
        "from crowdopt.assign import plan",
        "import crowdopt.bench.run, crowdopt.report.charts",
        "import crowdopt.io.plan_folder",
        "from crowdopt.answers.voted import Answers",
        "import crowdopt",
    ],
)
def test_the_call_comes_before_the_folder_of_its_name(first):
    """Python binds a folder's name when the folder is first imported; whatever a user imports, the call stays."""
    probe = (
        f"{first}\nimport crowdopt, inspect\nprint([inspect.isfunction(getattr(crowdopt, n)) for n in {ALSO_FOLDERS}])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([True] * len(ALSO_FOLDERS))


def test_no_other_call_bears_the_name_of_a_folder():
    """Four do by design; a fifth would hide a folder from whoever looks for it."""
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} | {path.stem for path in ROOT.glob("*.py")}
    assert sorted(set(CALLS) & folders) == ALSO_FOLDERS


@pytest.mark.parametrize("name", sorted(set(CALLS) - IN_HAND))
def test_options_have_names(name):
    """Two arguments by place at most: a call can be read without its definition, and can grow."""
    kinds = [parameter.kind for parameter in inspect.signature(CALLS[name]).parameters.values()]
    assert sum(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds) <= 2


def public_functions() -> list[tuple[str, FunctionType]]:
    """Functions of the documented rooms, each where it is defined, and the public calls."""
    found = {}
    for room in DOCUMENTED:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT.parent).with_suffix("").parts
            module = import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    found[f"{module.__name__}.{node.name}"] = getattr(module, node.name)
    found |= {f"{call.__module__}.{call.__name__}": call for call in CALLS.values()}
    return sorted(found.items())


def needs_parameters(function: FunctionType) -> bool:
    """Whether a function has four arguments, or arrays in or out."""
    signature = inspect.signature(function)
    kinds = [str(parameter.annotation) for parameter in signature.parameters.values()]
    return len(kinds) >= 4 or any(ARRAY.search(kind) for kind in [*kinds, str(signature.return_annotation)])


def sections(docstring: str) -> dict[str, str]:
    """The parts of a NumPy docstring by heading."""
    parts = re.split(r"^(\w+)\n-{3,}$", docstring, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(text: str) -> dict[str, str]:
    """Name -> its type and what is said of it, in a Parameters section."""
    found: dict[str, str] = {}
    for entry in re.split(r"^(?=\S)", text, flags=re.MULTILINE):
        head, _, _ = entry.partition("\n")
        for name in re.split(r", ", head.partition(" : ")[0].strip()):
            found[name.lstrip("*")] = entry
    return found


@pytest.mark.parametrize(
    "function", [pytest.param(function, id=name) for name, function in public_functions() if needs_parameters(function)]
)
def test_docstrings_name_every_argument(function):
    """Four arguments or an array: each is named, arrays with their shapes; so is what comes back and what is raised."""
    document = sections(inspect.getdoc(function) or "")
    known = described(document.get("Parameters", ""))
    signature = inspect.signature(function)
    assert not [name for name in signature.parameters if name not in known]
    for name, parameter in signature.parameters.items():
        if ARRAY.search(str(parameter.annotation)):
            assert SHAPE.search(known[name]), f"{name} has no shape"
    returned = str(signature.return_annotation)
    assert returned == "None" or "Returns" in document or "Yields" in document
    if ARRAY.search(returned):
        assert SHAPE.search(document["Returns"]), "what comes back has no shape"
    if "raise InputError" in inspect.getsource(function):
        assert "InputError" in document["Raises"]


@pytest.mark.slow
def test_the_readme_passes_strict_types(tmp_path):
    """Whoever types their code pastes an example into it; the two extensions stand in packages of their own."""
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 4
    for number, block in enumerate(blocks):
        (tmp_path / f"example_{number}.py").write_text(block, encoding="utf-8")
    command: list[Any] = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--ignore-missing-imports"]
    files = sorted(tmp_path.glob("example_*.py"))
    environment = {"MYPYPATH": str(ROOT.parent), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([*command, *files], capture_output=True, text=True, cwd=tmp_path, env=environment)
    said = [line for line in done.stdout.splitlines() if line.startswith("example_")]
    assert not said, "\n".join(said)
    assert done.returncode in (0, 1), done.stderr
