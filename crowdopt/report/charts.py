"""One look for every chart, and one way to write it down (extra ``plots``: Altair with vl-convert, no network)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crowdopt.errors import InputError
from crowdopt.files import draft

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
    },
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 320},
    "title": {"fontSize": 15, "anchor": "start", "subtitleFontSize": 12, "subtitleColor": "#555"},
}
SUFFIXES = (".png", ".svg")
MISSING = "charts need the extra plots: pip install 'crowdopt[plots]'"
PIXELS_PER_UNIT = 2.0  # sharp on a dense screen
WIDE = 680  # pixels of a picture whose chart would else be as wide as its page


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
    """Write a chart as .png or .svg in the house's look, whole or not at all.

    Raises
    ------
    InputError
        If the file's name ends otherwise, or the extra ``plots`` is missing.
    """
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: a chart is written as {' or '.join(SUFFIXES)}")
    if path.suffix == ".svg":
        content = svg(chart, name=path.name).encode()
    else:
        with _drawing(path.name) as vl_convert:
            content = vl_convert.vegalite_to_png(chart.configure(**LOOK).to_json(), scale=PIXELS_PER_UNIT)
    with draft(path) as file:
        file.write(content)


def svg(chart: Any, name: str = "the chart") -> str:
    """A chart in the house's look, as SVG.

    Parameters
    ----------
    chart : altair.Chart
    name : str
        What an error calls it.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it cannot be drawn, or the extra ``plots`` is missing.
    """
    drawing = chart.configure(**LOOK).to_dict()
    if drawing.get("width") == "container":
        drawing["width"] = WIDE
    with _drawing(name) as vl_convert:
        drawn: str = vl_convert.vegalite_to_svg(drawing)
    return drawn


@contextmanager
def _drawing(name: str) -> Iterator[Any]:
    """The converter; what it cannot draw, or that it is not there, is a sentence."""
    try:
        import vl_convert
    except ImportError:
        raise Undrawn(MISSING) from None
    try:
        yield vl_convert
    except ValueError as error:
        raise Undrawn(f"{name} cannot be drawn: {' '.join(str(error).split())}") from None
