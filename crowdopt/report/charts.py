"""One look for every chart, and one way to write it down (extra ``plots``: Altair with vl-convert, no network)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crowdopt.errors import InputError
from crowdopt.files import draft
from crowdopt.report.converter import MISSING as MISSING
from crowdopt.report.converter import Undrawn as Undrawn
from crowdopt.report.converter import converted

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
SUFFIXES = (".png", ".svg")
PIXELS_PER_UNIT = 2.0  # sharp on a dense screen
WIDE = 440  # pixels of a picture whose chart would else be as wide as its page: a phone shows it whole


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
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: a chart is written as {' or '.join(SUFFIXES)}")
    content = drawn(chart, path.name, path.suffix)
    with draft(path) as file:
        file.write(content)


def drawn(chart: Any, name: str, suffix: str) -> bytes:
    """A chart in the house's look, as the bytes of a .png or .svg; Undrawn where it cannot be drawn."""
    if suffix == ".svg":
        return svg(chart, name).encode()
    return converted(name, "vegalite_to_png", chart.configure(**LOOK).to_dict(), scale=PIXELS_PER_UNIT)


def svg(chart: Any, name: str = "the chart") -> str:
    """A chart in the house's look, as SVG. Raises InputError if it cannot be drawn, or ``plots`` is missing."""
    drawing = chart.configure(**LOOK).to_dict()
    if drawing.get("width") == "container":
        drawing["width"] = WIDE
    return converted(name, "vegalite_to_svg", drawing).decode()
