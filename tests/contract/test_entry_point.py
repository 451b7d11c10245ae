"""A backend that another package brings along is a backend like ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.rows import ROOT

EXAMPLE = Path(__file__).with_name("example_backend.py")
ENTRY_POINTS = "[crowdopt.backends]\nmilp = example_backend:BACKENDS\n"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like an installed package to importlib.metadata."""
    folder = tmp_path_factory.mktemp("site")
    (folder / EXAMPLE.name).write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    facts = folder / "example_backend-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: example-backend\nVersion: 1.0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return folder


def run(elsewhere: Path, *arguments: str) -> str:
    path = os.pathsep.join([str(elsewhere), str(ROOT)])
    command, env = [sys.executable, *arguments], {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout


def test_an_entry_point_registers_a_backend(elsewhere: Path) -> None:
    """``discover`` takes what the entry points of the group ``crowdopt.backends`` load like a module's BACKENDS."""
    code = (
        "import crowdopt;"
        "plan = crowdopt.assign(crowdopt.recipe('R10:10x20'), 'milp');"
        "print(plan.proven, plan.objective == crowdopt.assign(crowdopt.recipe('R10:10x20')).objective)"
    )
    assert run(elsewhere, "-c", code).split() == ["True", "True"]


CHECKED = """
from crowdopt.testing import backend_checks, failures
checks = backend_checks("milp", exclude={"stopped", "within-gap", "badly-scaled-integer"})
print(len(checks) > 60, failures(checks))
"""


@pytest.mark.slow
def test_the_example_keeps_the_contract(elsewhere: Path) -> None:
    """What stands in the documentation has to hold there, by the checks that a third party runs."""
    assert run(elsewhere, "-c", CHECKED) == "True {}\n"


def test_a_backend_that_is_not_installed_is_not_registered() -> None:
    """Without the folder on the path there is no such backend, and the sentence names those there are."""
    code = (
        "from crowdopt.backends import BackendMissing, named\ntry: named('milp')\nexcept BackendMissing as e: print(e)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "milp" in said
    assert "highs" in said
