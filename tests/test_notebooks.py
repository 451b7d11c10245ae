"""Every result has a picture of its own in a notebook, and the tutorial prints what it shows."""

from __future__ import annotations

import inspect
import re

import pytest

import crowdopt
from crowdopt.online.run_score import Optimum
from crowdopt.studies.online_trials import Comparison
from tests.guides import ROOT, masked

PLAIN = {"Path", "None", "int", "float", "dict[str, Any]", "tuple[Any, dict[str, Any]]"}
AT_WORK = {"Session", "Live"}  # objects to go on with, and no results


def results() -> set[str]:
    """Names of the types that the public calls return."""
    calls = [call for name in crowdopt.__all__ if inspect.isfunction(call := getattr(crowdopt, name))]
    named = {part for call in calls for part in str(inspect.signature(call).return_annotation).split(" | ")}
    return {re.sub(r"^list\[(\w+)\]$", r"\1", name) for name in named} - PLAIN - AT_WORK


def test_every_result_shows_itself():
    """A new call whose result is not shown fails here."""
    import crowdopt.notebooks

    for name in crowdopt.__all__:
        getattr(crowdopt, name)  # each is loaded when it is asked for
    waiting, known = [crowdopt.notebooks.InNotebooks], set()
    while waiting:
        subclasses = waiting.pop().__subclasses__()
        known |= {kind.__name__ for kind in subclasses}
        waiting += subclasses
    assert results() <= known


def test_a_plan_shows_its_facts_and_first_labels():
    """Ten rows, how many more there are, and nothing that a browser would take for its own."""
    instance = crowdopt.AssignmentInstance(
        [[0.9, 0.8, 0.7]], [0] * 20, [20] * 3, 0.2, tasks=[f"<{k}>" for k in range(20)]
    )
    plan = crowdopt.solve(instance)
    shown = plan._repr_html_()
    assert "<td" in shown and "&lt;0&gt;" in shown and "<0>" not in shown
    assert f"{len(plan.pairs) - 10} more" in shown and shown.count("<tr>") < 40
    short = crowdopt.solve(crowdopt.AssignmentInstance([[0.9, 0.6]], [0, 0], [1, 1], 0.05))
    words = "no plan reaches every target"  # its cost and a bound of infinity say nothing to a reader
    assert words in short._repr_html_() and str(short).startswith(f"Plan: {words}")


def test_a_comparison_is_a_line_for_each_policy_and_a_sentence():
    """Not its hundreds of rows and figures."""
    figures = {f"figure_{k}": 0.5 for k in range(60)}
    lines = [{"policy": name, "cost": 12.0, "ratio_bound": 1.2, **figures} for name in ("re-solve", "greedy")]
    rows = [{"policy": "greedy", "trial": k, **figures} for k in range(20)]
    found = Comparison("drawn", Optimum(10.0, 9.5, 11.0, rule="hoeffding"), rows, lines, rows, "greedy", [])
    shown = found._repr_html_()
    assert "no plan by rule hoeffding costs less than 10" in shown and "re-solve" in shown
    assert "figure 7" not in shown and len(shown) < 2500


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows(tmp_path):
    """Run from top to bottom in an empty folder; only seconds may differ, and nothing warns."""
    nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="pip install ipykernel")
    shown, run = (nbformat.read(ROOT / "models" / "tutorial.ipynb", as_version=4) for _ in range(2))
    nbclient.NotebookClient(run, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    for was, now in zip(shown.cells, run.cells, strict=True):
        told, said = ([one for one in cell.get("outputs", []) if one.get("name") != "stderr"] for cell in (was, now))
        assert [text_of(one) for one in said] == [text_of(one) for one in told], was.source
        assert "Warning" not in "".join(one.text for one in now.get("outputs", []) if one.get("name") == "stderr")


def text_of(output) -> str:
    """What a cell printed, or its value as text."""
    return masked(re.sub(r"(seconds +)\S+", r"\1", output.get("text") or output["data"]["text/plain"]))
