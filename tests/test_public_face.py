"""What users touch: names, options that have names, results shown in notebooks, the pages' Python and the tutorial."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import crowdopt
from crowdopt.notebooks import InNotebooks
from tests.guides import PAGES, ROOT, masked

CALLS = {name: value for name in crowdopt.__all__ if inspect.isfunction(value := getattr(crowdopt, name))}
# what methods are given, and they give it options by place (core.solution.Solve); model, solution and multipliers
IN_HAND = {"solve_program", "check"}
PLAIN = {"Path", "None", "int", "float", "dict[str, Any]", "tuple[Any, dict[str, Any]]"}
AT_WORK = {"Session", "Live"}  # objects to go on with, and no results


def test_dir_holds_the_public_names_only():
    """A newcomer presses tab once and sees what there is: no more than fits a screen of 50 lines."""
    assert dir(crowdopt) == sorted(crowdopt.__all__) and len(crowdopt.__all__) <= 50
    assert all(hasattr(crowdopt, name) for name in crowdopt.__all__)
    assert dir(crowdopt.testing) == sorted(crowdopt.testing.__all__)


def test_options_have_names_and_results_show_themselves():
    """Two arguments by place at most, so that a call can grow; a new call whose result is not shown fails here."""
    kinds, results = InNotebooks.__subclasses__(), set[str]()
    for kind in kinds:
        kinds += kind.__subclasses__()
    for name, call in CALLS.items():
        signature = inspect.signature(call)
        by_place = [one for one in signature.parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
        assert len(by_place) <= 2 or name in IN_HAND, name
        results |= {re.sub(r"^list\[(\w+)\]$", r"\1", part) for part in str(signature.return_annotation).split(" | ")}
    assert results - PLAIN - AT_WORK <= {kind.__name__ for kind in kinds}


@pytest.mark.slow
def test_the_pages_pass_strict_types(tmp_path):
    """An example is pasted into typed code; the extensions stand in packages of their own; a script has each verb."""
    texts = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    blocks = re.findall(r"^```python\n(.*?)^```", texts, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 9
    for number, block in enumerate(blocks):
        (tmp_path / f"example_{number}.py").write_text(block, encoding="utf-8")
    # by the project's settings, strict, and with what is kept of the package from when it was checked as a whole
    script = ROOT / "tests" / "as_a_user.py"
    command = [sys.executable, "-m", "mypy", script, *sorted(tmp_path.glob("example_*.py"))]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_plan_shows_its_facts_and_first_labels():
    """Ten rows, how many more there are, and nothing that a browser would take for its own."""
    tasks = [f"<{k}>" for k in range(20)]
    plan = crowdopt.solve(crowdopt.AssignmentInstance([[0.9, 0.8, 0.7]], [0] * 20, [20] * 3, 0.2, tasks=tasks))
    shown = plan._repr_html_()
    assert "<td" in shown and "&lt;0&gt;" in shown and "<0>" not in shown
    assert f"{len(plan.pairs) - 10} more" in shown and shown.count("<tr>") < 40
    short = crowdopt.solve(crowdopt.AssignmentInstance([[0.9, 0.6]], [0, 0], [1, 1], 0.05))
    words = "no plan reaches every target"  # its cost and a bound of infinity say nothing to a reader
    assert words in short._repr_html_() and str(short).startswith(f"Plan: {words}")


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows(tmp_path):
    """Run from top to bottom in an empty folder; only seconds may differ, and nothing warns."""
    needs = ("nbformat", "nbclient", "ipykernel")
    nbformat, nbclient, _ = (pytest.importorskip(name, reason="pip install nbclient ipykernel") for name in needs)
    shown, run = (nbformat.read(ROOT / "models" / "tutorial.ipynb", as_version=4) for _ in range(2))
    nbclient.NotebookClient(run, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    for was, now in zip(shown.cells, run.cells, strict=True):
        assert told(now) == told(was), was.source
        assert "Warning" not in "".join(told(now, aside=True))


def told(cell, aside: bool = False) -> list[str]:
    """What a cell printed, and its value as text."""
    outputs = [one for one in cell.get("outputs", []) if (one.get("name") == "stderr") == aside]
    texts = [one.get("text") or one["data"]["text/plain"] for one in outputs]
    return [masked(re.sub(r"(seconds +)\S+", r"\1", text)) for text in texts]
