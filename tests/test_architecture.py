"""The house rules: who may import whom, which library lives where, what an import may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import crowdopt

ROOT = Path(crowdopt.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))

MAY_IMPORT = {  # a room, and the rooms of the package that it may import; absent here: anything but cli
    "core": {"core"},
    "jobs": set(),
    "crowd": {"crowd"},
    "plan": {"core", "crowd"},
    "selection": {"core", "crowd"},
    "programs": {"core", "crowd", "programs"},
    "backends": {"core", "backends"},
    "io": {"core", "crowd", "plan", "selection", "io", "version"},
    "proofs": {"crowd"},
    "verify": {"core", "crowd", "plan", "proofs", "io"},
    "offline": {"core", "crowd", "plan", "selection", "programs", "offline"},
    "online": {"core", "crowd", "plan", "selection", "programs", "offline", "jobs", "online"},
    "report": {"core", "crowd", "plan", "selection", "report"},
}
AT_HOME = {  # solver libraries, each in one file
    "highspy": "backends/highs.py",
    "pulp": "backends/pulp.py",
    "cvxpy": "backends/cvxpy.py",
    "ortools": "backends/ortools.py",
    "pyscipopt": "backends/scip.py",
    "gurobipy": "backends/gurobi.py",
}
NOT_LOADED = ["highspy", "pulp", "cvxpy", "numba", "scipy.stats", "scipy.optimize", "pyarrow", "pandas", "altair"]


def room(path: Path) -> str:
    """The package or top-level module that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Every module a file imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute, so that they can be read"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    """A floor knows only the floors below it, and nobody imports the command line, the tests or the benchmarks."""
    rooms = {name.split(".")[1] for name in imported(path) if name.startswith("crowdopt.")}
    allowed = rooms if room(path) == "cli" else MAY_IMPORT.get(room(path), rooms - {"cli"})
    assert rooms <= allowed, f"{path.name} imports {rooms}"
    assert not {name.split(".")[0] for name in imported(path)} & {"tests", "benchmarks", "models"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_solver_library_lives_in_one_file(path):
    """Whatever a solver's interface does next year, one file changes."""
    for name in imported(path):
        library = name.split(".")[0]
        assert library not in AT_HOME or path.relative_to(ROOT).as_posix() == AT_HOME[library]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_compiled_code_lives_in_kernels(path):
    """A file or folder of that name where a floor needs one, loaded only when it runs; all the rest is plain numpy."""
    libraries = {name.split(".")[0] for name in imported(path)}
    assert "numba" not in libraries or "kernels" in (path.stem, path.parent.name)


def test_core_and_crowd_know_no_third_party_but_numpy_and_scipy():
    """The ground floor stands by itself."""
    for path in FILES:
        if room(path) in ("core", "crowd") and path.name != "kernels.py":
            others = {name.split(".")[0] for name in imported(path)} - set(sys.stdlib_module_names) - {"crowdopt"}
            assert others <= {"numpy", "scipy"}, path


def test_importing_crowdopt_loads_no_solver():
    """A fast import, and no library loaded that another one cannot stand in the same process."""
    probe = f"import sys, crowdopt; print([name for name in {NOT_LOADED} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_no_pickle_no_eval_no_network():
    """Reading a stranger's campaign executes nothing and calls nobody."""
    for path in FILES:
        names = imported(path)
        assert not {name.split(".")[0] for name in names} & {"pickle", "socket", "urllib.request", "requests"}, path
        calls = [node.func.id for node in ast.walk(ast.parse(path.read_text())) if _is_call(node)]
        assert not set(calls) & {"eval", "exec"}, path


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
