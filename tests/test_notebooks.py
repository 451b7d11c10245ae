"""Every result has a picture of its own in a notebook, and the README's Python runs there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import crowdopt
from crowdopt.online.run_score import Optimum
from crowdopt.studies.online_trials import Comparison

README = Path(__file__).parent.parent / "README.md"
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
def test_the_readmes_python_runs_in_a_notebook():
    """Typed into cells and run by a kernel, with the plan shown as a table in the last."""
    nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="pip install ipykernel")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in [*blocks, "plan"]])
    kernel = nbclient.NotebookClient(book, timeout=300, kernel_name="python3")
    kernel.execute()
    shown = [output["data"] for output in book.cells[-1].outputs if "data" in output]
    assert "<table>" in shown[-1]["text/html"] and shown[-1]["text/plain"].startswith("Plan: ")
    said = "".join(one.text for cell in book.cells for one in cell.outputs if one.get("name") == "stderr")
    assert "Warning" not in said, said
