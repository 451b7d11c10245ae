"""The table of methods as a page and a guide show it."""

from __future__ import annotations

from crowdopt.report.decision_table import decision_section
from crowdopt.report.page import Page, html

ROW = {"when": "", "conditions": [], "use": ["exact", "highs"], "instances": 9, "factor": 1.25}


def test_the_loss_stands_beside_the_choice():
    """What following it is expected to cost, what the single best solver costs, and who comes next."""
    decision = {"rows": [ROW], "expected": 1.31, "single": "exact", "single_expected": 1.31}
    page = html(Page("t", [], [decision_section(decision)]))
    assert "<td>exact</td><td>all</td>" in page and "<td>highs</td>" in page
    assert "1.31 times the seconds of the virtual best" in page and "more rows does no better" in page
