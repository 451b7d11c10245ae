"""A page that stands alone: one HTML file with its tables, its charts and everything they need, no network."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from itertools import count
from typing import Any, TypeAlias
from urllib.parse import quote

from crowdopt.report.charts import LOOK, svg
from crowdopt.report.converter import converted
from crowdopt.report.stories import Stories

GLOBALS = "window.vegaEmbed = vegaEmbed;"
# what a still picture can do without: it is named as a whole, its letters are the page's, and 1 is what else is taken
NEEDLESS = re.compile(
    r' (?:class|role|aria-\w+|font-family|pointer-events)="[^"]*"| (?:opacity|stroke-width)="1"|<text [^>]*/>'
)
NAMED = re.compile(  # a mark of a picture that says what it is, and has nothing inside
    r'<(?P<mark>path|rect|line) aria-label="(?P<said>[^"]*)" role="graphics-symbol" aria-roledescription="[^"]*"'
    r"(?P<rest>[^>]*)/>"
)
TAG = re.compile(r"<[^>]*>")
FRACTION = re.compile(r"(\d\.\d\d)\d+")  # a hundredth of a pixel is enough; what is read keeps its digits
INKS = {  # what a picture draws in black, white and greys follows the page's colour scheme
    'fill="#000"': 'fill="currentColor"',
    'stroke="#000"': 'stroke="currentColor"',
    'stroke="black"': 'stroke="currentColor"',
    'fill="white"': 'fill="none"',
    'stroke="#e8e8e8"': 'stroke="currentColor" stroke-opacity=".14"',
    'stroke="#888"': 'stroke="currentColor" stroke-opacity=".5"',
    'stroke="#555"': 'stroke="currentColor" stroke-opacity=".7"',
    'fill="#555"': 'fill="currentColor" fill-opacity=".7"',
}
LONG = 32  # letters of a cell from which on it may be broken into lines
PROMISE = "exact-error"  # the rule that is the promise itself
SCIENTIFIC = 1e-4, 1e7  # numbers outside are written with an exponent


@dataclass(frozen=True)
class PageTable:
    """Rows of plain values; a click on a heading sorts by it."""

    columns: dict[str, str]  # key in the rows -> heading
    rows: Sequence[dict[str, Any]]
    notes: dict[str, str] = field(default_factory=dict)  # key -> what the heading means, shown on hovering
    caption: str = ""
    link: str = ""  # kind whose stories the first column's names lead to


@dataclass(frozen=True)
class Chart:
    """An Altair chart under a heading, and what it shows, in words; a hint says what a reader can do with it."""

    title: str
    drawing: Any
    caption: str
    hint: str = ""


@dataclass(frozen=True)
class Folded:
    """Something long that opens on a click."""

    title: str
    content: Part


Part: TypeAlias = str | PageTable | Chart | Folded | Stories


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it: paragraphs, tables, charts."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Page:
    """What a page says: its verdict first, in whole sentences."""

    title: str
    verdict: Sequence[str]
    sections: Sequence[Section]
    footer: str = ""


Place: TypeAlias = Callable[[Chart], str]  # a chart's figure, between its heading and its caption


def html(page: Page, *, moving: bool = False) -> str:
    """The page as one file.

    moving: charts that can be dragged and zoomed, for which the page carries a charting library of 900 kB; else they
    are pictures. Raises InputError if there are charts and the extra ``plots`` is missing.
    """
    drawings: list[str] = []
    place = _moving(drawings) if moving else _stills()
    verdict = "".join(f"<li>{escape(sentence)}</li>" for sentence in page.verdict)
    sections = "".join(_section(section, place) for section in page.sections)
    assets = files("crowdopt.report") / "assets"
    style, script = ((assets / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    charts = ""
    if drawings:
        charts = f"<script>{_libraries()}</script>\n<script>window.charts=[{','.join(drawings)}];</script>"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(page.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(page.title)}</h1>\n<ul class="verdict">{verdict}</ul>\n{sections}\n'
        f"<footer>{escape(page.footer)}</footer>\n</main>\n{charts}\n<script>{script}</script>\n"
        "</body>\n</html>\n"
    )


def _moving(drawings: list[str]) -> Place:
    """Places that the charting library fills; what it draws there is added to ``drawings``."""

    def place(chart: Chart) -> str:
        drawings.append(_safe(chart.drawing.configure(**LOOK).to_json(indent=None)))
        said = escape(" ".join(filter(None, (chart.caption, chart.hint))))
        return f'<div class="chart" id="chart-{len(drawings) - 1}"></div><figcaption>{said}</figcaption>'

    return place


def _stills() -> Place:
    """Pictures; names inside each are its own, for a page has one name space."""
    numbers = count()

    def place(chart: Chart) -> str:
        picture = _with_own_names(_plain(svg(chart.drawing)), f"still-{next(numbers)}")
        said = f"<figcaption>{escape(chart.caption)}</figcaption>"
        return f'<div class="still" tabindex="0" role="img" aria-label="{escape(chart.title)}">{picture}</div>{said}'

    return place


def _with_own_names(picture: str, mine: str) -> str:
    """A picture whose names are numbered as they come: the library counts on from one picture to the next."""
    known: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        return found[1] + known.setdefault(found[2], f"{mine}-{len(known)}")

    return re.sub(r'(\bid="|url\(#|href="#)([^")]+)', named, picture)


def _plain(picture: str) -> str:
    """A picture in the page's own ink, without what a page can do without; a mark says on hovering what it is."""
    told = NAMED.sub(r"<\g<mark>\g<rest>><title>\g<said></title></\g<mark>>", picture)
    short = TAG.sub(lambda tag: FRACTION.sub(r"\1", tag[0]), NEEDLESS.sub("", told))
    for drawn, ink in INKS.items():
        short = short.replace(drawn, ink)
    return short


def _section(section: Section, place: Place) -> str:
    parts = "".join(_part(one, place) for one in section.parts)
    return f"<section>\n<h2>{escape(section.title)}</h2>\n{parts}</section>\n"


def _part(part: Part, place: Place) -> str:
    if isinstance(part, PageTable):
        return _table(part)
    if isinstance(part, Chart):
        return f"<figure><h3>{escape(part.title)}</h3>{place(part)}</figure>\n"
    if isinstance(part, Stories):
        return part.html()
    if isinstance(part, Folded):
        content = _part(part.content, place)
        return f"<details><summary>{escape(part.title)}</summary>{content}</details>\n"
    return f"<p>{escape(part)}</p>\n"


def _table(table: PageTable) -> str:
    heads = "".join(
        f'<th scope="col"{_aligned(table.rows, key)} title="{escape(table.notes.get(key, ""))}">'
        f'<button type="button">{escape(head)}</button></th>'
        for key, head in table.columns.items()
    )
    first, *others = table.columns
    rows = "\n".join(
        f"<tr>{_cell(row.get(first), table.link)}{''.join(_cell(row.get(key)) for key in others)}</tr>"
        for row in table.rows
    )
    caption = f"<p>{escape(table.caption)}</p>\n" if table.caption else ""
    inside = f"<thead><tr>{heads}</tr></thead><tbody>\n{rows}\n</tbody>"
    return f'{caption}<div class="wide" tabindex="0"><table>{inside}</table></div>\n'  # keys scroll it too


def _aligned(rows: Sequence[dict[str, Any]], key: str) -> str:
    """A heading stands on the side where the first figure under it does."""
    first = next((row[key] for row in rows if row.get(key) is not None), None)
    return ' class="n"' if _is_number(first) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any, link: str = "") -> str:
    """A number keeps every digit for sorting and shows four; link: kind of what a name leads to."""
    if value is None:
        return "<td></td>"
    if link:
        return f'<td><a href="#{link}={quote(str(value))}">{escape(str(value))}</a></td>'
    if not _is_number(value):
        text = str(value)
        return f'<td class="t">{escape(text)}</td>' if len(text) > LONG else f"<td>{escape(text)}</td>"
    return f'<td class="n" data-v="{value!r}">{number(value)}</td>'


def of_rule(name: str) -> str:
    """Words that a bound or an optimum needs where it is a rule's and not the promise's."""
    return f" by rule {name}" if name not in ("", PROMISE) else ""


def number(value: float) -> str:
    """Four digits, more for whole numbers; an exponent only where it is needed."""
    if value == int(value) and abs(value) < 1e12:
        return str(int(value))
    low, high = SCIENTIFIC
    if abs(value) >= 1000:
        return f"{value:.1f}" if abs(value) < high else f"{value:.3e}"
    return f"{value:.4g}" if abs(value) >= low else f"{value:.1e}"


def _safe(text: str) -> str:
    """JSON that no HTML parser can take for the end of a script."""
    return text.replace("</", "<\\/")


@cache
def _libraries() -> str:
    bundle = converted("the page", "javascript_bundle", GLOBALS).decode()
    return bundle.replace("</script", "<\\/script")


def data(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as a chart's data, written into the page."""
    from crowdopt.report.charts import altair

    return altair().Data(values=json.loads(json.dumps(list(rows))))
