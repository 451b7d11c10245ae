"""One look for every chart, and one way to write it down (extra ``plots``: Altair with vl-convert, no network).

What labels, audits, rounds and hires cost, as pictures.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
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
    "mark": {"color": PALETTE[0]},
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
WIDE, HEIGHT = 440, 260  # pixels: a phone shows it whole
SCALE = ("type", "zero", "domain", "nice", "padding", "paddingInner")  # words of a channel that are its scale's
TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
GREY = "#555"


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
        jobs.append((name, function, chart.configure(**LOOK).to_dict(), options))
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


def on(field: str, title: str | None = None, **words: Any) -> dict[str, Any]:
    """An axis: ``field:Q``, its title, and words of its scale or axis, as Vega-Lite has them; ``log=True`` is short."""
    if words.pop("log", False):
        words["type"] = "log"
    sort = {"sort": words.pop("sort")} if "sort" in words else {}
    scale = {key: words.pop(key) for key in SCALE if key in words}
    return {**_named(field), "title": title, **sort, **({"scale": scale} if scale else {}), "axis": words}


def hue(field: str, sort: Sequence[str] | None = None, **words: Any) -> dict[str, Any]:
    """Colours by a field, in the order given or met, and words of the legend, which stands above."""
    return {**_named(field), "title": None, "sort": sort and list(sort), "legend": {"orient": "top", **words}}


def _named(field: str) -> dict[str, str]:
    name, kind = field.split(":")
    return {"field": name, "type": TYPES[kind]}


def plot(rows: Iterable[Mapping[str, Any]], mark: str, channels: Mapping[str, Any], **look: Any) -> Any:
    """Rows as marks (an Altair chart; ``+`` lays one over another); look: of the mark, as Vega-Lite has it."""
    values = json.loads(json.dumps([dict(row) for row in rows]))
    tips = {"tooltip": [_named(one) for one in look.pop("tips")]} if "tips" in look else {}
    drawing = {"data": {"values": values}, "mark": {"type": mark, **look}, "encoding": {**channels, **tips}}
    return altair().Chart.from_dict(drawing)


def sized(chart: Any, height: float = HEIGHT) -> Any:
    """A chart as wide as a phone."""
    return chart.properties(width=WIDE, height=height)


def at(across: float, key: str = "x", **look: Any) -> Any:
    """A line at a place of an axis."""
    return plot([{"at": across}], "rule", {key: {"field": "at", "type": "quantitative"}}, **look)


def cost_curve(epsilon: Floats, bound: Floats, plan: Floats) -> Any:
    """Cost against epsilon, (points,), on logarithmic scales: what no plan undercuts, and plans found or NaN."""
    least, found = (
        [{"epsilon": e, "cost": c, "what": what} for e, c in zip(epsilon.tolist(), cost.tolist(), strict=True) if c > 0]
        for what, cost in (("no plan costs less", bound), ("a plan", plan))
    )
    up, colour = on("cost:Q", "cost of the labels", log=True, zero=False, nice=True), hue("what:N", orient="bottom")
    channels = {"x": on("epsilon:Q", "error target of every task", log=True), "y": up, "color": colour}
    return sized(plot(least, "line", channels) + plot(found, "point", channels, filled=True, size=50))


def cost_of_rounds(points: list[tuple[str, float, float]]) -> Any:
    """Cost against the mean target; points: rounds in words, target, cost. The last line is what no plan undercuts."""
    names = list(dict.fromkeys(name for name, *_ in points))
    shown = {name: f"{name}: no adaptive plan costs less" if name == names[-1] else name for name in names}
    rows = [{"rounds": shown[name], "epsilon": target, "cost": cost} for name, target, cost in points]
    across = on("epsilon:Q", "error target (mean)", zero=False, format="%")
    colour = hue("rounds:N", list(shown.values()), orient="bottom", columns=1)
    channels = {"x": across, "y": on("cost:Q", "expected cost", zero=True), "color": colour}
    last = [row for row in rows if row["rounds"] == shown[names[-1]]]
    lines = plot([row for row in rows if row not in last], "line", channels, point=True)
    return sized(lines + plot(last, "line", channels, point=True, strokeDash=[6, 3]))


def hiring_chart(selection: Selection, frontier: Frontier | None = None) -> Any:
    """Panels one above the other: score and cost by number of workers, score by cost; what was chosen is marked."""
    scores, costs = selection.score_by_size.tolist(), selection.cost_by_size
    sizes, best = list(range(1, len(scores) + 1)), "the best of each number, by rank"
    hired = float(len(selection.members))
    panels = [_panel(sizes, scores, best, (hired, selection.score), "number of workers", "score of the set")]
    if costs is not None:
        panels.append(_panel(sizes, costs.tolist(), best, (hired, selection.cost), "number of workers", "cost"))
    if frontier is not None and frontier.cost is not None:
        across, up = frontier.cost.tolist(), frontier.score.tolist()
        what = "no cheaper set scores as much"
        panels.append(_panel(across, up, what, (selection.cost, selection.score), "cost", "score of the set"))
    return altair().vconcat(*panels)


def _panel(across: list[Any], up: list[Any], what: str, chosen: tuple[Any, Any], x: str, y: str) -> Any:
    rows = [{"x": float(a), "y": float(b), "what": what} for a, b in zip(across, up, strict=True)]
    mark = [{"x": float(chosen[0]), "y": float(chosen[1]), "what": "hired"}] if None not in chosen else []
    whole = {} if x == "cost" else {"tickMinStep": 1}
    channels = {"x": on("x:Q", x, **whole), "y": on("y:Q", y, zero=False), "color": hue("what:N", [what, "hired"])}
    line = plot(rows, "line", channels, point=True, interpolate="step-after" if x == "cost" else "linear")
    return sized(line + plot(mark, "point", channels, size=180, filled=True, opacity=0.9))
