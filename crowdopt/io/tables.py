"""Tables of known columns. Every complaint names file, line, column and remedy.

What spreadsheets and data frames leave in tables, taken out and told: an index, empty columns and rows, points.

The reader of label tables (task, worker, label), and of what is known of their tasks: truth, types.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import TypeVar
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from crowdopt.arrays import Bools, Ints, coded, places
from crowdopt.crowd.instance import AssignmentInstance
from crowdopt.crowd.labels import Labels
from crowdopt.errors import HeaderError, InputError, meant, tell
from crowdopt.io.cells import (
    ENDINGS,
    FORMATS,
    NAME,
    TableLike,
    cells_at_hand,
    cells_of,
    columns_at_hand,
    has_decimal_commas,
    header_of,
    index_names,
    is_frame,
    name_of,
    named_format,
    place_of,
    store_of,
)
from crowdopt.io.schema import CAMPAIGN_TABLES, COLUMNS, LABELS, TRUTH, TYPES_OF_TASKS, Column, Extras, TableKind

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


T = TypeVar("T")
TEXTS = (".tsv", ".txt", ".tab")  # endings of texts that may well be the table that is looked for
_WHOLE = re.compile(r"(\d+)\.0*")  # a whole number that a data frame gave a point
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}[.,]\d{3}")  # a whole number with its thousands set off, or a decimal one
_DECIMAL = re.compile(r"-?(?![1-9]\d{0,2}[.,]\d{3}$)\d*([.,])\d+")  # no whole number in any case


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equally many cells, stripped of surrounding blanks."""

    path: Path
    columns: dict[str, list[str]]
    rows: int
    at_hand: bool = False  # a frame, whose rows count from 0, and no file
    extras: dict[str, list[str]] = field(default_factory=dict)  # columns that are passed on, where the kind keeps them
    place: Ints | None = None  # (rows,): row of the file that each row stands in; None where none was left out

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> list[str]:
        return self.columns[name]

    def error(self, row: int, column: str, message: str) -> InputError:
        """The complaint about one cell, with its line counted in the file."""
        row = row if self.place is None else int(self.place[row])
        place = f"row {row}" if self.at_hand else place_of(self.path, row)
        return InputError(f"{self.path.name}, {place}, column {column}: {message}")

    def only(self, kept: Bools) -> Table:
        """Some of the rows; kept (rows,)."""
        columns = {**self.columns, **{f"\0{name}": column for name, column in self.extras.items()}}
        cells = Cells(self.path.name, list(columns), list(columns.values()), self.rows, self.place).only(kept)
        named = dict(zip(cells.header, cells.columns, strict=True))
        extras = {name: named.pop(f"\0{name}") for name in self.extras}
        return replace(self, columns=named, rows=cells.rows, extras=extras, place=cells.place)

    def labelled(self, name: str = "label") -> Table:
        """The rows whose label was given; those without one are told, and so are labels that are almost alike."""
        labels = set(self.columns[name])
        tell_doubtful(self.path.name, labels - MISSING)
        if not labels & MISSING or not labels - MISSING:
            return self
        kept = np.array([cell not in MISSING for cell in self.columns[name]], bool)
        tell(f"{self.path.name}: {int((~kept).sum())} row(s) without a label left out")
        return self.only(kept)

    def ids(self, name: str) -> list[str]:
        """A column of ids; InputError at the first empty one."""
        column = self.columns[name]
        if "" in column:
            raise self.error(column.index(""), name, "is empty; every row needs an id here")
        return column

    def unique_ids(self, name: str) -> list[str]:
        """A column of ids that must all differ."""
        column = self.ids(name)
        if len(set(column)) < len(column):
            seen: set[str] = set()
            for row, cell in enumerate(column):
                if cell in seen:
                    raise self.error(row, name, f"{cell!r} was there before; give each {name} one row")
                seen.add(cell)
        return column

    def places(self, name: str, known: Iterable[str], remedy: str) -> NDArray[np.int64]:
        """A column of ids as indices into the known ones; a dictionary says which index each has."""
        column, known = self.columns[name], known if isinstance(known, dict) else places(known)
        try:
            return np.fromiter((known[cell] for cell in column), np.int64, self.rows)
        except KeyError:
            row = next(k for k, cell in enumerate(column) if cell not in known)
            near = meant(column[row], list(known)[:10000])
            hint = f" (did you mean {near!r}?)" if near else ""
            raise self.error(row, name, f"unknown {name} {column[row]!r}{hint}; {remedy}") from None

    def with_spare(self, name: str) -> Table:
        """The same, with a column that it has beside its own among these."""
        return replace(self, columns={**self.columns, name: self.extras[name]})

    def numbers(self, name: str, empty: float | None = None) -> NDArray[np.float64]:
        """A column of finite numbers, each within its column's range; an empty cell reads as ``empty``, if given."""
        values = np.array(self._parsed(name, _finite, empty, "is not a finite number"), dtype=np.float64)
        known = COLUMNS.get(name, Column())
        outside = (values < known.low) | (values > known.high)
        if outside.any():
            row = int(outside.argmax())
            raise self.error(row, name, f"{self.columns[name][row]} {known.outside}")
        return values

    def counts(self, name: str, empty: int | None = None) -> NDArray[np.int64]:
        """A column of whole numbers of at least 0."""
        values = self._parsed(name, _count, empty, "is not a whole number of at least 0")
        return np.array(values, dtype=np.int64)

    def _parsed(self, name: str, parse: Callable[[str], T], empty: T | None, complaint: str) -> list[T]:
        self._ask_back(name, parse is _count)
        values: list[T] = []
        for row, cell in enumerate(self.columns[name]):
            if cell == "" and empty is not None:
                values.append(empty)
                continue
            try:
                values.append(parse(cell))
            except ValueError:
                pointed = _pointed(cell)
                if pointed is not None and not self.at_hand and has_decimal_commas(self.path):
                    pointed_column = [_pointed(one) or one for one in self.columns[name]]
                    return replace(self, columns={name: pointed_column})._parsed(name, parse, empty, complaint)
                what = "is empty" if cell == "" else f"{cell!r} {complaint}"
                raise self.error(row, name, f"{what}; {_remedy(cell)}") from None
        return values

    def _ask_back(self, name: str, whole: bool) -> None:
        """Refuse 1.000 if no other cell shows what its mark means: whole numbers need none, semicolons allow both."""
        column = self.columns[name]
        doubtful = [row for row, cell in enumerate(column) if _THOUSANDS.fullmatch(cell)]
        marks = {_DECIMAL.sub(r"\1", cell) for cell in column if doubtful and _DECIMAL.fullmatch(cell)}
        row = next((row for row in doubtful if marks != {column[row][-4]}), None)
        if row is None:
            return
        if not (whole and column[row][-4] == ".") and not (self.path.is_file() and has_decimal_commas(self.path)):
            return
        thousand, share = re.sub("[.,]", "", column[row]), f"{float(column[row].replace(',', '.')):.12g}"
        share += "0" * bool(_THOUSANDS.fullmatch(share))  # 1.2340 is no thousand
        raise self.error(row, name, f"{column[row]!r} can mean {thousand} or {share}; write which one")


def _finite(cell: str) -> float:
    value = float(cell)
    if not np.isfinite(value) or "_" in cell:
        raise ValueError(cell)
    return value


def _count(cell: str) -> int:
    if not cell.isascii() or len(cell) > 15:
        raise ValueError(cell)
    if not cell.isdecimal():
        whole = _WHOLE.fullmatch(cell)
        if whole is None:
            raise ValueError(cell)
        cell = whole[1]
    return int(cell)


def _pointed(cell: str) -> str | None:
    return cell.replace(",", ".") if re.fullmatch(r"-?\d*,\d+", cell) else None


def _remedy(cell: str) -> str:
    share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", cell)
    if share is not None:
        return f"write the share, {float(share[1]) / 100:.12g}"
    amount = re.fullmatch(r"(?:[$€£]|EUR|USD|GBP)?\s*(\d+(?:\.\d+)?)\s*(?:[$€£]|EUR|USD|GBP)?", cell)
    if amount is not None and amount[1] != cell:
        return f"write the number alone, {amount[1]}"
    if re.fullmatch(r"\d{1,3}(,\d{3})+", cell):
        return f"write it without commas, {cell.replace(',', '')}"
    return f"write a point, {_pointed(cell)}" if _pointed(cell) else "write a plain number such as 3"


def find_table(folder: Path, name: str) -> Path | None:
    """``name`` with an ending of a table in a folder; None if none is there, and nothing else that is called so."""
    there = [path for ending in ENDINGS if (path := folder / f"{name}{ending}").exists()]
    if len(there) > 1:
        raise InputError(f"{folder} has both {there[0].name} and {there[1].name}; keep one of them")
    if not there:
        _refuse_others(folder, name)
    return there[0] if there else None


def table_in(folder: Path, name: str) -> Path:
    """The table of this name in a folder; ``name.csv`` where there is none, which its reader then misses."""
    return find_table(folder, name) or folder / f"{name}.csv"


def spare_columns(folder: Path, name: str) -> dict[str, list[str]]:
    """Further columns of a campaign's table, which no plan uses: texts, addresses; read only where there are any."""
    path, kind = table_in(folder, name), CAMPAIGN_TABLES[name]
    if path.is_file() and {*header_of(path)} <= {*kind.required, *kind.optional}:
        return {}
    return read_table(path, kind).extras


def _refuse_others(folder: Path, name: str) -> None:
    """A table that is there, but not as a campaign has it, is not passed over."""
    for ending in (*FORMATS, *TEXTS):
        path = folder / f"{name}{ending}"
        if path.exists():
            raise InputError(f"{path.name} {named_format(path) or f'is looked for as {name}.csv; rename it'}")
    if folder.is_dir() and (folder / f"{name}.CSV").exists():
        raise InputError(f"{name}.CSV is looked for as {name}.csv; rename it")


def read_table(source: TableLike, kind: TableKind) -> Table:
    """Read a table of a known kind, without what spreadsheets and data frames leave in it.

    source: a file of one of ENDINGS, any other is text; or a table at hand (io.tables.frames).
    """
    path = Path(source) if isinstance(source, str | Path) else Path(NAME)
    header, columns, rows = cells_of(path) if isinstance(source, str | Path) else cells_at_hand(source)
    # Tables that only this program writes hold what it wrote.
    cells = Cells(path.name, header, columns, rows)
    cells = cells if kind.extras is Extras.REFUSED else tidied(cells)
    complaint = kind.complaint(cells.header)
    if complaint is not None:
        index = next((name for name in index_names(source) if name in kind.required), None)
        also = "" if index is None else f"; {index!r} is the frame's index: give frame.reset_index()"
        first = "" if store_of(path) else ", line 1"
        raise HeaderError(f"{path.name}{first}: {complaint}{also}")
    named = dict(zip(cells.header, cells.columns, strict=True))
    known = {name: column for name, column in named.items() if name in kind.required or name in kind.optional}
    others = {name: column for name, column in named.items() if name not in known}
    extras = others if kind.extras is Extras.KEPT else {}
    return Table(path, known, cells.rows, is_frame(source), extras, cells.place)


def has_column(source: TableLike, name: str) -> bool:
    """Whether a table has a column of this name."""
    names = header_of(Path(source)) if isinstance(source, str | Path) else map(str, columns_at_hand(source))
    return name in names


def is_folder(path: Path) -> bool:
    """Whether the path is a folder that can be listed."""
    return path.is_dir() and os.access(path, os.R_OK | os.X_OK)


def read_label_table(path: TableLike) -> Table:
    """Columns task, worker, label, filled in every row; other columns are ignored, and so are rows without a label."""
    table = read_table(path, LABELS).labelled()
    for name in ("task", "worker", "label"):
        table.ids(name)
    for name in ("task", "worker"):
        tell_alike(table.path.name, dict.fromkeys(table[name]), name)
    _tell_passed_over(table)
    return table


def _tell_passed_over(table: Table) -> None:
    """Say what a tool's export has beside its labels that bears on them: rejected rows, known answers."""
    for name, cells in table.extras.items():
        word = "rejected" if "status" in name.casefold() else "true" if name.casefold() == "_tainted" else None
        rejected = 0 if word is None else sum(cell.casefold() == word for cell in cells)
        if rejected:
            tell(
                f"{table.path.name}: {rejected} row(s) have {word!r} in column {name} and count like the others; take "
                "them out if they are not to count"
            )
        if re.match(r"golden\W|\W*gold(en)?$|.+_gold$", name.casefold()) and any(cells):
            tell(f"{table.path.name}: column {name} is not read; known answers go into a table task,label (--truth)")


def read_labels(path: TableLike, classes: Sequence[str] = ()) -> Labels:
    """A label table in indices of its own.

    classes: labels that count as classes even where nobody gave them, such as those of the truth.
    """
    return labels_of(read_label_table(path), classes)


def labels_of(table: Table, classes: Sequence[str] = ()) -> Labels:
    """A label table that was read, in indices of its own; classes: as for :func:`read_labels`."""
    try:
        labels = Labels.from_columns(table["task"], table["worker"], table["label"], classes)
    except InputError as error:
        raise InputError(f"{table.path.name}: {error}") from None
    if len(labels.classes) < 2:
        raise InputError(f"{table.path.name} has the one label {labels.classes[0]!r} only; there is nothing to decide")
    if not set(classes) <= set(table["label"]):
        tell_alike(table.path.name, labels.classes)
    refuse_numbers(labels, table.path.name, classes)
    return labels


def refuse_numbers(labels: Labels, source: str, known: Sequence[str] = ()) -> None:
    """InputError where labels are amounts and no classes, or one below 0 probably says that no label was given.

    source: of the labels; known: labels that are known to be true.
    """
    count = np.bincount(labels.label, minlength=len(labels.classes))
    given = [name for name, times in zip(labels.classes, count.tolist(), strict=True) if times]
    numbers, size = np.array([_number(name) for name in given]), labels.label.size
    is_number, is_whole = np.isfinite(numbers), numbers == np.rint(numbers)
    few = min(10, size / 2) if is_number.all() and not is_whole.all() else max(20, size / 2)
    said = f"{source}: {len(given)} different labels among {size}"
    if len(given) > max(4, few) and is_number.all():
        remedy = "let a threshold or a few steps make classes of them first"
        raise InputError(f"{said} are numbers such as {given[len(given) // 2]}, not classes; {remedy}")
    if len(given) > max(20, size / (10 if is_number.all() else 2)):
        tell(f"{said} count as a class each; if they are amounts or texts, make a few classes of them first")
    below = np.flatnonzero(numbers < 0)
    if below.size != 1 or (is_number & ~is_whole).any() or (is_number.all() and len(given) == 2):
        return
    name = given[int(below[0])]
    share = count[labels.classes.index(name)] / size
    said = f"{source}: the label {name} ({100 * share:.3g} % of the labels"
    remedy = "leave these rows out, or their cells empty, if it says that no label was given"
    if name not in known and (len(set(known)) > 1 or share > 0.5):
        said += ", of no known answer)" if known else ")"
        raise InputError(f"{said} may be a class or none; {remedy}, and name it by a word if it is a class")
    if name not in known:
        tell(f"{said}) counts as a class; {remedy}")


def _number(name: str) -> float:
    try:
        return float(name.rstrip("% ").replace(",", ".")) / (100 if name.endswith("%") else 1)
    except ValueError:
        return float("nan")


def read_true_labels(path: TableLike) -> dict[str, str]:
    """Known labels of tasks, from columns task, label."""
    return _of_tasks(path, TRUTH, "label")


def true_classes(known: dict[str, str], labels: Labels, source: str) -> Ints:
    """Class of each task of the labels.

    known: task -> its truth; labels: of the tasks and classes; source: the file they are from, for the complaint when
    it knows none of the tasks; -> (tasks,): -1 where it is not known, one beyond the last for a label that nobody gave.
    Raises InputError if no task of the labels is known.
    """
    place = places(labels.classes)
    truth = np.array([place.get(known[task], len(place)) if task in known else -1 for task in labels.tasks])
    if (truth < 0).all():
        raise InputError(f"{source} knows none of the tasks in the label table; check the ids")
    return truth


def read_truth(path: TableLike, labels: Labels) -> Ints:
    """Class of each task of the labels, (tasks,), from a table task,label of known ones (:func:`true_classes`)."""
    return true_classes(read_true_labels(path), labels, name_of(path))


def read_types(path: TableLike | None, tasks: Sequence[str]) -> tuple[Ints, list[str]]:
    """Type of each labelled task, and the types' names, sorted; without a table every task is of type ``all``.

    path: columns task and type; -> type (tasks,): place of each task's type among the names.
    """
    if path is None:
        return np.zeros(len(tasks), np.int64), ["all"]
    given = _of_tasks(path, TYPES_OF_TASKS, "type")
    missing = next((task for task in tasks if task not in given), None)
    if missing is not None:
        raise InputError(f"{name_of(path)} has no type for task {missing!r}; every labelled task needs one")
    names = sorted({given[task] for task in tasks})
    return coded((given[task] for task in tasks), names), names


def campaign_pairs(table: Table, instance: AssignmentInstance) -> Ints:
    """Task and worker of each row, (rows, 2), in the campaign's indices; InputError for others' ids."""
    tasks = instance.task_places
    workers = instance.worker_places
    remedy = "it is not in the campaign"
    return np.column_stack([table.places("task", tasks, remedy), table.places("worker", workers, remedy)])


def pair_ids(instance: AssignmentInstance, pairs: Ints) -> list[list[str]]:
    """Ids of the tasks and of the workers of pairs (k, 2)."""
    return [[instance.task_id(i) for i in pairs[:, 0].tolist()], [instance.worker_id(j) for j in pairs[:, 1].tolist()]]


def _of_tasks(path: TableLike, kind: TableKind, column: str) -> dict[str, str]:
    table = read_table(path, kind)
    return dict(zip(table.unique_ids("task"), table.ids(column), strict=True))
