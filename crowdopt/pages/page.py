"""A page that stands alone: one HTML file with its tables, its charts and everything they need, no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from crowdopt.notebooks import number
from crowdopt.pages.charts import MISSING, Undrawn, drawn

PROMISE = "exact-error"  # the rule that is the promise itself


@dataclass(frozen=True)
class PageTable:
    """Rows of plain values; a click on a heading sorts by it."""

    columns: Mapping[str, str]  # key in the rows -> heading
    rows: Sequence[Mapping[str, Any]]
    notes: Mapping[str, str] = field(default_factory=dict)  # key -> what the heading means, shown on hovering
    caption: str = ""
    kind: ClassVar[str] = "table"

    def of_figures(self, key: str) -> bool:
        """A heading stands on the side where the first figure under it does."""
        return _is_number(next((row[key] for row in self.rows if row.get(key) is not None), None))


@dataclass(frozen=True)
class Chart:
    """An Altair chart under a heading, and what it shows, in words."""

    title: str
    drawing: Any
    caption: str
    kind: ClassVar[str] = "chart"


@dataclass(frozen=True)
class Folded:
    """Something long that opens on a click."""

    title: str
    content: Part
    kind: ClassVar[str] = "folded"


Part: TypeAlias = str | PageTable | Chart | Folded


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
    try:
        from jinja2 import Environment, PackageLoader
        from markupsafe import Markup
    except ImportError:
        raise Undrawn(MISSING) from None
    charts = [chart for section in page.sections for part in section.parts for chart in _charts(part)]
    pictures = iter(drawn({f"chart {k}.svg": chart.drawing for k, chart in enumerate(charts, 1)}).values())
    pages = Environment(loader=PackageLoader("crowdopt.pages", "assets"), autoescape=True)
    pages.tests["figure"] = _is_number
    pages.filters.update(number=number, exact=repr)
    pages.globals["picture"] = lambda: Markup(next(pictures).decode())  # in the order in which they stand
    return pages.get_template("page.html").render(page=page) + "\n"


def _charts(part: Part) -> Iterator[Chart]:
    if isinstance(part, Folded):
        yield from _charts(part.content)
    elif isinstance(part, Chart):
        yield part


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def of_rule(name: str) -> str:
    """Words that a bound or an optimum needs where it is a rule's and not the promise's."""
    return f" by rule {name}" if name not in ("", PROMISE) else ""
