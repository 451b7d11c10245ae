"""What rules of thumb cost and err, as a page: beside their families and the best plan there is."""

from __future__ import annotations

from typing import Any

from crowdopt.pages import Kind
from crowdopt.pages.charts import PALETTE, on, plot, sized
from crowdopt.pages.page import Chart, Folded, Page, PageTable, Section

RULES = {
    "rule": "rule",
    "labels": "labels",
    "cost": "cost",
    "error": "wrong",
    "end": "get all",
    "expert": "to the expert",
    "sibling": "best of its shape",
    "sibling_cost": "costs",
    "best_cost": "best plan",
    "waste": "wasted",
}
NOTES = {
    "labels": "mean of a task",
    "end": "share of the tasks that get all labels there can be",
    "best_cost": "of the same votes, for as few wrong answers: proven",
    "waste": "share of the cost that the best plan saves",
}
KIN = {"rule": "rule", "cost": "cost", "error": "wrong"}


def _curve(rule: dict[str, Any]) -> Any:
    """Cost against error: the frontier, the family, the rule; -> of Altair."""
    x = on("error:Q", "wrong answers", log=True, format="~g")
    y = on("cost:Q", "cost of a task", zero=False)
    line = plot(rule["frontier"], "line", {"x": x, "y": y}, strokeWidth=2)
    least = min(one["error"] for one in rule["frontier"])
    kin = [one for one in rule["siblings"] if one["error"] >= least]
    family = plot(kin, "circle", {"x": x, "y": y}, size=40, opacity=0.7, color=PALETTE[2], tips=("rule:N", "cost:Q"))
    here = [{"rule": rule["rule"], "cost": rule["cost"], "error": rule["error"]}]
    own = plot(here, "point", {"x": x, "y": y}, size=160, filled=True, color=PALETTE[1], tips=("rule:N", "cost:Q"))
    return sized(line + family + own, 280)


def page(facts: dict[str, Any]) -> Page:
    """The page of priced rules; facts: of rules.json."""
    rules = facts["rules"]
    verdict = [f"{said.strip()[0].upper()}{said.strip()[1:]}." for said in facts["said"]]
    sections = [Section("The rules", [PageTable(RULES, rules, NOTES)])]
    for rule in rules:
        if rule["frontier"] and rule["error"] > 0:
            words = "Line: the least cost of any plan of these votes. Small dots: rules of the shape. Large: the rule."
            chart = Chart("Cost against error", _curve(rule), words)
            table = Folded("Rules of its shape that no other of them beats", PageTable(KIN, rule["siblings"]))
            sections.append(Section(rule["rule"], [chart, table]))
        elif rule["siblings"]:
            sections.append(Section(rule["rule"], [PageTable(KIN, rule["siblings"])]))
    return Page(f"Rules for {facts['source']}", verdict, sections, f"crowdopt {facts['version']}")


KIND = Kind("priced rules", "rules.json", "rules.json", page)
