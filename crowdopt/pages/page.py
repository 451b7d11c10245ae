"""A page that stands alone: one HTML file with its tables, its charts and everything they need, no network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any, TypeAlias
from urllib.parse import quote

from crowdopt.pages.charts import drawn

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
    """An Altair chart under a heading, and what it shows, in words."""

    title: str
    drawing: Any
    caption: str


@dataclass(frozen=True)
class Folded:
    """Something long that opens on a click."""

    title: str
    content: Part


@dataclass(frozen=True)
class Stories:
    """What the page tells of any one of them when it is asked; the page's script writes it.

    Parameters
    ----------
    names : dict
        Kind -> name of each of that kind: the first kind's things are tied to the second's.
    columns : dict
        Kind -> key -> figure of each, or the figure of all of them.
    heads : dict
        Kind -> key -> heading.
    tied : sequence of sequence of int
        Of each of the first kind the things of the second kind, as places among their names.
    why : dict
        Kind -> sentence under the heading of its stories.
    hint : str
    """

    names: Mapping[str, Sequence[str]]
    columns: Mapping[str, Mapping[str, Sequence[float | None] | float]]
    heads: Mapping[str, Mapping[str, str]]
    tied: Sequence[Sequence[int]]
    why: Mapping[str, str]
    hint: str

    def html(self) -> str:
        """A field to ask in, a place for the answer, and what is known, as data."""
        known = {"kinds": list(self.names), **{name: value for name, value in vars(self).items() if name != "hint"}}
        text = json.dumps(known, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        kinds = " or ".join(self.names)
        return (
            f"<p>{escape(self.hint)}</p>\n"
            f'<form id="ask"><label>Name of a {kinds} <input name="asked" autocomplete="off" list="known"></label>'
            ' <button>Show</button><datalist id="known"></datalist></form>\n'
            '<div id="story" aria-live="polite"></div>\n'
            f'<script type="application/json" id="stories">{text}</script>\n'
        )


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


def html(page: Page) -> str:
    """The page as one file. Raises InputError if there are charts and the extra ``plots`` is missing."""
    charts = [chart.drawing for section in page.sections for chart in _charts(section.parts)]
    pictures = (one.decode() for one in drawn({f"chart {k}.svg": chart for k, chart in enumerate(charts, 1)}).values())
    verdict = "".join(f"<li>{escape(sentence)}</li>" for sentence in page.verdict)
    sections = "".join(_section(section, pictures) for section in page.sections)
    assets = files("crowdopt.pages") / "assets"
    style, script = ((assets / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(page.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(page.title)}</h1>\n<ul class="verdict">{verdict}</ul>\n{sections}\n'
        f"<footer>{escape(page.footer)}</footer>\n</main>\n<script>{script}</script>\n"
        "</body>\n</html>\n"
    )


def _charts(parts: Sequence[Part]) -> Iterator[Chart]:
    """In the order in which they stand."""
    for part in parts:
        if isinstance(part, Folded):
            yield from _charts([part.content])
        elif isinstance(part, Chart):
            yield part


def _section(section: Section, pictures: Iterator[str]) -> str:
    parts = "".join(_part(one, pictures) for one in section.parts)
    return f"<section>\n<h2>{escape(section.title)}</h2>\n{parts}</section>\n"


def _part(part: Part, pictures: Iterator[str]) -> str:
    if isinstance(part, PageTable):
        return _table(part)
    if isinstance(part, Chart):
        shown = f'<div class="chart" tabindex="0" role="img" aria-label="{escape(part.title)}">{next(pictures)}</div>'
        said = f"<figcaption>{escape(part.caption)}</figcaption>"
        return f"<figure><h3>{escape(part.title)}</h3>{shown}{said}</figure>\n"
    if isinstance(part, Stories):
        return part.html()
    if isinstance(part, Folded):
        content = _part(part.content, pictures)
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


def data(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as a chart's data, written into the page."""
    from crowdopt.pages.charts import altair

    return altair().Data(values=json.loads(json.dumps(list(rows))))
