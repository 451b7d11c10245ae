"""The page of an explanation: what it says, what each error target or number of rounds costs, prices and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from crowdopt.arrays import Floats
from crowdopt.pages import Kind
from crowdopt.pages.charts import cost_curve, cost_of_rounds
from crowdopt.pages.page import Chart, Folded, Page, PageTable, Section

Tables: TypeAlias = Mapping[str, Mapping[str, Sequence[Any]]]

MOST = 500  # rows of a table that are shown
LISTS = {
    "shortage": "What is missing, task by task",
    "tasks": "What one more task costs, at the margin",
    "workers": "What one more label by a worker saves at most",
    "curve": "Costs of error targets, as figures",
    "rounds": "Costs of rounds, as figures",
}


def _curve(table: Mapping[str, Sequence[Any]], facts: Mapping[str, Any]) -> Any:
    return cost_curve(*(_numbers(table[key]) for key in ("epsilon", "bound", "plan")))


def _rounds(table: Mapping[str, Sequence[Any]], facts: Mapping[str, Any]) -> Any:
    names = map(rounds_in_words, table["rounds"])
    costs = (_numbers(table[key]).tolist() for key in ("epsilon", "cost"))
    return cost_of_rounds(list(zip(names, *costs, strict=True)))


CHARTS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "curve": (
        "What each error target costs",
        "The line: what no plan undercuts. Points: plans found.",
        _curve,
    ),
    "rounds": ("What rounds cost", "More rounds cost less, as votes that are in decide who is asked next.", _rounds),
}


def rounds_in_words(rounds: Any) -> str:
    """A number of rounds; empty or None is no limit."""
    if rounds in ("", None):
        return "one vote at a time"
    return "1 round (fixed sets)" if int(rounds) == 1 else f"{int(rounds)} rounds"


def charts(tables: Tables, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Pictures of the tables that there are, by the tables' names."""
    return {name: draw(tables[name], facts) for name, (*_, draw) in CHARTS.items() if name in tables}


def _numbers(cells: Sequence[Any]) -> Floats:
    return np.array([np.nan if cell == "" else float(cell) for cell in cells])


def page(facts: Mapping[str, Any]) -> Page:
    """The page of what :func:`crowdopt.io.results.read_explanation` tells."""
    tables, told = facts["tables"], facts["facts"]
    drawn = charts(tables, told)
    costs = [Chart(CHARTS[name][0], drawing, CHARTS[name][1]) for name, drawing in drawn.items()]
    lists = [Folded(LISTS[name], _list(table)) for name, table in tables.items()]
    title = "what would help" if not told["feasible"] else "what more of anything is worth"
    sections = [Section("Costs", costs)] * bool(costs) + [Section("Lists", lists)]
    return Page(f"Explanation: {title}", told["said"], sections)


def _list(table: Mapping[str, Sequence[Any]]) -> PageTable:
    rows = len(next(iter(table.values())))
    cut = f"The first {MOST} of {rows}; the folder has all." if rows > MOST else ""
    shown = [dict(zip(table, map(_value, row), strict=True)) for row in zip(*table.values(), strict=True)][:MOST]
    return PageTable({key: key.replace("_", " ") for key in table}, shown, caption=cut)


def _value(cell: str) -> str | float | None:
    try:
        return None if cell == "" else float(cell)
    except ValueError:
        return cell


KIND = Kind("an explanation", "explain.json", None, page)
