"""One look for every chart, and one way to write it down (extra ``plots``: Altair with vl-convert, no network)."""

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

from crowdopt.errors import InputError
from crowdopt.files import draft

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
