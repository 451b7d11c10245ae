"""A backend that another package brings along is a backend like ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.rows import ROOT
from tests.strangers import environment, installed


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like an installed package to importlib.metadata."""
    code = Path(__file__).with_name("example_backend.py").read_text(encoding="utf-8")
    points = "[crowdopt.solvers]\nmilp = example_backend:BACKENDS\n"
    return installed(tmp_path_factory.mktemp("site"), "example_backend", code, points)


def run(elsewhere: Path, *arguments: str) -> str:
    given = {"cwd": ROOT, "env": environment(elsewhere), "capture_output": True, "text": True, "check": True}
    return subprocess.run([sys.executable, *arguments], **given).stdout


def test_an_entry_point_registers_a_backend(elsewhere: Path) -> None:
    """``discover`` takes what the entry points of the group ``crowdopt.solvers`` load like a module's BACKENDS."""
    code = (
        "import crowdopt;"
        "plan = crowdopt.solve(crowdopt.recipe('R10:10x20'), 'milp');"
        "print(plan.proven, plan.objective == crowdopt.solve(crowdopt.recipe('R10:10x20')).objective)"
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
        "from crowdopt.solvers import BackendMissing, named\ntry: named('milp')\nexcept BackendMissing as e: print(e)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "milp" in said
    assert "highs" in said
