"""What users touch: names, calls before folders, keyword-only options, docstrings, the README's Python typed."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crowdopt
from tests.pages import PAGES
from tests.sources import tree_of

ROOT = Path(crowdopt.__file__).parent
CALLS = {name: value for name in crowdopt.__all__ if inspect.isfunction(value := getattr(crowdopt, name))}
ALSO_FOLDERS = ["answers", "assign", "backends", "bench", "live", "report"]
IN_HAND = {"solve"}  # is what methods are given, and they give it options by place (core.solution.Solve)
ARRAY = re.compile(r"\b(ArrayLike|Floats|Ints|Bools|NDArray)\b")
AXIS = r"[\w.]+( [-+*] \w+)*"  # tasks, tasks + 1, ...
SHAPE = re.compile(rf"\(({AXIS},|{AXIS}(, ?{AXIS})+)[^)]*\)|array")
CONTRACTS = {"crowdopt/backends/__init__.py: solve", "crowdopt/jobs.py: run"}  # users and methods call them by hand
CONTRACTS |= {  # what crowdopt.testing offers to other packages
    "crowdopt/testing/backend_contract.py: backend_checks",
    "crowdopt/testing/conformance.py: failures",
    "crowdopt/testing/policy_contract.py: policy_checks",
}


def test_dir_holds_the_public_names_only():
    """A newcomer presses tab once and sees what there is: no more than fits a screen of 50 lines."""
    assert dir(crowdopt) == sorted(crowdopt.__all__) and len(crowdopt.__all__) <= 50
    assert all(hasattr(crowdopt, name) for name in crowdopt.__all__)
    assert dir(crowdopt.testing) == sorted(crowdopt.testing.__all__)


@pytest.mark.parametrize(
    "first",
    [
        "import crowdopt.assign.plan",
        *(
            pytest.param(line, marks=pytest.mark.slow)
            for line in (
                "import crowdopt",
                "import crowdopt.answers.planned",
                "from crowdopt.assign import plan",
                "import crowdopt.bench.run, crowdopt.report.charts",
                "import crowdopt.io.plan.plan_folder",
                "from crowdopt.answers.voted import Answers",
            )
        ),
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
    """Six do by design; a seventh would hide a folder from whoever looks for it."""
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} | {path.stem for path in ROOT.glob("*.py")}
    assert sorted(set(CALLS) & folders) == ALSO_FOLDERS


@pytest.mark.parametrize("name", sorted(set(CALLS) - IN_HAND))
def test_options_have_names(name):
    """Two arguments by place at most: a call can be read without its definition, and can grow."""
    kinds = [parameter.kind for parameter in inspect.signature(CALLS[name]).parameters.values()]
    assert sum(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds) <= 2


def parsed() -> list[tuple[str, ast.Module]]:
    """Every file of the package but those of ``cli``: what is typed there is said by --help."""
    files = [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] != "cli"]
    return [(str(path.relative_to(ROOT.parent)), tree_of(path)) for path in files]


def defined() -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """File, name and text of each function of a room and each method of its classes; overloads are not repeated."""
    for path, tree in parsed():
        for owner in [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]:
            prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
            for node in owner.body:
                if isinstance(node, ast.FunctionDef) and "overload" not in map(ast.unparse, node.decorator_list):
                    yield path, prefix + node.name, node


def face() -> Iterator[tuple[str, ast.FunctionDef]]:
    """What ``crowdopt.__all__`` gives: its functions, the public methods of its classes, and the index of programs."""
    public = [*(getattr(crowdopt, name) for name in crowdopt.__all__), crowdopt.programs.index]
    names = {
        (sys.modules[one.__module__].__file__, one.__qualname__)
        for one in public
        if inspect.isfunction(one) or inspect.isclass(one)
    }
    for path, name, node in defined():
        hidden = any(part.startswith("_") for part in name.split("."))
        if not hidden and (str(ROOT.parent / path), name.partition(".")[0]) in names:
            yield f"{path}: {name}", node


def annotations(function: ast.FunctionDef) -> dict[str, str]:
    """Argument -> its type as written."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    named = [one for one in every if one is not None and one.arg not in ("self", "cls")]
    return {one.arg: ast.unparse(one.annotation) if one.annotation else "" for one in named}


def sections(docstring: str) -> dict[str, str]:
    """The parts of a NumPy docstring by heading."""
    parts = re.split(r"^(\w+)\n-{3,}$", docstring, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(text: str) -> dict[str, str]:
    """Name -> its type and what is said of it, in a Parameters section."""
    entries: dict[str, str] = {}
    for entry in re.split(r"^(?=\S)", text, flags=re.MULTILINE):
        head, _, _ = entry.partition("\n")
        for name in re.split(r", ", head.partition(" : ")[0].strip()):
            entries[name.lstrip("*")] = entry
    return entries


def wanting(function: ast.FunctionDef) -> Iterator[str]:
    """What a function's docstring leaves out."""
    arguments, returned = annotations(function), ast.unparse(function.returns) if function.returns else ""
    if len(arguments) < 4 and not any(ARRAY.search(kind) for kind in [*arguments.values(), returned]):
        return
    document = sections(ast.get_docstring(function) or "")
    known = described(document.get("Parameters", ""))
    yield from (f"{name} is not named" for name in arguments if name not in known)
    yield from (f"{name} is no argument" for name in known if name and name not in arguments)
    for name, kind in arguments.items():
        if ARRAY.search(kind) and name in known and not SHAPE.search(known[name]):
            yield f"{name} has no shape"
    returns = any(isinstance(node, ast.Return | ast.Yield) and node.value for node in ast.walk(function))
    back = document.get("Returns", document.get("Yields"))
    if returned != "None" and returns and back is None:
        yield "what comes back is not named"
    elif back is not None and ARRAY.search(returned) and not SHAPE.search(back):
        yield "what comes back has no shape"
    raised = " ".join(ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.Raise))
    if re.search(r"raise (InputError|\w+\.error)\b", raised) and "InputError" not in document.get("Raises", ""):
        yield "InputError is not named"


def test_docstrings_of_the_public_face_name_every_argument():
    """Four arguments or an array: each is named, arrays with their shapes; so is what comes back and what is raised."""
    functions = dict(face())
    assert len(functions) >= len(CALLS)
    calls = {name: function for name, function in functions.items() if "." not in name.partition(": ")[2]}
    offences = [f"{name}: {offence}" for name, function in calls.items() for offence in wanting(function)]
    assert not offences, "\n".join(offences)


def test_methods_of_public_classes_say_their_shapes():
    """A method that gives an array says of which shape: properties in a line, others in their sections."""
    shapeless = []
    for name, method in face():
        text, returned = ast.get_docstring(method) or "", ast.unparse(method.returns) if method.returns else ""
        if "." in name.partition(": ")[2] and (not text or (ARRAY.search(returned) and not SHAPE.search(text))):
            shapeless.append(name)
    assert not shapeless, "\n".join(shapeless)


def test_every_function_of_a_room_says_what_it_gives():
    """Elsewhere a line does: shapes and units in it where the code is dense, nothing where the name says it all."""
    silent = [
        f"{path}: {name}"
        for path, name, node in defined()
        if "." not in name and not name.startswith("_") and not ast.get_docstring(node)
    ]
    assert not silent, "\n".join(silent)


def test_only_the_public_face_lists_its_arguments():
    """Elsewhere a list of arguments is longer than the function: shapes and units stand in a line."""
    public = {*dict(face()), *CONTRACTS}
    listed = [
        f"{path}: {name}"
        for path, name, node in defined()
        if "." not in name and f"{path}: {name}" not in public
        if "Parameters" in sections(ast.get_docstring(node) or "")
    ]
    assert not listed, "\n".join(listed)


def fields(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> set[str]:
    """What a class is made from: its fields, those of its bases in the same file, arguments of its methods."""
    names = {
        part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    }
    names |= {name for part in node.body if isinstance(part, ast.FunctionDef) for name in annotations(part)}
    bases = [classes[base] for base in map(ast.unparse, node.bases) if base in classes]
    return names.union(*(fields(base, classes) for base in bases))


def test_no_docstring_describes_what_is_not_there():
    """A field that was renamed takes its description along."""
    stale = []
    for path, tree in parsed():
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        functions = [node for part in tree.body for node in [part, *getattr(part, "body", [])]]
        for node in [*classes.values(), *(node for node in functions if isinstance(node, ast.FunctionDef))]:
            known = described(sections(ast.get_docstring(node) or "").get("Parameters", ""))
            there = fields(node, classes) if isinstance(node, ast.ClassDef) else annotations(node)
            stale += [f"{path}: {node.name}: {name}" for name in known if name and name not in there]
    assert not stale, "\n".join(stale)


def test_a_docstring_that_says_too_little_is_noticed():
    """The test of the public face stands on this: every kind of omission is an offence."""
    source = '''
def evidence(accuracy: Floats, limit: Ints) -> Floats:
    """What labels are worth.

    Parameters
    ----------
    accuracy : float
    price : float
    """
    if accuracy.size == 0:
        raise InputError("no worker")
    return accuracy
'''
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert list(wanting(function)) == [
        "limit is not named",
        "price is no argument",
        "accuracy has no shape",
        "what comes back is not named",
        "InputError is not named",
    ]


@pytest.mark.slow
def test_the_pages_pass_strict_types(tmp_path):
    """An example is pasted into typed code; the two extensions stand in packages of their own."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    blocks = [block for text in texts for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]
    assert len(blocks) >= 9
    for number, block in enumerate(blocks):
        (tmp_path / f"example_{number}.py").write_text(block, encoding="utf-8")
    command: list[Any] = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--ignore-missing-imports"]
    files = sorted(tmp_path.glob("example_*.py"))
    environment = {"MYPYPATH": str(ROOT.parent), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([*command, *files], capture_output=True, text=True, cwd=tmp_path, env=environment)
    said = [line for line in done.stdout.splitlines() if line.startswith("example_")]
    assert not said, "\n".join(said)
    assert done.returncode in (0, 1), done.stderr


@pytest.mark.slow
def test_a_users_script_runs_and_passes_strict_types(tmp_path):
    """Sixty lines from tables to an audit; by mypy, and by pyright where it is installed."""
    pytest.importorskip("pyarrow", reason="the extra frames is not installed")
    script, environment = ROOT.parent / "tests" / "users_script.py", {**os.environ, "MYPYPATH": str(ROOT.parent)}
    commands: list[list[Any]] = [
        [sys.executable, script, tmp_path],
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--ignore-missing-imports", script],
    ]
    if pyright := shutil.which("pyright"):
        # pyright has its strictness from a file
        settings = {"include": ["script.py"], "strict": ["script.py"], "extraPaths": [str(ROOT.parent)]}
        (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        shutil.copyfile(script, tmp_path / "script.py")
        commands.append([pyright, "-p", tmp_path, "--pythonpath", sys.executable])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
