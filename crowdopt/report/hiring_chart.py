"""Charts of whom to hire: score and cost against the number of workers, score against cost."""

from __future__ import annotations

from typing import Any

from crowdopt.hire.selected import Frontier, Selection
from crowdopt.report.charts import WIDE, altair

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
