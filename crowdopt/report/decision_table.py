"""Which method for which instance, as a section of a page."""

from __future__ import annotations

from typing import Any

from crowdopt.report.page import PageTable, Section

COLUMNS = {"use": "use", "when": "for instances with", "factor": "factor", "instances": "programs", "then": "then"}
NOTES = {
    "factor": "seconds as a multiple of the virtual best's, geometric mean over the row's programs",
    "instances": "measured; seeds of one recipe count once",
    "then": "the others that were measured on all of these, the best first",
}


def rows_of(decision: dict[str, Any]) -> list[dict[str, Any]]:
    """The decision's rows as a table has them."""
    return [
        {**row, "when": row["when"] or "all", "use": row["use"][0], "then": ", ".join(row["use"][1:])}
        for row in decision["rows"]
    ]


def sentence(decision: dict[str, Any]) -> str:
    """What following the decision costs."""
    said = (
        f"Following the table is expected to take {decision['expected']:.3g} times the seconds of the virtual best, "
        f"who always picks the fastest; the single best solver, {decision['single']}, takes "
        f"{decision['single_expected']:.3g} times. Each problem was left out once, and the table that the others make "
        "chose for it. A program that was not settled counts the limit, and up to twice as much the further its plan "
        "is from the best one known."
    )
    if len(decision["rows"]) == 1:
        return f"{said} A table of more rows does no better on problems that it does not know."
    return said


def decision_section(decision: dict[str, Any]) -> Section:
    """The section."""
    return Section(
        "Which method for which instance", [sentence(decision), PageTable(COLUMNS, rows_of(decision), NOTES)]
    )
