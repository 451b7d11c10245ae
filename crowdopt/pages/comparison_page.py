"""A comparison of online policies as a page and as charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from crowdopt.notebooks import number
from crowdopt.pages import Kind
from crowdopt.pages.charts import GREY, at, hue, on, plot, sized
from crowdopt.pages.page import Chart, Page, PageTable, Section, of_rule

Line: TypeAlias = Mapping[str, Any]

KINDS = ("gold", "exploration", "work", "repair", "check")
COLUMNS = {  # of the HTML page
    "policy": "policy",
    "cost": "cost",
    "ratio_bound": "/ bound",
    "ratio_possible": "/ possible",
    "ratio_promise": "/ promise",
    "missed_share": "missed %",
    "labels": "labels",
    "labels_gold": "of them gold",
    "short_share": "short tasks %",
    "short_mean": "shortfall %",
    "error_realised": "error %",
    "error_claimed": "claimed %",
    "unfinished": "unsure %",
}
SHARES = ("short_share", "missed_share", "short_mean", "error_realised", "error_claimed", "unfinished")
NOTES = {
    "ratio_bound": "cost over what no offline plan of the rule that policies go by undercuts, skills known",
    "ratio_possible": "cost over what no policy undercuts that keeps the mean error target",
    "ratio_promise": "cost over what no offline plan undercuts whose exact errors keep the targets, skills known",
    "missed_share": "tasks whose best vote, exactly computed, errs above its target",
    "short_share": "tasks that got less evidence than they need",
    "short_mean": "evidence that is missing, of what is needed",
    "error_realised": "answers that were wrong",
    "error_claimed": "what the policy itself believes",
    "unfinished": "tasks that the policy believes to be worse than their target",
}
PICTURES = {
    "labels": (
        "Where the money goes",
        "Mean cost of a run by kind of label; the line is the offline bound named above.",
    ),
    "errors": ("Errors against cost", "Further left and lower is better; dashed: what no policy undercuts."),
    "ratios": ("Cost against shortfall", "A low cost counts only where little is missing."),
}


def _held_against(optimum: Line) -> list[str]:
    """The promise's optimum first, then that of the rule which policies go by."""
    linear = f"The campaign has no offline plan{_of_rule(optimum)} at all"
    linear += "." if optimum.get("promise") else ", so there is nothing to hold costs against."
    if optimum["bound"] is not None:
        proof = "proven by multipliers" if optimum["proof"] == "certificate" else "on the solver's word"
        least = f"at least {number(optimum['bound'])} ({proof}), LP {number(optimum['lp'])}.{_best(optimum['found'])}"
        linear = f"Offline optimum{_of_rule(optimum)}, skills known: {least}"
    return [*_promised(optimum), linear]


def _of_rule(optimum: Line) -> str:
    return of_rule(optimum.get("rule", ""))


def _promised(optimum: Line) -> list[str]:
    if not optimum.get("promise"):
        return []
    promised = of_rule(optimum["promise"])
    if optimum["promise_bound"] is None:
        return [f"There is no offline plan{promised}."]
    least = f"at least {number(optimum['promise_bound'])} (proven by multipliers).{_best(optimum['promise_found'])}"
    relation = (
        "which implies it"
        if optimum.get("implied", True)
        else "with needs that are mostly enough where tasks may be hard"
    )
    implied = f"Policies go by rule {optimum['rule']}, {relation}."
    return [f"Offline optimum{promised}, skills known: {least} {implied}"]


def _best(found: float | None) -> str:
    return "" if found is None else f" The best offline plan found costs {number(found)}."


def constant_sentence(error: float) -> str:
    """What the commonest answer would have scored."""
    return f"Without any label: always the commonest true answer is wrong {error:.4f} of the time."


def possible_sentence(possible: Line) -> str:
    """The lower bounds in words."""
    if possible["cost"] is None:
        return "By the model no policy keeps the mean error target: all the labels there are do not suffice."
    told = _figure(possible["information"])
    known = "" if possible["known"] is None else f", {_figure(possible['known'])} with skills known"
    unknown = "" if possible["unknown"] is None else f", {_figure(possible['unknown'])} with skills to be found out"
    hint = " (an indication: it takes skills in different types as independent)" if not possible["independent"] else ""
    return (
        f"By the model no policy keeps the mean error target for less than {_figure(possible['cost'])}, gold included: "
        f"{told} by information alone{known}{unknown}{hint if unknown else ''}."
    )


def _figure(value: float | None) -> str:
    return "no sum" if value is None else f"{value:.1f}"


def charts(summary: Sequence[Line], optimum: Line, possible: Line | None = None) -> dict[str, Any]:
    """By name: labels by kind against the bound; cost against shortfall; error against cost beside what is possible."""
    curve = [] if not possible else possible["curve"]
    drawn = [line for line in summary if line["trials"]]  # a policy that failed has nothing to draw
    pictures = {"labels": _labels_chart(drawn, optimum), "errors": _errors_chart(drawn, curve)}
    if optimum["bound"] is not None:
        pictures["ratios"] = _ratio_chart(drawn)
    return pictures


def _labels_chart(summary: Sequence[Line], optimum: Line) -> Any:
    rows = [
        {"policy": line["policy"], "cost": line[f"cost_{kind}"], "kind": kind, "place": k}
        for line in summary
        for k, kind in enumerate(KINDS)
        if line[f"cost_{kind}"]
    ]
    channels = {
        "x": on("cost:Q", f"mean cost of a run; the line is what no plan{_of_rule(optimum)} can beat"),
        "y": on("policy:N", sort=[line["policy"] for line in summary], labelLimit=320),
        "color": hue("kind:N", KINDS),
        "order": {"field": "place", "type": "quantitative"},
    }
    bars, height = plot(rows, "bar", channels), 20 * len(summary)
    return sized(bars if optimum["bound"] is None else bars + at(optimum["bound"], strokeWidth=2), height)


def _ratio_chart(summary: Sequence[Line]) -> Any:
    rows = [
        _dot(line, "ratio_bound", 100 * line["short_mean"], half=line.get("ratio_bound_half") or 0) for line in summary
    ]
    return sized(_scatter(rows, "cost / certified offline bound", "mean shortfall, % of the need"))


def _errors_chart(summary: Sequence[Line], curve: Sequence[Sequence[float]]) -> Any:
    known = [line for line in summary if line.get("error_realised") is not None]
    rows = [_dot(line, "cost", line["error_realised"]) for line in known]
    across, up = "cost in all, gold included; dashed: less is impossible", "share of wrong answers"
    dots = _scatter(rows, across if curve else across.partition(";")[0], up)
    highest = max([row["y"] for row in rows], default=0.0)
    points = [{"x": cost, "y": error} for error, cost in curve if error <= max(1.2 * highest, curve[0][0])]
    if len(points) < 2:
        return sized(dots)
    channels = {"x": on("x:Q", across), "y": on("y:Q", up), "order": {"field": "y", "type": "quantitative"}}
    return sized(plot(points, "line", channels, strokeDash=[6, 4], color=GREY) + dots)


def _dot(line: Line, across: str, up: float, half: float = 0.0) -> dict[str, Any]:
    x = line[across]
    return {"policy": line["policy"], "x": x, "low": x - half, "high": x + half, "y": up}


def _scatter(rows: list[dict[str, Any]], across: str, up: str) -> Any:
    order = [row["policy"] for row in rows]
    alike = {"y": on("y:Q", up), "color": hue("policy:N", order, columns=3)}
    shape = {"field": "policy", "type": "nominal", "sort": order, "legend": None}
    dot = {**alike, "x": on("x:Q", across, zero=False), "shape": shape}
    span = {**alike, "x": on("low:Q", across), "x2": {"field": "high"}}
    return plot(rows, "rule", span) + plot(rows, "point", dot, size=110, filled=True, opacity=0.9)


def page(facts: dict[str, Any]) -> Page:
    """The page of a comparison."""
    optimum, summary, possible = facts["optimum"], facts["policies"], facts.get("possible")
    drawn = charts(summary, optimum, possible)
    parts = [Chart(title, drawn[name], caption) for name, (title, caption) in PICTURES.items() if name in drawn]
    notes = [f"{line['policy']}: {note}" for line in summary for note in line["notes"]]
    for key, what in (("refused", "labels that could not be had"), ("over_capacity", "labels beyond capacities")):
        notes += [f"{line['policy']}: {line[key]:.0f} {what}, on average" for line in summary if line.get(key)]
    figures = PageTable(COLUMNS, [_plain(line) for line in summary], NOTES, f"Means over {facts['trials']} trials.")
    sections = [Section("Side by side", [figures, *notes]), Section("Pictures", parts)]
    title = facts["title"] or "online policies"
    return Page(f"Comparison: {title}", _verdict(facts), sections, f"crowdopt {facts['version']}, seed {facts['seed']}")


def _verdict(facts: Line) -> list[str]:
    said = _held_against(facts["optimum"])
    if facts.get("possible"):
        said.append(possible_sentence(facts["possible"]))
    if facts.get("breach"):
        said.append(f"The crowd breaks the model: {facts['breach']}. Bounds and targets are those of the campaign.")
    if facts.get("constant_error") is not None:
        said.append(constant_sentence(facts["constant_error"]))
    said.append(
        f"{facts['trials']} trials; every policy saw the same orders of arrival and the same label of each pair."
    )
    advice = facts["advice"][:1].upper() + facts["advice"][1:]
    return [f"{advice}.", *said, *facts.get("failed", [])]


def _plain(line: Line) -> dict[str, Any]:
    return {**line, **{key: None if line.get(key) is None else 100 * line[key] for key in SHARES}}


KIND = Kind("a comparison", "comparison.json", "comparison.json", page)
