"""What an audit shows, as a page: the claim, how it was reached, claims held against what was seen."""

from __future__ import annotations

from typing import Any

from crowdopt.pages import Kind
from crowdopt.pages.charts import PALETTE, at, on, plot, sized
from crowdopt.pages.page import Chart, Folded, Page, PageTable, Section

GROUPS = {"group": "group", "answers": "answers", "claimed": "claimed error", "checked": "checked", "wrong": "wrong"}
SLICES = {
    "value": "answers",
    "answers": "number",
    "checked": "checked",
    "corrected": "corrected",
    "wrong_at_most": "still wrong, at most",
    "recall": "recall, at least",
}
SHARED = "All of these and the claim above hold together."
NOTES = {
    "recall": "share of the tasks of this class that are answered so",
    "claimed": "mean probability of a wrong answer by the model that gave the answers",
    "checked": "answers drawn from the group and looked at",
    "wrong": "of these; corrected",
}


def path_chart(facts: dict[str, Any]) -> Any:
    """The bound after every check, and the target; facts: of audit.json; -> of Altair."""
    n, left, first = facts["answers"], facts["left"], facts["drawn_checked"] + 1 - len(facts["left"])
    rows = [{"checks": first + k, "share": most / n} for k, most in enumerate(left)]
    across = on("checks:Q", "answers drawn and looked at")
    up = on("share:Q", "wrong answers left, at most", format=".0%")
    line = plot(rows, "line", {"x": across, "y": up}, interpolate="step-after", point=len(rows) == 1)
    return sized(line + at(facts["target"], "y", strokeDash=[6, 4], color=PALETTE[1]))


def page(facts: dict[str, Any]) -> Page:
    """The page of an audit; facts: of audit.json."""
    verdict = [facts["sentence"] + "."]
    reached = "is reached" if facts["certified"] else "is not reached"
    verdict.append(f"The target of {facts['target']:g} {reached}.")
    if facts["earlier"]:
        verdict.append(
            f"Together with {facts['earlier']} earlier audit(s): all claims hold with {100 * facts['confidence']:g} %."
        )
    rows = [{"group": k + 1, **group} for k, group in enumerate(facts["groups"])]
    parts = [
        ("drawn", facts["drawn_checked"], facts["drawn_wrong"]),
        ("least sure", facts["least_sure_checked"], facts["least_sure_wrong"]),
        ("others", facts["others_checked"], facts["others_wrong"]),
    ]
    looked = [{"part": part, "checked": checked, "wrong": wrong} for part, checked, wrong in parts]
    heads = {"part": "answers", "checked": "looked at", "wrong": "wrong, corrected"}
    chart = Chart(
        "The bound after every look", path_chart(facts), "Dashed: the target. Wrong answers found are corrected."
    )
    rest = {key: facts[key] for key in ("method", "seed", "delta", "expert_error", "commitment", "answers_sha256")}
    terms = PageTable(
        {"what": "what", "value": "value"}, [{"what": key, "value": value} for key, value in rest.items()]
    )
    slices = [{**one, "recall": facts["recall"].get(one["value"])} for one in facts["slices"]]
    by = Section(f"By {facts['by']}", [PageTable(SLICES, slices, NOTES, SHARED)])
    sections = [
        Section("How it was reached", [chart, PageTable(heads, looked)]),
        *([by] if slices else []),
        Section("Claims and what was seen", [PageTable(GROUPS, rows, NOTES, "Groups of equal claims, surest first.")]),
        Section("The draw", [Folded("what decided it", terms)]),
    ]
    return Page("Audit of answers", verdict, sections, f"crowdopt {facts['version']}, seed {facts['seed']}")


KIND = Kind("an audit of answers", "audit.json", "audit.json", page)
