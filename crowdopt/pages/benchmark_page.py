"""The page of a benchmark: the verdict, who settled what how fast, and every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdopt.pages import Kind
from crowdopt.pages.charts import hue, on, plot, sized
from crowdopt.pages.page import Chart, Folded, Page, PageTable, Part, Section

LEVEL = 10.0  # times the fastest: as far as curves are drawn that nothing raises
MOST = 8  # lines in a chart that can still be told apart: the first of the ranking
TICKS = {"format": "~g", "tickCount": 5, "labelOverlap": True}
METHODS = {key: key for key in ("method", "settled", "cases", "proven", "seconds")} | {
    "par2": "PAR-2",
    "worst_gap": "worst gap",
    "claims": "claims",
    "false": "false",
    "megabytes": "MB",
}
NOTES = {
    "settled": "proven, vouched or infeasible",
    "proven": "by multipliers that were checked outside the solver's process",
    "seconds": "shifted geometric mean (shift 1 s) of what a user waits for; what is not settled counts the limit",
    "par2": "mean seconds; what is not settled counts twice the limit",
    "worst_gap": "at the end, over the cases with a plan",
    "claims": "answers that claim something: a plan, an optimum, a bound, that there is no plan",
    "false": "of these claims, how many are not true, or are rough",
    "megabytes": "the most memory that a process tree held, libraries included",
}
ROWS = {
    **{key: key for key in ("problem", "seed", "method", "outcome", "value", "bound", "gap", "proof", "violation")},
    "seconds": "seconds",
    "megabytes": "MB",
    "claimed": "claimed",
    "why": "why",
}


def page(summary: dict[str, Any]) -> Page:
    """The page that a summary says."""
    sections = [_section(one, summary) for one in summary["comparisons"]]
    return Page(
        f"Benchmark: {summary['title']}", _verdict(summary), [*sections, _conditions(summary)], _footer(summary)
    )


def _verdict(summary: dict[str, Any]) -> list[str]:
    said: list[str] = summary["verdict"]
    missing = summary["missing"]
    return [f"Unfinished: {missing} more rows are to come.", *said] if missing else said


def _section(comparison: dict[str, Any], summary: dict[str, Any]) -> Section:
    meant = summary["outcomes"]
    seen = [outcome for outcome in meant if any(outcome in row for row in comparison["methods"])]
    columns = {**METHODS, **{outcome: outcome for outcome in seen}}
    means = f"Shifted geometric means; what is not settled counts {summary['limits']['seconds']:g} s."
    shares = (
        f"Of all cases, by the first {MOST}: how many a method settled within a factor of the fastest one's seconds."
    )
    parts: list[Part] = [
        PageTable(columns, comparison["methods"], NOTES | meant, "Who settled most comes first, then who was fastest."),
        Chart("How many cases each method settled, and how fast", means_chart(comparison), means),
        Chart("Within a factor of the fastest", profile_chart(comparison), shares),
        Folded("Every row", PageTable(ROWS, comparison["results"], {"why": "what is wrong, or who proved it"})),
    ]
    kind = comparison["kind"]
    return Section(kind[0].upper() + kind[1:], parts)


def _first(comparison: dict[str, Any]) -> list[str]:
    return [row["method"] for row in comparison["methods"][:MOST]]


def _only(rows: Sequence[dict[str, Any]], methods: Sequence[str]) -> list[dict[str, Any]]:
    return [row for row in rows if row["method"] in methods]


def means_chart(comparison: dict[str, Any]) -> Any:
    """Mean seconds of each method, and how many cases it settled."""
    rows = [{**row, "name": f"{row['method']}  {row['settled']}/{row['cases']}"} for row in comparison["methods"]]
    y = on("name:N", sort=[row["name"] for row in rows], labelLimit=220)
    x = on("seconds:Q", "seconds", log=True, padding=12, **TICKS)
    dots = plot(rows, "circle", {"x": x, "y": y}, size=90, opacity=1, tips=("method:N", "settled:Q", "seconds:Q"))
    return sized(dots, 22 * len(rows))


def profile_chart(comparison: dict[str, Any]) -> Any:
    """Performance profiles."""
    methods = _first(comparison)
    x = on("factor:Q", "factor of the fastest", log=True, **TICKS)
    y = on("share:Q", "cases settled", domain=[0, 1], format="%")
    colour = hue("method:N", methods, orient="bottom", columns=2)
    rows = _drawable(_only(comparison["profile"], methods))
    lines = plot(rows, "line", {"x": x, "y": y, "color": colour}, interpolate="step-after", strokeWidth=2)
    return sized(lines, 300)


def _drawable(profile: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where one method at most settles anything, each curve is a point: it goes on, as level as it is."""
    if any(row["factor"] > 1 for row in profile):
        return profile
    return [*profile, *({**row, "factor": LEVEL} for row in profile)]


def _conditions(summary: dict[str, Any]) -> Section:
    limits = summary["limits"]
    said = (
        f"Each run had a process of its own with {limits['seconds']:g} s for the solver, {limits['megabytes']:g} MB "
        f"for the whole process tree and {limits['threads']} thread(s); libraries were loaded before the clock began; "
        "the order of methods turned from case to case. Feasibility, value, gap and bounds were recomputed outside "
        f"that process. Machine: {summary['machine']}."
    )
    meanings = [{"outcome": outcome, "meaning": meaning} for outcome, meaning in summary["outcomes"].items()]
    return Section("Conditions", [said, PageTable({"outcome": "outcome", "meaning": "meaning"}, meanings)])


def _footer(summary: dict[str, Any]) -> str:
    return "Versions: " + ", ".join(f"{name} {version}" for name, version in summary["versions"].items())


KIND = Kind("a benchmark", "bench.json", "summary.json", page)
