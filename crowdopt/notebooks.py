"""A result as a reader sees it: a notebook shows its facts and first rows, a frame holds all of its rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from html import escape
from itertools import islice
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import Any, ClassVar

from crowdopt.errors import InputError

SHOWN = 10  # rows of a table
SCIENTIFIC = 1e-4, 1e12  # numbers outside are written with an exponent
LONGEST = 200  # letters of a fact
STYLE = "text-align:left"
NO_PLAN = {
    "infeasible": "no plan reaches every target: that is proven",
    "undecided": "no plan that reaches every target was found; there may be one",
}


class InNotebooks:
    """A result that a notebook shows as tables; without more its fields are shown, but for those of repr=False."""

    in_notebooks: ClassVar[tuple[str, ...]] = ()  # properties that are shown before the fields

    @property
    def in_words(self) -> str:
        """What is known of it, as a sentence; empty where there is none."""
        return ""

    def notebook_rows(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The first rows of the table that a reader wants to see, and how many it has; none by default."""
        return [], 0

    def _repr_html_(self) -> str:
        named = named_facts(self)
        facts = [(name.replace("_", " "), _fact(value)) for name, value in named.items()]
        parts = [f"<strong>{escape(type(self).__name__)}</strong> {escape(_sentence(self))}"]
        parts += [_table(("", ""), [fact for fact in facts if fact[1]])]
        rows, count = self.notebook_rows(SHOWN)
        if rows:
            parts.append(_table(tuple(rows[0]), [tuple(row.values()) for row in rows], count))
        lists = {name: value for name, value in named.items() if isinstance(value, list | tuple)}
        parts += [_rows(name, value) for name, value in lists.items() if not rows or _are_sentences(value)]
        return "\n".join(filter(None, parts))

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._repr_pretty_ = InNotebooks._repr_pretty_  # type: ignore[method-assign]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython's; each class has one, as its own representation would come first."""
        printer.text(str(self))

    def __str__(self) -> str:
        facts = {name.replace("_", " "): text for name, value in named_facts(self).items() if (text := _fact(value))}
        width = max(map(len, facts), default=0)
        words = _sentence(self)
        head = f"{type(self).__name__}: {words}" if words else type(self).__name__
        rows, count = self.notebook_rows(SHOWN)
        told = [f"  {text}" for value in named_facts(self).values() if _are_sentences(value) for text in value]
        lines = [head, *(f"  {name:<{width}}  {text}" for name, text in facts.items()), *told, *_columns(rows)]
        return "\n".join([*lines, *[f"  {count - len(rows)} more"] * (count > len(rows))])


class InFrames(InNotebooks):
    """A result that is a table: ``pandas.DataFrame(result)`` and ``polars.DataFrame(result)`` hold all of its rows."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.notebook_rows(sys.maxsize)[0])

    def table(self) -> Any:
        """All rows, as an Arrow table."""
        rows = list(self)
        return as_arrow({name: [row[name] for row in rows] for name in rows[0]} if rows else {})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table().__arrow_c_stream__(requested_schema)


def named_facts(result: InNotebooks) -> dict[str, Any]:
    """What a reader is shown of a result: its properties, then its fields."""
    named = {name: getattr(result, name) for name in result.in_notebooks}
    return named | (
        {one.name: getattr(result, one.name) for one in fields(result) if one.repr} if is_dataclass(result) else {}
    )


def percent(ratio: float) -> str:
    """Three digits of a ratio, as a percentage."""
    return f"{100 * ratio:.3g} %"


def at_most(ratio: float) -> str:
    """Three digits of a ratio of at least 0, rounded up, as a percentage."""
    step = 10.0 ** (floor(log10(100 * ratio)) - 2) if ratio > 0 else 1.0
    return f"{ceil(100 * ratio / step * (1 - 1e-12)) * step:.3g} %"


def number(value: float | None) -> str:
    """Four digits, more for whole numbers; an exponent only where it is needed."""
    if value is None or not isfinite(value):
        return "unknown" if value is None else str(value)
    if abs(value - round(value)) <= 1e-9 * abs(value) and abs(value) < 1e12:
        return str(round(value))
    low, high = SCIENTIFIC
    if not low <= abs(value) < high:
        return f"{value:.1e}" if abs(value) < low else f"{value:.3e}"
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def how_good(
    proven: bool,
    gap: float | None,
    bound: float | None,
    proof: str = "certificate",
    *,
    rule: str = "",
    word: str = "",
    plans: str = "plan",
) -> str:
    """How good a plan provably is, in one sentence.

    proof: who vouches for the bound: ``certificate``, ``solver`` by its ``word``, or ``none``; rule: the words
    " by rule NAME" where the optimum is a rule's and not the promise's; plans: what none of is cheaper.
    """
    if proof == "none" or bound is None:
        return "feasible; nothing is known about the optimum"
    vouched = "anyone can recompute that from the plan" if proof == "certificate" else word
    if proven:
        return f"proven optimal{rule}: no {plans}{rule} costs less ({vouched})"
    above = "" if gap is None or bound <= 0 else f", at most {at_most(gap)} above the optimum{rule}"
    return f"feasible{above}: no {plans}{rule} costs less than {number(bound)} ({vouched})"


def as_arrow(columns: Mapping[str, Any]) -> Any:
    """Columns of equal length as an Arrow table; InputError without pyarrow."""
    try:
        import pyarrow
    except ImportError:
        raise InputError("a table needs pyarrow: pip install 'crowdopt[frames]'") from None
    return pyarrow.table(dict(columns))


def _fact(value: Any) -> str:
    """A single value as a reader wants it; empty where it is none."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool) or (hasattr(value, "item") and getattr(value, "ndim", 1) == 0):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Fraction):
        return f"{float(value):.6g}" if isfinite(value) else str(value)
    if isinstance(value, str | Path):
        text = str(value)
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return ""


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rows as lines of text under their heads, column below column."""
    cells = [[str(head) for head in rows[0]], *([_fact(cell) for cell in row.values()] for row in rows)] if rows else []
    width = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, width, strict=True)).rstrip() for row in cells]


def _sentence(result: InNotebooks) -> str:
    """What is known of a result; of a plan that leaves tasks short, whether there is a better one."""
    return result.in_words or NO_PLAN.get(str(getattr(getattr(result, "status", None), "value", "")), "")


def _are_sentences(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(value, str) for value in values)


def _rows(name: str, values: Sequence[Any]) -> str:
    """Sentences, or rows of facts, under their name; empty where they are neither."""
    if _are_sentences(values):
        title = f"<em>{escape(name.replace('_', ' '))}</em>"
        items = "".join(f"<li>{escape(value)}</li>" for value in values[:SHOWN])
        return f"{title}<ul>{items}</ul>{_more(len(values))}"
    rows = list(islice(_as_mappings(values), SHOWN))
    columns = tuple(key for key in rows[0] if any(_fact(row.get(key)) for row in rows)) if rows else ()
    if not columns:
        return ""
    return f"<em>{escape(name)}</em>" + _table(
        columns, [[row.get(key) for key in columns] for row in rows], len(values)
    )


def _as_mappings(values: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    for value in values:
        if is_dataclass(value) and not isinstance(value, type):
            yield {field.name: getattr(value, field.name) for field in fields(value)}
        elif isinstance(value, dict):
            yield value


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]], count: int = 0) -> str:
    if not rows:
        return ""
    named = [f'<th scope="col" style="{STYLE}">{escape(head.replace("_", " "))}</th>' for head in heads]
    top = f"<thead><tr>{''.join(named)}</tr></thead>" if any(heads) else ""
    cells = ("".join(f'<td style="{STYLE}">{escape(_fact(cell))}</td>' for cell in row) for row in rows)
    return f"<table>{top}<tbody>{''.join(f'<tr>{row}</tr>' for row in cells)}</tbody></table>{_more(count)}"


def _more(count: int) -> str:
    return f"<small>{count - SHOWN} more</small>" if count > SHOWN else ""
