"""What spreadsheets and data frames leave in tables, taken out and told: an index, empty columns and rows, points."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from unicodedata import category, normalize

import numpy as np

from crowdopt.arrays import Bools, Ints
from crowdopt.errors import InputError, tell

UNNAMED = re.compile(r"Unnamed: \d+")  # how pandas calls a column without a name
IDS = ("task", "worker", "label", "truth", "item", "true", "answered", "question")  # columns that hold no amounts
MISSING = {"", "nan", "NaN", "<NA>"}  # what a label that was not given is written as
DOUBTFUL = {  # a class, or no label; in small letters
    *("na", "n/a", "n.a.", "null", "none", "-", "?", "unsure", "not sure", "uncertain", "undecided", "idk", "unknown"),
    *("i don't know", "don't know", "dont know", "do not know", "dk", "can't tell", "cannot tell", "skip", "skipped"),
    *("abstain", "no answer", "no label", "unlabeled", "unlabelled", "#n/a"),
}


@dataclass(frozen=True, eq=False)
class Cells:
    """Columns of cells under their header; ``place`` is the row of the file that each row stands in, None for all."""

    name: str  # of the file, for sentences
    header: list[str]
    columns: list[list[str]]
    rows: int
    place: Ints | None = None

    def only(self, kept: Bools) -> Cells:
        """Some of the rows."""
        place = np.arange(self.rows) if self.place is None else self.place
        columns = [list(compress(column, kept.tolist())) for column in self.columns]
        return replace(self, columns=columns, rows=int(kept.sum()), place=place[kept])


def tidied(cells: Cells) -> Cells:
    """The table without pandas' index, Excel's empty columns and rows, and the points of whole ids; each is told."""
    cells = _without_empty_rows(_without_unnamed(cells))
    for name, column in zip(cells.header, cells.columns, strict=True):
        if name in IDS:
            _whole(cells.name, name, column)
    return cells


def _without_unnamed(cells: Cells) -> Cells:
    unnamed = [k for k, name in enumerate(cells.header) if not name or UNNAMED.fullmatch(name)]
    dropped = _to_drop(cells, unnamed) if unnamed else set()
    if not dropped:
        return cells
    kept = [k for k in range(len(cells.header)) if k not in dropped]
    return replace(cells, header=[cells.header[k] for k in kept], columns=[cells.columns[k] for k in kept])


def _to_drop(cells: Cells, unnamed: list[int]) -> set[int]:
    """Columns without a name that say nothing: empty ones, and a data frame's index; each is told."""
    empty = [k for k in unnamed if not any(cells.columns[k])]
    if empty and len(empty) < len(cells.header):
        tell(f"{cells.name}: {len(empty)} empty column(s) left out")
    rest = [k for k in unnamed if k not in empty]
    if rest == [0] and _is_index(cells.columns[0]):
        tell(f"{cells.name}: the first column, which has no name, is taken for pandas' index and left out")
        rest = []
    if rest and not cells.header[rest[0]]:
        raise InputError(f"{cells.name}, line 1: column {rest[0] + 1} has no name; give it one, or take it out")
    return set(unnamed) - set(rest)


def _is_index(column: Sequence[str]) -> bool:
    return all(cell.isdecimal() and cell.isascii() for cell in column) and len(set(column)) == len(column)


def _without_empty_rows(cells: Cells) -> Cells:
    if len(cells.columns) < 2 or "" not in cells.columns[0]:
        return cells
    first = cells.columns[0]
    empty = [k for k, cell in enumerate(first) if not cell and not any(column[k] for column in cells.columns)]
    if not empty:
        return cells
    tell(f"{cells.name}: {len(empty)} empty row(s) left out")
    kept = np.ones(cells.rows, bool)
    kept[empty] = False
    return cells.only(kept)


def _whole(name: str, title: str, column: list[str]) -> None:
    """Ids that a data frame made numbers with a point, as they were: 12.0 is 12 where every id has such a point."""
    first = next(filter(None, column), "")
    if not first.endswith(".0") or not all(re.fullmatch(r"-?\d+\.0|", cell) for cell in column):
        return
    tell(f"{name}, column {title}: {first} and the like are read as whole numbers, {first[:-2]}")
    column[:] = [cell.removesuffix(".0") for cell in column]


def tell_alike(name: str, names: Iterable[str], what: str = "class") -> None:
    """Say which names of classes, tasks or workers differ in case, blanks or Unicode's form only."""
    alike: dict[str, str] = {}
    blank, pairs = "" if what == "class" else " ", []
    for label in sorted(names):
        first = alike.setdefault(blank.join(_seen(label).casefold().split()), label)
        if first != label:
            pairs.append((first, label))
    if pairs:
        first, label = pairs[0]
        is_plain = blank.join(first.casefold().split()) == blank.join(label.casefold().split())
        how, show = ("case or blanks", repr) if is_plain else ("Unicode's form of their letters", ascii)
        kind, count = ("labels", "classes") if what == "class" else (f"{what}s", f"{what}s")
        more = f" (and {len(pairs) - 1} more such)" if len(pairs) > 1 else ""
        said = f"{name}: the {kind} {show(first)} and {show(label)}{more} differ in {how} only and count as two {count}"
        tell(f"{said}; write them alike if they are one")


def _seen(label: str) -> str:
    """A name as it looks: composed, without marks that take no room."""
    if label.isascii():
        return label
    return "".join(letter for letter in normalize("NFKC", label) if category(letter) != "Cf")


def tell_doubtful(name: str, labels: set[str]) -> None:
    """Say which labels are alike, which may mean that there is no label, and which are several in one cell."""
    tell_alike(name, labels)
    for label in sorted(labels):
        if label.casefold().replace("\u2019", "'") in DOUBTFUL:
            tell(f"{name}: the label {label!r} counts as a class; leave the cell empty where no label was given")
    lists = sorted(_lists(labels))
    if lists:
        tell(
            f"{name}: the label {lists[0]!r} looks like several in one cell, and {len(lists)} such count as a class "
            "each; if each option is a question of yes and no, make a table of labels for each"
        )


def _lists(labels: set[str]) -> set[str]:
    """Labels that are JSON's or Python's lists, or options of other labels joined by a separator."""
    found = {label for label in labels if label[0] + label[-1] in ("[]", "{}") or "|" in label.strip("|")}
    for separator in ";,+":
        parts = {label: {part.strip() for part in label.split(separator) if part.strip()} for label in labels}
        count = Counter(part for some in parts.values() for part in some)
        found |= {label for label, some in parts.items() if len(some) > 1 and all(count[part] > 1 for part in some)}
    return found
