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
NAMES = {
    "assignment ip": "Who labels what: plans in whole labels",
    "assignment lp": "Who labels what: linear programs, for prices and bounds",
    "selection ip": "Whom to hire: selection programs",
    "hiring ip": "Whom to hire within a sum of money",
    "hiring lp": "Whom to hire within a sum of money: linear relaxations",
    "selection lp": "Whom to hire: their linear relaxations",
    "foreign ip": "Programs of others",
    "foreign lp": "Programs of others: linear relaxations",
}
OUTCOMES = {
    "proven": "the optimum, by multipliers that were checked outside the solver's process",
    "vouched": "a feasible point that only the solver vouches to be optimal",
    "rough": "called optimal, but off by more than 1e-6",
    "feasible": "a plan that holds, not called optimal",
    "infeasible": "there is no plan, so it says",
    "nothing": "no answer within the limits",
    "out of time": "had to be killed past the time limit",
    "out of memory": "had to be killed at the memory limit",
    "crashed": "its process died",
    "failed": "ended with an error",
    "refused": "said that it cannot solve this",
    "wrong": "claimed what is not true",
}
METHODS = {key: key for key in ("method", "settled", "cases", "seconds")} | {
    "seconds_low": "from",
    "seconds_high": "to",
    "mean_gap": "mean gap",
    "megabytes": "MB",
    "load": "load s",
    "cores": "cores",
}
NOTES = {
    "settled": "proven, vouched or infeasible",
    "seconds": "shifted geometric mean (shift 1 s) of what a user waits for; what is not settled counts the limit",
    "seconds_low": "95 % bootstrap interval over seeds",
    "seconds_high": "95 % bootstrap interval over seeds",
    "mean_gap": "at the end, over the cases with a plan",
    "megabytes": "median of the most memory that the process tree held, libraries included",
    "load": "median seconds to load libraries and compiled code, counted apart",
    "cores": "median of processor seconds a second, where a run took more than one",
    **OUTCOMES,
}
ROWS = {
    key: key.replace("_", " ")
    for key in (
        *("problem", "seed", "method", "outcome", "value", "bound", "gap", "proof", "violation", "total", "build"),
        *("hand_over", "solve", "read_back", "load", "wall", "megabytes", "claimed", "why"),
    )
} | {"total": "seconds", "megabytes": "MB"}


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
    seen = [outcome for outcome in OUTCOMES if any(outcome in row for row in comparison["methods"])]
    columns = {**METHODS, **{outcome: outcome for outcome in seen}}
    limit = summary["limits"]["seconds"]
    means = f"Shifted geometric means with 95 % intervals over seeds; what is not settled counts {limit:g} s."
    shares = (
        f"Of all cases, by the first {MOST}: how many a method settled within a factor of the fastest one's seconds."
    )
    parts: list[Part] = [
        Chart("How many cases each method settled, and how fast", means_chart(comparison), means),
        PageTable(columns, comparison["methods"], NOTES, "Who settled most comes first, then who was fastest."),
        Chart("Within a factor of the fastest", profile_chart(comparison), shares),
        Folded("Every row", PageTable(ROWS, comparison["results"], {"why": "what is wrong, or who proved it"})),
    ]
    kind = f"{comparison['family']} {comparison['program']}"
    return Section(NAMES.get(kind, kind), parts)


def _first(comparison: dict[str, Any]) -> list[str]:
    return [row["method"] for row in comparison["methods"][:MOST]]


def _only(rows: Sequence[dict[str, Any]], methods: Sequence[str]) -> list[dict[str, Any]]:
    return [row for row in rows if row["method"] in methods]


def means_chart(comparison: dict[str, Any]) -> Any:
    """Mean seconds of each method with their intervals, and how many cases it settled."""
    rows = [{**row, "name": f"{row['method']}  {row['settled']}/{row['cases']}"} for row in comparison["means"]]
    y = on("name:N", sort=[row["name"] for row in rows], labelLimit=220)
    x, low = (on(f"{key}:Q", "seconds", log=True, padding=12, **TICKS) for key in ("seconds", "seconds_low"))
    span = plot(rows, "rule", {"x": low, "x2": {"field": "seconds_high"}, "y": y}, strokeWidth=2, opacity=0.5)
    dots = plot(rows, "circle", {"x": x, "y": y}, size=90, opacity=1, tips=("method:N", "settled:Q", "seconds:Q"))
    return sized(span + dots, 22 * len(rows))


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
    run, limits = summary["run"], summary["limits"]
    machine = f"{run['system']}, {run['cores']} cores, {run['memory_gb']:g} GB, Python {run['python']}"
    said = (
        f"Each subject ran in a process of its own with {limits['seconds']:g} s for the solver, "
        f"{limits['megabytes']:g} MB for the whole process tree and {limits['threads']} thread(s), after a warm-up on "
        "a tiny program; the order of methods turned from case to case. Feasibility, value, gap and bounds were "
        f"recomputed outside that process. Started {run['started']} on {machine}."
    )
    meanings = [{"outcome": outcome, "meaning": meaning} for outcome, meaning in OUTCOMES.items()]
    return Section("Conditions", [said, PageTable({"outcome": "outcome", "meaning": "meaning"}, meanings)])


def _footer(summary: dict[str, Any]) -> str:
    libraries = {"crowdopt": summary["versions"]["crowdopt"], **summary["run"]["libraries"]}
    return "Versions: " + ", ".join(f"{name} {version}" for name, version in libraries.items())


KIND = Kind("a benchmark", "bench.json", "summary.json", page)
