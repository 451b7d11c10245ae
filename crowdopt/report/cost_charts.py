"""What labels, audits, rounds and hires cost, as pictures."""

from __future__ import annotations

from typing import Any

from crowdopt.arrays import Floats
from crowdopt.hire.selection import Frontier, Selection
from crowdopt.report.charts import WIDE, altair


def cost_curve(epsilon: Floats, bound: Floats, plan: Floats) -> Any:
    """Cost against epsilon, (points,), on logarithmic scales: what no plan undercuts, and plans found or NaN."""
    alt = altair()
    rows = [
        {"epsilon": e, "cost": c, "what": what}
        for what, values in (("no plan costs less", bound), ("a plan", plan))
        for e, c in zip(epsilon.tolist(), values.tolist(), strict=True)
        if c == c and c > 0
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("epsilon:Q", scale=alt.Scale(type="log"), title="error target of every task"),
        y=alt.Y("cost:Q", scale=alt.Scale(type="log", zero=False, nice=True), title="cost of the labels"),
        color=alt.Color("what:N", title=None, legend=alt.Legend(orient="top")),
    )
    line = base.transform_filter("datum.what == 'no plan costs less'").mark_line()
    return (line + base.transform_filter("datum.what == 'a plan'").mark_point(filled=True, size=50)).properties(
        width=WIDE, height=300
    )


def cost_of_rounds(points: list[tuple[str, float, float]]) -> Any:
    """Cost against the mean target; points: rounds in words, target, cost. The last line is what no plan undercuts."""
    alt = altair()
    names = list(dict.fromkeys(name for name, *_ in points))
    shown = {name: f"{name}: no adaptive plan costs less" if name == names[-1] else name for name in names}
    rows = [{"rounds": shown[name], "epsilon": target, "cost": cost} for name, target, cost in points]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("epsilon:Q", scale=alt.Scale(zero=False), title="error target (mean)", axis=alt.Axis(format="%")),
            y=alt.Y("cost:Q", scale=alt.Scale(zero=True), title="expected cost"),
            strokeDash=alt.condition(alt.datum.rounds == shown[names[-1]], alt.value([6, 3]), alt.value([1, 0])),
            color=alt.Color(
                "rounds:N", sort=list(shown.values()), title=None, legend=alt.Legend(orient="bottom", columns=1)
            ),
        )
        .properties(width=WIDE, height=300)
    )


def total_cost(epsilon: Floats, labels: Floats, total: Floats, experts_alone: float) -> Any:
    """Cost against the error that labels are planned for: labels alone, labels with their audit, experts alone.

    epsilon (k,): errors that labels are planned for; labels, total (k,): what the labels cost, and with their audit;
    experts_alone: what it costs to have an expert answer every task.
    """
    alt = altair()
    rows = [
        {"epsilon": e, "cost": cost, "what": what}
        for what, values in (("labels and audit", total), ("labels alone, nothing certified", labels))
        for e, cost in zip(epsilon.tolist(), values.tolist(), strict=True)
    ]
    rows += [{"epsilon": e, "cost": experts_alone, "what": "experts alone"} for e in epsilon.tolist()]
    best = min((row for row in rows if row["what"] == "labels and audit"), key=lambda row: row["cost"])
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("epsilon:Q", scale=alt.Scale(type="log"), title="error that the labels are planned for"),
        y=alt.Y("cost:Q", title="cost", scale=alt.Scale(type="log", zero=False, nice=True)),
        color=alt.Color("what:N", title=None, sort=None, legend=alt.Legend(orient="bottom")),
    )
    point = alt.Chart(alt.Data(values=[best])).mark_point(filled=True, size=80).encode(x="epsilon:Q", y="cost:Q")
    return (base.mark_line() + point).properties(width=480, height=300)


HEIGHT = 240


def hiring_chart(selection: Selection, frontier: Frontier | None = None) -> Any:
    """Panels one above the other: score and cost by number of workers, score by cost; what was chosen is marked."""
    scores, costs = selection.score_by_size.tolist(), selection.cost_by_size
    sizes, best = list(range(1, len(scores) + 1)), "the best of each number, by rank"
    hired = float(len(selection.members))
    panels = [_panel(sizes, scores, best, (hired, selection.score), "workers", "score")]
    if costs is not None:
        panels.append(_panel(sizes, costs.tolist(), best, (hired, selection.cost), "workers", "cost"))
    if frontier is not None and frontier.cost is not None:
        across, up = frontier.cost.tolist(), frontier.score.tolist()
        what = "no cheaper set scores as much"
        panels.append(_panel(across, up, what, (selection.cost, selection.score), "cost", "score"))
    return altair().vconcat(*panels)


def _panel(across: list[Any], up: list[Any], what: str, chosen: tuple[Any, Any], across_name: str, up_name: str) -> Any:
    alt = altair()
    rows = [{"x": float(a), "y": float(b), "what": what} for a, b in zip(across, up, strict=True)]
    mark = [{"x": float(chosen[0]), "y": float(chosen[1]), "what": "hired"}] if None not in chosen else []
    titles = {"workers": "number of workers", "cost": "cost", "score": "score of the set"}
    x = alt.X("x:Q", title=titles[across_name], axis=alt.Axis(tickMinStep=1 if across_name == "workers" else 0))
    y = alt.Y("y:Q", title=titles[up_name], scale=alt.Scale(zero=False))
    colour = alt.Color("what:N", title=None, legend=alt.Legend(orient="top"), sort=[what, "hired"])
    shape = "step-after" if across_name == "cost" else "linear"
    line = alt.Chart(alt.Data(values=rows)).mark_line(point=True, interpolate=shape).encode(x=x, y=y, color=colour)
    dot = alt.Chart(alt.Data(values=mark)).mark_point(size=180, filled=True, opacity=0.9).encode(x=x, y=y, color=colour)
    return (line + dot).properties(width=WIDE, height=HEIGHT)
