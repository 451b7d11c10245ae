"""One look for every chart, and one way to write it down (extra ``plots``: Altair with vl-convert, no network).

What labels, audits, rounds and hires cost, as pictures.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from base64 import b64decode
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crowdopt.arrays import Floats
from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.hire.ranking import Frontier, Selection

MISSING = "charts need the extra plots: pip install 'crowdopt[plots]'"
SCRIPT = """
import base64, json, sys, vl_convert
made = []
try:
    for name, function, drawing, options in json.load(sys.stdin):
        picture = getattr(vl_convert, function)(drawing, **options)
        made.append(base64.b64encode(picture if isinstance(picture, bytes) else picture.encode()).decode())
except ValueError as error:
    print(f"{name} cannot be drawn: {error}", file=sys.stderr)
    sys.exit(9)
json.dump(made, sys.stdout)
"""
REFUSED = 9  # exit status of that: what is wrong stands on its standard error

PALETTE = ["#0b6e8a", "#d1682e", "#5b8c3a", "#8a5aa8", "#b8941f", "#7a7a7a", "#c2456b", "#3f4fa3"]
FONT = "Helvetica, Arial, sans-serif"
LOOK = {
    "background": "white",
    "font": FONT,
    "range": {"category": PALETTE},
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": "#e8e8e8",
        "domain": False,
        "labelFlush": False,
        "labelSeparation": 6,
    },
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 320},
    "title": {"fontSize": 15, "anchor": "start", "subtitleFontSize": 12, "subtitleColor": "#555"},
}
FUNCTIONS: dict[str, tuple[str, dict[str, float]]] = {  # of vl-convert, and their options
    ".png": ("vegalite_to_png", {"scale": 2.0}),  # sharp on a dense screen
    ".svg": ("vegalite_to_svg", {}),
}
WIDE = 440  # pixels of a picture whose chart would else be as wide as its page: a phone shows it whole


class Undrawn(InputError):
    """There is no picture of it, though nothing is wrong with the rest."""


def can_draw() -> bool:
    """Whether the extra ``plots`` is installed."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def altair() -> Any:
    """The charting library; a sentence where the extra is not installed."""
    try:
        import altair
    except ImportError:
        raise Undrawn(MISSING) from None
    return altair


def save(chart: Any, path: Path) -> None:
    """Write a chart as .png or .svg in the house's look, whole or not at all."""
    save_all({path.name: chart}, path.parent)


def save_all(charts: Mapping[str, Any], folder: Path) -> None:
    """Write charts by the names of their files."""
    for name, content in drawn(charts).items():
        with draft(folder / name) as file:
            file.write(content)


def drawn(charts: Mapping[str, Any]) -> dict[str, bytes]:
    """Charts in the house's look as .png or .svg, by their names' endings; no two have a name inside in common.

    They are drawn in a process of its own, as the engine ends one that gets too little memory by a signal. Raises
    Undrawn if one of them cannot be drawn, or ``plots`` is missing.
    """
    jobs = []
    for name, chart in charts.items():
        if Path(name).suffix not in FUNCTIONS:
            raise InputError(f"{name}: a chart is written as {' or '.join(FUNCTIONS)}")
        function, options = FUNCTIONS[Path(name).suffix]
        drawing = chart.configure(**LOOK).to_dict()
        if drawing.get("width") == "container":
            drawing["width"] = WIDE
        jobs.append((name, function, drawing, options))
    if jobs and find_spec("vl_convert") is None:
        raise Undrawn(MISSING)
    return dict(zip(charts, _converted(jobs), strict=True)) if jobs else {}


def _converted(jobs: Sequence[tuple[str, str, Any, dict[str, float]]]) -> list[bytes]:
    command, said = [sys.executable, "-P", "-c", SCRIPT], "the process that draws ended with "
    try:
        done = subprocess.run(command, input=json.dumps(jobs).encode(), capture_output=True)
        if done.returncode == 0:
            return [b64decode(one) for one in json.loads(done.stdout)]
        if done.returncode == REFUSED:
            raise Undrawn(" ".join(done.stderr.decode().split()))
        code = done.returncode
        said += f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    except OSError as error:
        said = str(error)
    names = ", ".join(name for name, *_ in jobs)
    raise Undrawn(f"{names} cannot be drawn: {said}; it may need more memory than it gets")


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
