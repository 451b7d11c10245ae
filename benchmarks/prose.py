"""Figures in sentences: what a marked paragraph says in numbers, its table has.

    <!-- figures of sequential 1 -->
    With spammers it takes 8.3k labels, ...

The mark names figures of figures.toml with the number of a command each, parted by commas. The paragraph, or table, up
to the next blank line may have no number that no block printed by them rounds to. Code, links and what stands in
quotation marks are no figures: options, targets and names go there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import FRESH, ROOT, Figure, state_of
from benchmarks.printed import blocks

MARK = re.compile(r"<!-- figures of (?P<whose>[\w-]+ \d+(?:, [\w-]+ \d+)*) -->\n(?P<said>.*?)(?:\n\n|\n?\Z)", re.DOTALL)
ASIDE = re.compile(r"`[^`]*`|\]\([^)]*\)|“[^”]*”|<!--.*?-->")
NUMBER = re.compile(r"(?<![\w.])(?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)(?: ?(?P<unit>k\b|%|million\b))?(?!\w)")
SCALES = {"k": 1e3, "million": 1e6}


@dataclass(frozen=True)
class Paragraph:
    """A marked paragraph: where it stands, whose figures it has, and the numbers in it as they are written."""

    page: Path
    line: int
    whose: tuple[tuple[str, int], ...]
    numbers: tuple[str, ...]


def paragraphs(page: Path) -> Iterator[Paragraph]:
    """Those of a page, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    for found in MARK.finditer(text):
        pairs = (one.rsplit(" ", 1) for one in found["whose"].split(", "))
        numbers = tuple(one[0] for one in NUMBER.finditer(ASIDE.sub(" ", found["said"])))
        line = text.count("\n", 0, found.start()) + 1
        yield Paragraph(page, line, tuple((name, int(number)) for name, number in pairs), numbers)


def pages(root: Path = ROOT) -> list[Path]:
    """All pages that may have marked paragraphs."""
    return sorted([root / "README.md", *(root / "crowdopt").rglob("*.md"), *(root / "benchmarks").rglob("*.md")])


def printed_numbers(paragraph: Paragraph, figures: dict[str, Figure]) -> list[float]:
    """Every number of the blocks that the paragraph names; [] where there is no such block."""
    wanted = set(paragraph.whose)
    shown = [
        one.shown
        for name in sorted({name for name, _ in wanted} & set(figures))
        for page in figures[name].pages
        for one in blocks(page)
        if (one.figure, one.command) in wanted
    ]
    return [value for text in shown for value, _ in map(_read, NUMBER.finditer(text))]


def unfounded(numbers: Sequence[str], table: Sequence[float]) -> list[str]:
    """Numbers of a paragraph that none of the table rounds to; a share may be said in percent."""
    strange = []
    for written in numbers:
        match = NUMBER.fullmatch(written)
        assert match is not None
        value, unit = _read(match)
        scales = (1.0, 0.01) if match["unit"] == "%" else (1.0,)
        if not any(abs(scale * value - one) <= 0.5 * scale * unit * (1 + 1e-9) for scale in scales for one in table):
            strange.append(written)
    return strange


def _read(found: re.Match[str]) -> tuple[float, float]:
    """A number and what its last digit counts."""
    digits, scale = found["number"].replace(",", ""), SCALES.get(found["unit"] or "", 1.0)
    return float(digits) * scale, 10.0 ** -len(digits.partition(".")[2]) * scale


def faults(paragraph: Paragraph, figures: dict[str, Figure], known: dict[str, dict[str, object]]) -> list[str]:
    """What is wrong with a paragraph, in sentences; [] where its figures are fresh and in their table."""
    unknown = [name for name, _ in paragraph.whose if name not in figures]
    if unknown:
        return [f"there is no figure {unknown[0]}"]
    table = printed_numbers(paragraph, figures)
    strange = unfounded(paragraph.numbers, table)
    said = [f"{', '.join(strange)} is not in what {_named(paragraph)} printed"] if strange else []
    old = sorted({name for name, _ in paragraph.whose if state_of(figures[name], known) != FRESH})
    return said + ([f"{', '.join(old)} is not fresh"] if old else [])


def _named(paragraph: Paragraph) -> str:
    return ", ".join(f"{name} {number}" for name, number in paragraph.whose)
